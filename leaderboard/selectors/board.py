"""The page of one board: its table, formatted, with the links that sort, filter and page it."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluator.types import Condition
from leaderboard.models import Entry, Subset
from leaderboard.selectors.board_controls import (
    TAKE_ALONG,
    ColumnChoices,
    FilterView,
    TakeAlong,
    column_choices,
    filter_views,
)
from leaderboard.selectors.board_query import BoardQuery
from leaderboard.selectors.board_scores import Number, ScoreIndex, kept_groups, scores_of
from leaderboard.selectors.columns import (
    Column,
    ColumnGroup,
    first_column,
)
from leaderboard.selectors.measures import words
from leaderboard.selectors.ordering import Board, Placed, placed_entries, rank_changes

ROWS_PER_PAGE = 100


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
class Moves:
    """How a row's rank changes from the widest subset to the narrowest."""

    ranks: tuple[tuple[str, int], ...]
    """(subset, rank), widest first, of the subsets on which the row has a value."""

    @property
    def places(self) -> int:
        """Places gained; below 0: lost."""
        return self.ranks[0][1] - self.ranks[-1][1]

    @property
    def lost(self) -> int:
        return -self.places


@dataclass(frozen=True)
class Row:
    """One entry on the board."""

    rank: int | None
    entry: Entry
    same_as_first: bool
    """The paired test does not tell it from the first scored entry (decision 17)."""
    reason: str
    moves: Moves | None
    """None on boards of one subset, and where fewer than two subsets have a value."""
    cells: tuple[Cell, ...]


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
    columns: tuple[ColumnChoices, ...]
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
        return caption(self.board, self.query)

    @property
    def take_along(self) -> tuple[TakeAlong, ...]:
        return TAKE_ALONG

    @property
    def whole_query(self) -> str:
        """The state of all rows, for API, exports and snapshots."""
        return self.query.query_string(page=1)

    @property
    def unseen(self) -> dict[str, list[tuple[str, str]]]:
        """Form -> what it carries along because it does not set it itself."""
        rows = ("q", "parameters", "from", "to", "reported", "condition", "as_of", "page")
        return {
            "rows": self.query.without(*rows, *(part.key for part in self.filters)),
            "columns": self.query.without("cols", "columns"),
        }

    @property
    def now_href(self) -> str:
        """The same view of the board as it stands."""
        return self.query.query_string(as_of=None, page=1)

    @property
    def method_href(self) -> str:
        by_name = self.query.sort == "method" and not self.query.worst_first
        return self.query.query_string(sort="method", worst_first=by_name, page=1)

    @property
    def reported_switch(self) -> str:
        return self.query.query_string(hide_reported=not self.query.hide_reported, page=1)

    @property
    def columns_switch(self) -> str:
        return self.query.query_string(everything=not self.query.everything, chosen=())

    @property
    def main_columns(self) -> str:
        return self.query.query_string(everything=False, chosen=())

    @property
    def all_columns(self) -> str:
        return self.query.query_string(everything=True, chosen=())


def caption(board: Board, query: BoardQuery) -> str:
    """Return what a board's table holds, in a few short sentences."""
    first, version = first_column(board.protocol), board.version
    state = f", version {version.number}" if version else ", numbers printed elsewhere"
    day = f", as of {board.as_of:%-d %B %Y}" if board.as_of else ""
    condition = "" if query.condition is Condition.MULTIMODAL else f" Shown: {query.condition} runs."
    return f"{board.split.name}{state}{day}. Ranked by {words(first.measure).label} on {first.subset}.{condition}"


def board_page(board: Board, query: BoardQuery) -> BoardPage:
    """Return a board's page in a fixed number of queries."""
    placed = placed_entries(board, query)
    moves = rank_changes(board, placed)
    start = (query.page - 1) * ROWS_PER_PAGE
    shown = placed[start : start + ROWS_PER_PAGE]
    scores = scores_of(board, query, [row.entry for row in shown])
    groups = kept_groups(board, query, scores)
    footnotes = Footnotes()
    rows = [_row(board, row, groups, scores, footnotes, moves_of(board, moves, row.entry)) for row in shown]
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
        filters=filter_views(query),
        columns=column_choices(board, query, groups),
        absent=tuple(subset for subset in board.subsets.values() if subset.absent_reason),
        pages=_pages(query, len(placed)),
    )


def moves_of(board: Board, changes: dict[int, dict[str, int]], entry: Entry) -> Moves | None:
    """Return an entry's ranks over the board's subsets; None where there are fewer than two."""
    ranks = changes.get(entry.pk, {})
    known = tuple((str(subset), ranks[subset]) for subset in board.protocol.subsets if subset in ranks)
    return Moves(known) if len(known) > 1 else None


def distinguishable(board: Board, entry: Entry) -> bool | None:
    """Whether the paired test tells an entry from the first scored one (decision 17).

    None for that one itself, for what was not compared, and as of a day: the test is against today's first.
    """
    comparison = getattr(entry, "comparison", None)
    if comparison is None or comparison.first_id == entry.pk or board.as_of is not None:
        return None
    return bool(comparison.distinguishable)


def _row(
    board: Board,
    placed: Placed,
    groups: tuple[ColumnGroup, ...],
    scores: ScoreIndex,
    footnotes: Footnotes,
    moves: Moves | None,
) -> Row:
    entry, first = placed.entry, first_column(board.protocol)
    cells = tuple(
        _cell(
            board, entry, column, scores.get((entry.pk, *column.score_key)), footnotes, (column == first, number == 0)
        )
        for group in groups
        for number, column in enumerate(group.columns)
    )
    return Row(placed.rank, entry, distinguishable(board, entry) is False, placed.reason, moves, cells)


def _cell(
    board: Board,
    entry: Entry,
    column: Column,
    score: Number | None,
    footnotes: Footnotes,
    place: tuple[bool, bool],
) -> Cell:
    """Return a cell. ``place``: whether its column ranks the board, and whether it begins a group."""
    if score is not None and score.value is not None:
        return Cell(score.shown, score.shown_interval, "", *place)
    if score is None and entry.trust == Entry.Trust.REPORTED:
        return Cell("–", "", "", *place)  # its source does not give it: the legend says so once
    return Cell("–", "", footnotes.letter(score.reason if score is not None else _absence(board, column)), *place)


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


def _pages(query: BoardQuery, total: int) -> tuple[tuple[int, str], ...]:
    count = -(-total // ROWS_PER_PAGE)
    return tuple((number, query.query_string(page=number)) for number in range(1, count + 1)) if count > 1 else ()


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ... for 0, 1, ..."""
    before, last = divmod(number, 26)
    return (_letters(before - 1) if before else "") + chr(ord("a") + last)
