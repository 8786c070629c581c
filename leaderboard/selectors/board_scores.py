"""The scores of a board's rows and the columns that they fill: the same for page, API, exports and snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Q

from leaderboard.models import Entry, Score
from leaderboard.selectors.board_query import BoardQuery
from leaderboard.selectors.columns import (
    ColumnGroup,
    chosen_groups,
    column_groups,
    first_column,
    needs_full_gallery,
    shown_breakdowns,
    shown_measures,
)
from leaderboard.selectors.ordering import Board


class Number(NamedTuple):
    """One score, as light as a page of thousands needs it. The fields are those of ``leaderboard.models.Score``."""

    entry_id: int
    subset: str
    condition: str
    group: str
    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str
    shown: str
    shown_interval: str


ScoreIndex = dict[tuple[int, str, str, str, str], Number]
"""(entry, subset, condition, group, measure) -> score."""


def scores_of(board: Board, query: BoardQuery, entries: Iterable[Entry]) -> ScoreIndex:
    """Return the scores of some entries that the board's columns may show, in one query."""
    scores = Score.objects.filter(
        _wanted(board, query),
        condition__in=("", str(query.condition)),
        entry__in=[entry.pk for entry in entries],
    )
    rows = (Number(*row) for row in scores.values_list(*Number._fields))
    return {(row.entry_id, row.subset, row.condition, row.group, row.measure): row for row in rows}


def _wanted(board: Board, query: BoardQuery) -> Q:
    if query.chosen:
        columns = [column for group in score_groups(board, query, {}) for column in group.columns]
        return Q(group__in={column.group for column in columns}, measure__in={column.measure for column in columns})
    wanted = Q(group="", measure__in=shown_measures(board.protocol, everything=query.everything))
    for part in shown_breakdowns(board.protocol, everything=query.everything):
        wanted |= Q(group__startswith=f"{part.dimension}=", measure__in=part.measures)
    return wanted


def score_groups(board: Board, query: BoardQuery, scores: ScoreIndex) -> tuple[ColumnGroup, ...]:
    """Return the board's columns: those that the address chose, or the usual with the group values of the scores."""
    if query.chosen:
        return chosen_groups(board.protocol, query.condition, query.chosen)
    values: dict[str, dict[str, None]] = {}
    for _, _, _, group, _ in sorted(scores, key=lambda key: key[3]):
        dimension, _, value = group.partition("=")
        values.setdefault(dimension, {})[value] = None
    return column_groups(board.protocol, query.condition, values, everything=query.everything)


def kept_groups(board: Board, query: BoardQuery, scores: ScoreIndex) -> tuple[ColumnGroup, ...]:
    """Leave out columns that no row says anything about: a reported board prints few measures. The first stays, and
    so does what the address chose.

    At first sight, so are those of the full gallery where every row is a list that cannot give them.
    """
    if query.chosen:
        return score_groups(board, query, scores)
    said = {key[1:] for key, score in scores.items() if query.everything or _says(score)}
    first = first_column(board.protocol)
    kept = [
        replace(group, columns=tuple(column for column in group.columns if column == first or column.score_key in said))
        for group in score_groups(board, query, scores)
    ]
    return tuple(group for group in kept if group.columns)


def _says(score: Number) -> bool:
    return score.value is not None or not needs_full_gallery(score.measure)
