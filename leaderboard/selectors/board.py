"""The page of one board: its table, formatted, with the links that sort, filter and page it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from django.db.models import Q

from evaluator.types import Condition
from leaderboard.models import Entry, Score, Subset
from leaderboard.selectors.board_query import FILTERS, BoardQuery, Filter
from leaderboard.selectors.columns import (
    Column,
    ColumnGroup,
    column_groups,
    first_column,
    needs_full_gallery,
    shown_breakdowns,
    shown_measures,
)
from leaderboard.selectors.measures import words
from leaderboard.selectors.ordering import Board, Placed, placed_entries

ROWS_PER_PAGE = 200


@dataclass(frozen=True)
class Head:
    """The head of one column: what it says, where it sorts to, and ``aria-sort``."""

    label: str
    note: str
    """The number of queries of a subset, where known."""
    href: str
    sort: str
    first: bool


@dataclass(frozen=True)
class HeadGroup:
    """One heading over its columns."""

    label: str
    note: str
    title: str
    anchor: str
    heads: tuple[Head, ...]


@dataclass(frozen=True)
class Cell:
    """One number as people read it, or the letter of the reason why there is none."""

    shown: str = "–"
    interval: str = ""
    letter: str = ""
    first: bool = False
    group_start: bool = False


@dataclass(frozen=True)
class Row:
    """One entry on the board."""

    rank: int | None
    entry: Entry
    same_as_first: bool
    """The paired test does not tell it from the first scored entry (decision 17)."""
    reason: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Choice:
    """One option of a filter."""

    value: str
    label: str
    selected: bool


@dataclass(frozen=True)
class FilterView:
    """One filter as a select."""

    key: str
    label: str
    choices: tuple[Choice, ...]


@dataclass
class Footnotes:
    """Reasons for empty cells, each with a letter, in the order they are met."""

    letters: dict[str, str] = field(default_factory=dict)

    def letter(self, reason: str) -> str:
        """Return the letter of a reason: a, b, ..., z, aa, ab, ..."""
        if reason not in self.letters:
            self.letters[reason] = _letters(len(self.letters))
        return self.letters[reason]

    @property
    def listed(self) -> list[tuple[str, str]]:
        return [(letter, reason) for reason, letter in self.letters.items()]


@dataclass(frozen=True)
class BoardPage:
    """Everything the board's page prints."""

    board: Board
    query: BoardQuery
    first: Column
    groups: tuple[HeadGroup, ...]
    two_rows: bool
    """Whether the head needs a second row."""
    ranked: tuple[Row, ...]
    unranked: tuple[Row, ...]
    total: int
    footnotes: list[tuple[str, str]]
    filters: tuple[FilterView, ...]
    absent: tuple[Subset, ...]
    pages: tuple[tuple[int, str], ...]
    """Number and address of every page; empty where one is enough."""

    @property
    def width(self) -> int:
        """Columns of the table beside the rank's."""
        return 1 + sum(len(group.heads) for group in self.groups)

    @property
    def first_label(self) -> str:
        return words(self.first.measure).label

    @property
    def caption(self) -> str:
        """What the table holds, in one sentence."""
        split, version = self.board.split, self.board.version
        state = f", version {version.number}" if version else ", numbers printed elsewhere"
        condition = "" if self.query.condition is Condition.MULTIMODAL else f" Shown: {self.query.condition} runs."
        return f"{split.name}{state}. Ranked by {self.first_label} on {self.first.subset}.{condition}"

    @property
    def method_href(self) -> str:
        by_name = self.query.sort == "method" and not self.query.worst_first
        return self.query.query_string(sort="method", worst_first=by_name, page=1)

    @property
    def reported_switch(self) -> str:
        return self.query.query_string(hide_reported=not self.query.hide_reported, page=1)

    @property
    def columns_switch(self) -> str:
        return self.query.query_string(everything=not self.query.everything)


def board_page(board: Board, query: BoardQuery) -> BoardPage:
    """Return a board's page in a fixed number of queries."""
    placed = placed_entries(board, query)
    start = (query.page - 1) * ROWS_PER_PAGE
    shown = placed[start : start + ROWS_PER_PAGE]
    scores = scores_of(board, query, [row.entry for row in shown])
    groups = _kept_groups(board, query, scores)
    footnotes = Footnotes()
    rows = [_row(board, row, groups, scores, footnotes) for row in shown]
    heads = tuple(_head_group(board, query, group) for group in groups)
    return BoardPage(
        board=board,
        query=query,
        first=first_column(board.protocol),
        groups=heads,
        two_rows=any(len(group.heads) > 1 for group in heads),
        ranked=tuple(row for row in rows if row.rank is not None),
        unranked=tuple(row for row in rows if row.rank is None),
        total=len(placed),
        footnotes=footnotes.listed,
        filters=tuple(_filter_view(part, query) for part in FILTERS),
        absent=tuple(subset for subset in board.subsets.values() if subset.absent_reason),
        pages=_pages(query, len(placed)),
    )


ScoreIndex = dict[tuple[int, str, str, str, str], Score]
"""(entry, subset, condition, group, measure) -> score."""


def scores_of(board: Board, query: BoardQuery, entries: Iterable[Entry]) -> ScoreIndex:
    """Return the scores of some entries that the board's columns may show, in one query."""
    plain = Q(group="", measure__in=shown_measures(board.protocol, everything=query.everything))
    wanted = plain
    for part in shown_breakdowns(board.protocol, everything=query.everything):
        wanted |= Q(group__startswith=f"{part.dimension}=", measure__in=part.measures)
    scores = Score.objects.filter(
        wanted, condition__in=("", str(query.condition)), entry__in=[entry.pk for entry in entries]
    )
    return {(score.entry_id, score.subset, score.condition, score.group, score.measure): score for score in scores}


def score_groups(board: Board, query: BoardQuery, scores: ScoreIndex) -> tuple[ColumnGroup, ...]:
    """Return the board's columns, with the group values that the scores have."""
    values: dict[str, dict[str, None]] = {}
    for _, _, _, group, _ in sorted(scores, key=lambda key: key[3]):
        dimension, _, value = group.partition("=")
        values.setdefault(dimension, {})[value] = None
    return column_groups(board.protocol, query.condition, values, everything=query.everything)


def _kept_groups(board: Board, query: BoardQuery, scores: ScoreIndex) -> tuple[ColumnGroup, ...]:
    """Leave out columns that no row says anything about: a reported board prints few measures. The first stays.

    At first sight, so are those of the full gallery where every row is a list that cannot give them.
    """
    said = {key[1:] for key, score in scores.items() if query.everything or _says(score)}
    first = first_column(board.protocol)
    kept = [
        replace(group, columns=tuple(column for column in group.columns if column == first or column.score_key in said))
        for group in score_groups(board, query, scores)
    ]
    return tuple(group for group in kept if group.columns)


def _says(score: Score) -> bool:
    return score.value is not None or not needs_full_gallery(score.measure)


def _row(
    board: Board, placed: Placed, groups: tuple[ColumnGroup, ...], scores: ScoreIndex, footnotes: Footnotes
) -> Row:
    entry = placed.entry
    comparison = getattr(entry, "comparison", None)
    first = first_column(board.protocol)
    return Row(
        rank=placed.rank,
        entry=entry,
        same_as_first=comparison is not None and not comparison.distinguishable and comparison.first_id != entry.pk,
        reason=placed.reason,
        cells=tuple(
            replace(
                _cell(board, entry, column, scores.get((entry.pk, *column.score_key)), footnotes),
                first=column == first,
                group_start=column is group.columns[0],
            )
            for group in groups
            for column in group.columns
        ),
    )


def _cell(board: Board, entry: Entry, column: Column, score: Score | None, footnotes: Footnotes) -> Cell:
    if score is not None and score.value is not None:
        return Cell(score.shown, score.shown_interval)
    if score is None and entry.trust == Entry.Trust.REPORTED:
        return Cell()  # its source does not give it: the legend says so once
    return Cell(letter=footnotes.letter(score.reason if score is not None else _absence(board, column)))


def _absence(board: Board, column: Column) -> str:
    """Return why a scored entry has no score at all in a column."""
    subset = board.subsets.get(column.subset)
    return (subset.absent_reason if subset else "") or "not scored"


def _head_group(board: Board, query: BoardQuery, group: ColumnGroup) -> HeadGroup:
    about = words(group.measure) if group.measure else None
    return HeadGroup(
        label=about.label if about else group.value,
        note=_group_note(board, group),
        title=f"{about.title}. {about.sentence}" if about else "",
        anchor=about.anchor if about else "",
        heads=tuple(_head(board, query, group, column) for column in group.columns),
    )


def _group_note(board: Board, group: ColumnGroup) -> str:
    """Return what stands beside a measure's heading: the group value, and the subset where only one is left."""
    value = group.value if group.measure else ""
    alone = len(group.columns) == 1 and len(board.protocol.subsets) > 1
    return ", ".join(part for part in (value, group.columns[0].subset if alone else "") if part)


def _head(board: Board, query: BoardQuery, group: ColumnGroup, column: Column) -> Head:
    first = first_column(board.protocol)
    sorts_by = query.sort or first.key
    sorted_here = sorts_by == column.key
    higher = words(column.measure).higher_is_better
    descending = higher != query.worst_first
    flipped = sorted_here and not query.worst_first
    subset = board.subsets.get(column.subset)
    by_subset = len(board.protocol.subsets) > 1
    return Head(
        label=_head_label(group, column, by_subset=by_subset),
        note=str(subset.size) if by_subset and not column.group and subset and subset.size is not None else "",
        href=query.query_string(sort=column.key, worst_first=flipped, page=1),
        sort=("descending" if descending else "ascending") if sorted_here else "",
        first=column == first,
    )


def _head_label(group: ColumnGroup, column: Column, *, by_subset: bool) -> str:
    if by_subset:
        return column.subset
    if not group.measure:
        return words(column.measure).label
    return column.group.partition("=")[2] or words(column.measure).label


def _filter_view(part: Filter, query: BoardQuery) -> FilterView:
    chosen = query.filters.get(part.key, "")
    choices = [Choice("", "any", not chosen)]
    choices += [Choice(value, label, value == chosen) for value, label in part.choices.items()]
    return FilterView(part.key, part.label, tuple(choices))


def _pages(query: BoardQuery, total: int) -> tuple[tuple[int, str], ...]:
    count = -(-total // ROWS_PER_PAGE)
    return tuple((number, query.query_string(page=number)) for number in range(1, count + 1)) if count > 1 else ()


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for 0, 1, ..."""
    before, last = divmod(number, 26)
    return (_letters(before - 1) if before else "") + chr(ord("a") + last)
