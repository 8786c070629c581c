"""What the page of an entry says of ranks: where first positives stand, and the Composition Gap beside printed ones.

Figure and table are made of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.types import Condition
from leaderboard.models import Entry, Score
from leaderboard.reported import reported_average

GAP = "CompositionGap"
TITLES = {
    str(Condition.MULTIMODAL): "Multimodal",
    str(Condition.TEXT_ONLY): "Text only",
    str(Condition.IMAGE_ONLY): "Image only",
}
SOLVED = {
    "both": "Text alone and image alone",
    str(Condition.TEXT_ONLY): "Text alone only",
    str(Condition.IMAGE_ONLY): "Image alone only",
    "neither": "Neither alone",
}
"""Class of queries in the counts -> its words."""
BELOW, OUTSIDE = "below the list's end", "not in the gallery"


@dataclass(frozen=True)
class RankRow:
    """One bin: its ranks in words, and the queries whose first positive is there, by condition."""

    label: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class SolvedRow:
    """One class of queries: how many there are, and how many the multimodal run solves."""

    label: str
    queries: int
    multimodal: int | None


@dataclass(frozen=True)
class RankHistogram:
    """The counts of one subset as table and figure."""

    subset: str
    subsets: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[RankRow, ...]
    totals: tuple[int, ...]
    solved: tuple[SolvedRow, ...]
    k: int

    @property
    def figure(self) -> dict[str, Any]:
        """What the script draws: one series of bars for each condition."""
        series = [
            {"name": head, "values": [row.counts[place] for row in self.rows]} for place, head in enumerate(self.heads)
        ]
        return {
            "title": f"Rank of the first right image, {self.subset}",
            "x": "Rank in the gallery, logarithmic bins",
            "y": "Queries",
            "labels": [row.label for row in self.rows],
            "series": series,
        }


@dataclass(frozen=True)
class GapRow:
    """The Composition Gap on one subset: the entry's own, the three means it is made of, the printed average."""

    subset: str
    score: Score
    means: tuple[Score | None, ...]
    printed: str


@dataclass(frozen=True)
class GapTable:
    """The gap on every subset. ``source`` and ``over`` are empty where nothing is printed for this board."""

    rows: tuple[GapRow, ...]
    source: str
    source_url: str
    over: str


def rank_histogram(counts: Mapping[str, Any], wanted: str, first: str) -> RankHistogram | None:
    """Return the histogram of the ``wanted`` subset, else of the board's first; None where no ranks were counted."""
    subsets = counts.get("subsets", {})
    if not subsets:
        return None
    subset = next(name for name in (wanted, first, *subsets) if name in subsets)
    found = subsets[subset]
    columns = {name: found["conditions"][name] for name in TITLES if name in found["conditions"]}
    return RankHistogram(
        subset=subset,
        subsets=tuple(subsets),
        heads=tuple(TITLES[name] for name in columns),
        rows=tuple(_rows(counts["bins"], list(columns.values()))),
        totals=tuple(column["n"] for column in columns.values()),
        solved=tuple(_solved(found["solved"])),
        k=found["solved"]["k"] if found["solved"] else 0,
    )


def gap_table(entry: Entry, scores: Iterable[Score], subsets: Iterable[str]) -> GapTable | None:
    """Return the Composition Gap of an entry that has one; None where it could not be computed on any subset."""
    index = {(score.measure, score.subset, score.condition): score for score in scores if not score.group}
    gaps = [(str(name), index[GAP, str(name), ""]) for name in subsets if (GAP, str(name), "") in index]
    if all(score.value is None for _, score in gaps):
        return None
    printed = reported_average(entry.split.slug, GAP)
    shown = printed[1].shown if printed else {}
    rows = tuple(
        GapRow(name, score, tuple(index.get(("nDCG", name, condition)) for condition in TITLES), shown.get(name, ""))
        for name, score in gaps
    )
    if printed is None:
        return GapTable(rows, "", "", "")
    return GapTable(rows, printed[0].source, printed[0].permalink, printed[1].over)


def _rows(bins: list[list[int]], columns: list[dict[str, Any]]) -> Iterable[RankRow]:
    for place, (low, high) in enumerate(bins):
        label = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        yield RankRow(label, tuple(column["counts"][place] for column in columns))
    for key, label in (("below", BELOW), ("outside", OUTSIDE)):
        counts = tuple(column[key] for column in columns)
        if any(counts):
            yield RankRow(label, counts)


def _solved(table: Mapping[str, Any] | None) -> Iterable[SolvedRow]:
    if table is None:
        return
    for name, label in SOLVED.items():
        yield SolvedRow(label, table[name]["queries"], table[name]["multimodal"])
