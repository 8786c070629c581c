"""Verdicts and scores as text for a terminal. Values are in [0, 1]; only here do they become percent (decision 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.errors import FAULTS, Fault, SubmissionError
from evaluator.formats import FORMATS
from evaluator.measures import cells, describe
from evaluator.measures.base import Unit
from evaluator.types import Condition, Ranking, Run, Score, Scorecard, Split

_CELL = 80
"""Widest cell: as much as a fault quotes, and the longest sentence about a look-alike."""
_MISSING = "-"

Row = Sequence[str]


def valid(run: Run, split: Split) -> str:
    """Return what a valid file is, in a few lines."""
    facts = [("format", FORMATS[run.format].title), ("queries", f"{len(split):,}")]
    if isinstance(run, Ranking):
        facts += _of_ranking(run, split)
    else:
        facts.append(("judged images", f"{len(run.rank):,}"))
    return "\n".join([f"OK: valid for {_named(split)}", *_aligned([(f"  {name}", fact) for name, fact in facts])])


def _of_ranking(ranking: Ranking, split: Split) -> list[tuple[str, str]]:
    fewest, most = int(ranking.length.min()), int(ranking.length.max())
    facts = [("images a query", f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}")]
    if split.protocol.member_list_length:
        facts.append(("subset file", "no" if ranking.members is None else "yes"))
    if ranking.unknown:
        facts.append(("unchecked ids", f"{len(ranking.unknown):,}: the gallery's list is not in this bundle"))
    return facts


def invalid(error: SubmissionError, split: Split) -> str:
    """Return every fault that is listed, by code."""
    number = len(error.faults) + error.more
    listed = f", {len(error.faults)} of them listed" if error.more else ""
    lines = [f"INVALID for {_named(split)}: {number:,} fault{'s' * (number > 1)}{listed}"]
    for code in dict.fromkeys(fault.code for fault in error.faults):
        lines += ["", *_of_one_code(code, [fault for fault in error.faults if fault.code == code])]
    return "\n".join(lines)


def _of_one_code(code: str, faults: Sequence[Fault]) -> Iterator[str]:
    yield f"{code}: {FAULTS[code].title}"
    remedies = list(dict.fromkeys(fault.remedy for fault in faults))
    rows = [("  where", "found", "expected", "remedy")]
    for fault in faults:
        where = ", ".join(part for part in (fault.file, fault.place) if part) or "the whole file"
        rows.append((f"  {_cut(where)}", _cut(fault.found), _cut(fault.expected), fault.remedy))
    yield from _aligned(rows if len(remedies) > 1 else [row[:3] for row in rows])
    if len(remedies) == 1:
        yield f"  -> {remedies[0]}"


def scores(card: Scorecard, split: Split) -> str:
    """Return one table a condition: a line for each measure, a column for each subset, intervals in brackets."""
    lines = [f"{_named(split)}, evaluator {card.evaluator_version}; 95 % intervals in brackets"]
    reasons: dict[str, int] = {}
    for condition in dict.fromkeys(score.condition for score in card.scores):
        chosen = [score for score in card.scores if score.condition is condition]
        lines += ["", *_aligned(_table(condition, chosen, reasons))]
    notes = [f"  ({number}) {reason}" for reason, number in reasons.items()]
    return "\n".join([*lines, *(["", "Not available:", *notes] if notes else [])])


def written(paths: Sequence[Path], split: Split) -> str:
    """Return which judged-ranks files were written."""
    return "\n".join([f"OK: judged ranks for {_named(split)}", *(f"  {path}" for path in paths)])


def _table(condition: Condition | None, chosen: Sequence[Score], reasons: dict[str, int]) -> list[Row]:
    subsets = list(dict.fromkeys(score.subset for score in chosen))
    cells = {(score.group, score.measure, score.subset): _cell(score, reasons) for score in chosen}
    rows: list[Row] = [(condition or "all conditions", "in", *(subset.value for subset in subsets))]
    for group, measure in dict.fromkeys((score.group, score.measure) for score in chosen):
        unit = "%" if describe(measure).unit is Unit.PERCENT else ""
        found = (cells.get((group, measure, subset), _MISSING) for subset in subsets)
        rows.append((f"  {measure}" + (f", {group}" if group else ""), unit, *found))
    return rows


def _cell(score: Score, reasons: dict[str, int]) -> str:
    if score.value is None:
        return f"{_MISSING} ({reasons.setdefault(score.reason, len(reasons) + 1)})"
    value = cells.cell(score.measure, score.value)
    if score.low is None or score.high is None:
        return value
    return f"{value} [{cells.cell(score.measure, score.low)}, {cells.cell(score.measure, score.high)}]"


def _named(split: Split) -> str:
    return f"{split.name}, version {split.version}"


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


def _aligned(rows: Sequence[Row]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
