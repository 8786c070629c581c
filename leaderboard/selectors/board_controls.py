"""What a reader can set on a board's page: filters, columns, and the formats to take the table along."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.exports import FORMATS
from leaderboard.selectors.board_query import FILTERS, BoardQuery, Filter
from leaderboard.selectors.columns import ColumnGroup, column_groups
from leaderboard.selectors.measures import words
from leaderboard.selectors.ordering import Board


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


@dataclass(frozen=True)
class ColumnChoices:
    """The columns of one measure, each to be ticked."""

    label: str
    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class TakeAlong:
    """The table in one format."""

    label: str
    ending: str


TAKE_ALONG = tuple(TakeAlong(part.label, part.ending) for part in FORMATS.values())


def filter_views(query: BoardQuery) -> tuple[FilterView, ...]:
    """Return every filter with what is chosen."""
    return tuple(_filter_view(part, query) for part in FILTERS)


def column_choices(board: Board, query: BoardQuery, shown: Iterable[ColumnGroup]) -> tuple[ColumnChoices, ...]:
    """Return every column of the protocol, those ``shown`` ticked. Groups of queries are there where they are shown."""
    shown = tuple(shown)
    ticked = {column.key for group in shown for column in group.columns}
    everything = [*column_groups(board.protocol, query.condition, {}, everything=True)]
    everything += [group for group in shown if any(column.group for column in group.columns)]
    return tuple(_column_choices(group, ticked) for group in everything)


def _column_choices(group: ColumnGroup, ticked: set[str]) -> ColumnChoices:
    about = words(group.measure) if group.measure else None
    label = ", ".join(part for part in (about.label if about else "", group.value) if part)
    choices = (
        Choice(column.key, _label(group, column.group) or column.subset, column.key in ticked)
        for column in group.columns
    )
    return ColumnChoices(label, about.title if about else "", tuple(choices))


def _label(group: ColumnGroup, value: str) -> str:
    """Return what tells a column from its neighbours where the subset does not."""
    return value.partition("=")[2] if value and value.partition("=")[2] != group.value else ""


def _filter_view(part: Filter, query: BoardQuery) -> FilterView:
    chosen = query.filters.get(part.key, "")
    choices = [Choice("", "any", not chosen)]
    choices += [Choice(value, label, value == chosen) for value, label in part.choices.items()]
    return FilterView(part.key, part.label, tuple(choices))
