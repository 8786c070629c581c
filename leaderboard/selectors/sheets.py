"""A board's table to take along: all its rows, in the order and with the values of page and API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings
from django.urls import reverse

from evaluator.measures import cells
from evaluator.types import Condition
from leaderboard.exports import Field, Sheet, Value
from leaderboard.selectors.board import caption
from leaderboard.selectors.board_query import BoardQuery
from leaderboard.selectors.board_scores import Number, ScoreIndex, kept_groups, scores_of
from leaderboard.selectors.columns import Column, ColumnGroup
from leaderboard.selectors.measures import words
from leaderboard.selectors.ordering import Board, Placed, placed_entries, rank_changes

LOW, HIGH = ":low", ":high"
"""Endings of the keys of an interval's bounds."""
_FOR_MACHINES = ("entry", "published", "unranked_reason")
"""Fields that LaTeX and Markdown leave out, beside the bounds of intervals."""


@dataclass(frozen=True)
class _Heading:
    """One column of the board in the sheet: its field and where its score is."""

    column: Column
    field: Field

    @property
    def fields(self) -> tuple[Field, ...]:
        low, high = (
            replace(self.field, key=f"{self.field.key}{end}", label=f"{self.field.label} {end[1:]}")
            for end in (LOW, HIGH)
        )
        return self.field, low, high


def board_sheet(board: Board, query: BoardQuery) -> Sheet:
    """Return a board as a sheet with all rows, in a fixed number of queries. Intervals are fields of their own."""
    query = replace(query, page=1)
    placed = placed_entries(board, query)
    scores = scores_of(board, query, [row.entry for row in placed])
    ranks = rank_changes(board, placed)
    headings = [heading for group in kept_groups(board, query, scores) for heading in _headings(group, query)]
    subsets = [str(subset) for subset in board.protocol.subsets] if len(board.protocol.subsets) > 1 else []
    fields = (*_ABOUT, *(Field(f"rank:{name}", name, "Rank on", number=True) for name in subsets))
    rows = [_row(row, [ranks.get(row.entry.pk, {}).get(name) for name in subsets], headings, scores) for row in placed]
    return Sheet(
        name=_name(board),
        title=caption(board, query),
        fields=(*fields, *(field for heading in headings for field in heading.fields)),
        values=tuple(values for values, _ in rows),
        shown=tuple(shown for _, shown in rows),
        notes=tuple(_notes(placed, headings, scores)),
        address=_address(board, query),
    )


def readable(sheet: Sheet) -> Sheet:
    """Return the sheet without what only machines read: for LaTeX and Markdown."""
    kept = [
        place
        for place, field in enumerate(sheet.fields)
        if field.key not in _FOR_MACHINES and not field.key.endswith((LOW, HIGH))
    ]
    return replace(
        sheet,
        fields=tuple(sheet.fields[place] for place in kept),
        values=tuple(tuple(row[place] for place in kept) for row in sheet.values),
        shown=tuple(tuple(row[place] for place in kept) for row in sheet.shown),
    )


_ABOUT = (
    Field("rank", "#", number=True),
    Field("method", "Method"),
    Field("team", "Team"),
    Field("trust", "Trust"),
    Field("published", "Published"),
    Field("entry", "Entry"),
    Field("unranked_reason", "Why unranked"),
)


def _row(
    placed: Placed, ranks: Iterable[int | None], headings: Iterable[_Heading], scores: ScoreIndex
) -> tuple[tuple[Value, ...], tuple[str, ...]]:
    """Return one row's values, and the same as people read them."""
    entry = placed.entry
    team = entry.method.team.name if entry.method.team else ""
    published = _instant(entry.published_at)
    about = (placed.rank, entry.method.name, team, entry.get_trust_display(), published, str(entry.public_id))
    values: list[Value] = [*about, placed.reason, *ranks]
    shown = ["–" if value is None else str(value) for value in values]
    for heading in headings:
        score = scores.get((entry.pk, *heading.column.score_key))
        values += (score.value, score.low, score.high) if score else (None, None, None)
        shown += _shown(heading.column.measure, score)
    return tuple(values), tuple(shown)


def _shown(measure: str, score: Number | None) -> list[str]:
    if score is None or score.value is None:
        return ["–", "–", "–"]
    bounds = (score.low, score.high)
    return [score.shown, *("–" if bound is None else cells.cell(measure, bound) for bound in bounds)]


def _headings(group: ColumnGroup, query: BoardQuery) -> Iterable[_Heading]:
    for column in group.columns:
        under = "" if column.condition in ("", Condition.MULTIMODAL) else f" ({query.condition})"
        value = column.group.partition("=")[2]
        heading = ", ".join(part for part in (words(column.measure).label, value) if part)
        yield _Heading(column, Field(f"{column.key}{under}", column.subset, f"{heading}{under}", number=True))


def _notes(placed: Iterable[Placed], headings: Iterable[_Heading], scores: ScoreIndex) -> Iterable[str]:
    """Yield what a reader of the sheet alone must know: units, unranked rows, empty cells."""
    yield "Values are fractions at full precision in CSV and JSON, and rounded, in per cent, elsewhere."
    unranked = dict.fromkeys(row.reason for row in placed if row.rank is None)
    if unranked:
        yield f"Unranked rows: {' '.join(unranked)}"
    shown = {heading.column.score_key for heading in headings}
    empty = dict.fromkeys(score.reason for key, score in scores.items() if key[1:] in shown and score.value is None)
    if empty:
        yield f"Empty cells: {'; '.join(sorted(empty))}."


def _name(board: Board) -> str:
    version = f"-v{board.version.number}" if board.version else ""
    return f"{board.split.slug}{version}{f'-{board.as_of}' if board.as_of else ''}"


def _address(board: Board, query: BoardQuery) -> str:
    asked = query.query_string()
    return f"{settings.SITE_URL}{reverse('leaderboard:board', args=[board.split.slug])}{asked if asked != '?' else ''}"


def _instant(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moment else ""
