"""The first page: every benchmark with its boards, how many entries each has, and who leads."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from leaderboard.models import Benchmark, Entry, Score, Split, SplitVersion
from leaderboard.selectors.columns import Column, first_column
from leaderboard.selectors.measures import MeasureWords, words
from leaderboard.selectors.ordering import protocol_of, public_entries


@dataclass(frozen=True)
class Leader:
    """Who is first on a board, and how many are with them."""

    entry: Entry
    shown: str
    others: int


@dataclass(frozen=True)
class BoardLine:
    """One board on the first page."""

    split: Split
    version: SplitVersion | None
    entries: int
    measure: MeasureWords
    subset: str
    leader: Leader | None

    @property
    def takes_submissions(self) -> bool:
        return self.version is not None and self.split.open


@dataclass(frozen=True)
class BenchmarkSection:
    """One benchmark and its boards."""

    benchmark: Benchmark
    lines: tuple[BoardLine, ...]


def home_page() -> tuple[BenchmarkSection, ...]:
    """Return the benchmarks that have boards, in a fixed number of queries."""
    versions = {version.split_id: version for version in SplitVersion.objects.filter(current=True)}
    protocols = {split: protocol_of(split, versions.get(split.pk)) for split in Split.objects.all()}
    columns = {split.pk: first_column(protocol) for split, protocol in protocols.items() if protocol is not None}
    entries: dict[int, list[Entry]] = {}
    for entry in public_entries().select_related("method").order_by("published_at", "pk"):
        entries.setdefault(entry.split_id, []).append(entry)
    scores = _first_scores(columns)
    lines: dict[int, list[BoardLine]] = {}
    for split in (split for split in protocols if split.pk in columns):
        column, listed = columns[split.pk], entries.get(split.pk, [])
        leader = _leader(column, listed, scores)
        line = BoardLine(split, versions.get(split.pk), len(listed), words(column.measure), column.subset, leader)
        lines.setdefault(split.benchmark_id, []).append(line)
    return tuple(
        BenchmarkSection(benchmark, tuple(lines[benchmark.pk]))
        for benchmark in Benchmark.objects.all()
        if benchmark.pk in lines
    )


def _first_scores(columns: dict[int, Column]) -> dict[int, Score]:
    """Return entry -> the score that ranks it, for all boards in one query."""
    wanted = Q()
    for split_id, column in columns.items():
        wanted |= Q(entry__split=split_id, measure=column.measure, subset=column.subset, condition=column.condition)
    if not columns:
        return {}
    scores = Score.objects.filter(wanted, group="", value__isnull=False, entry__in=public_entries())
    return {score.entry_id: score for score in scores}


def _leader(column: Column, entries: list[Entry], scores: dict[int, Score]) -> Leader | None:
    ranked = [(entry, scores[entry.pk]) for entry in entries if entry.pk in scores and not entry.unranked_reason]
    values = [score.value for _, score in ranked if score.value is not None]
    if not values:
        return None
    best = max(values) if words(column.measure).higher_is_better else min(values)
    leading = [(entry, score) for entry, score in ranked if score.value == best]
    entry, score = leading[0]
    return Leader(entry, score.shown, len(leading) - 1)
