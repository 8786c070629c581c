"""Which entries stand on a board, in which order, with which rank: one rule for page and API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, QuerySet

from evaluator import __version__, bundle
from evaluator.types import Protocol
from leaderboard import boards
from leaderboard.models import Entry, Score, Split, SplitVersion, Subset
from leaderboard.selectors.board_query import BoardQuery, accepts
from leaderboard.selectors.columns import Column, find_column, first_column
from leaderboard.selectors.measures import words

Values = dict[int, tuple[float | None, str]]
"""Entry's key -> value of one column and, where it is empty, the reason."""


@dataclass(frozen=True)
class Board:
    """A split as a board: its version, if it has one, its protocol, its subsets by name.

    The version is the current one or, as of a day, the newest that existed at the day's end.
    """

    split: Split
    version: SplitVersion | None
    protocol: Protocol
    subsets: dict[str, Subset]
    as_of: date | None = None
    """The day at whose end, in UTC, the board is seen; None for now."""


@dataclass(frozen=True)
class Placed:
    """One row in its place. A row without a rank has the reason."""

    entry: Entry
    rank: int | None
    reason: str


def load_board(slug: str, as_of: date | None = None) -> Board:
    """Return a board, as it stands or as of a day.

    Raises Split.DoesNotExist, also for one that lost both its version and its definition.
    """
    split = Split.objects.select_related("benchmark").get(slug=slug)
    version = _version_of(split, as_of)
    protocol = protocol_of(split, version) or protocol_of(split, _version_of(split, None))
    if protocol is None:
        raise Split.DoesNotExist(f"{slug} has neither a version nor a definition")
    subsets = {subset.name: subset for subset in version.subsets.all()} if version else {}
    return Board(split, version, protocol, subsets, as_of)


def _version_of(split: Split, as_of: date | None) -> SplitVersion | None:
    """Return the current version or, as of a day, the newest one: which was current is not recorded beyond that."""
    if as_of is None:
        return split.versions.filter(current=True).first()
    return split.versions.filter(created_at__lt=end_of(as_of)).order_by("-created_at", "-number").first()


def end_of(day: date) -> datetime:
    """Return the instant at which a day ends in UTC."""
    if day == date.max:
        return datetime.max.replace(tzinfo=UTC)
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def protocol_of(split: Split, version: SplitVersion | None) -> Protocol | None:
    """Return the protocol of the current version, else that of the board's definition, if there is one."""
    if version is not None:
        return bundle.protocol_of(version.protocol)
    return next((board.protocol for board in boards.BOARDS if board.slug == split.slug), None)


def public_entries() -> QuerySet[Entry]:
    """Return what stands on any board: published, and reported or of the current split and evaluator (decision 32)."""
    current = Q(trust=Entry.Trust.REPORTED) | Q(version__current=True, evaluator_version=__version__)
    return Entry.objects.filter(current, published_at__isnull=False)


def listed_entries(board: Board) -> QuerySet[Entry]:
    """Return what stands on a board before any filter, now or as of its day.

    As of a day: what was published by its end and still is, reported or scored on the version and by the evaluator
    that were the newest then.
    """
    if board.as_of is None:
        return public_entries().filter(split=board.split)
    end = end_of(board.as_of)
    scored = Entry.objects.exclude(trust=Entry.Trust.REPORTED).filter(split=board.split, created_at__lt=end)
    newest = scored.filter(version=board.version, published_at__lt=end).order_by("-created_at", "-pk")
    then = Q(version=board.version, evaluator_version__in=newest.values("evaluator_version")[:1])
    shown = Q(trust=Entry.Trust.REPORTED) | (then if board.version else Q(pk__in=()))
    return Entry.objects.filter(shown, split=board.split, published_at__lt=end)


def placed_entries(board: Board, query: BoardQuery) -> list[Placed]:
    """Return the rows that pass the filters, in order.

    Ranks count the rows that pass. Ranked rows come first, in the order asked for, then unranked ones in the same
    order; a row without a value in that column is last among its kind. Equal to the last bit is equal in rank; equal
    ones stand in the order they were published.
    """
    entries = [entry for entry in _loaded(board) if accepts(query, entry)]
    first = first_column(board.protocol)
    asked = find_column(board.protocol, query.sort, query.condition)
    values = _values(board, entries, {first, asked or first})
    ranked, unranked = _split_ranked(board, entries, values[first])
    ranks = competition_ranks([value for entry in ranked if (value := values[first][entry.pk][0]) is not None], first)
    placed = [Placed(entry, rank, "") for entry, rank in zip(ranked, ranks, strict=True)]
    placed += [Placed(entry, None, reason) for entry, reason in unranked]
    return _sorted(placed, query, asked or first, values[asked or first])


def _loaded(board: Board) -> list[Entry]:
    """Return a board's entries by date of publication. Split and version are set, not read again for each row."""
    listed = listed_entries(board).select_related("method__team", "comparison").defer("rank_counts")
    entries = list(listed.order_by("published_at", "pk"))
    for entry in entries:
        entry.split = board.split
        if board.version is not None and entry.version_id == board.version.pk:
            entry.version = board.version
    return entries


def rank_changes(board: Board, placed: Iterable[Placed]) -> dict[int, dict[str, int]]:
    """Return entry -> subset -> its rank there, for boards of several subsets; one query.

    The rule is the board's own: the first measure on that subset, over the rows that are ranked on it.
    """
    first = first_column(board.protocol)
    if len(board.protocol.subsets) < 2:
        return {}
    columns = [replace(first, subset=str(subset)) for subset in board.protocol.subsets]
    entries = [row.entry for row in placed if not row.entry.unranked_reason]
    found: dict[int, dict[str, int]] = {}
    for column, values in _values(board, entries, columns).items():
        there = {entry.pk: value for entry in entries if (value := values[entry.pk][0]) is not None}
        for entry_id, rank in zip(there, competition_ranks(list(there.values()), column), strict=True):
            found.setdefault(entry_id, {})[column.subset] = rank
    return found


def competition_ranks(values: list[float], column: Column) -> list[int]:
    """Return "1, 1, 3" ranks: 1 + the number of better values; equal means equal to the last bit."""
    higher = words(column.measure).higher_is_better
    rank_of: dict[float, int] = {}
    for place, value in enumerate(sorted(values, reverse=higher), start=1):
        rank_of.setdefault(value, place)
    return [rank_of[value] for value in values]


def _values(board: Board, entries: Iterable[Entry], columns: Iterable[Column]) -> dict[Column, Values]:
    wanted, columns = Q(), list(columns)
    for column in columns:
        wanted |= Q(measure=column.measure, subset=column.subset, condition=column.condition, group=column.group)
    rows = Score.objects.filter(wanted, entry__in=listed_entries(board).values("pk")).values_list(
        "entry_id", "subset", "condition", "group", "measure", "value", "reason"
    )
    by_key = {column.score_key: column for column in columns}
    found: dict[Column, Values] = {column: {} for column in columns}
    for entry_id, *key, value, reason in rows:
        found[by_key[(key[0], key[1], key[2], key[3])]][entry_id] = (value, reason)
    for values in found.values():
        for entry in entries:
            values.setdefault(entry.pk, (None, ""))
    return found


def _split_ranked(board: Board, entries: list[Entry], first: Values) -> tuple[list[Entry], list[tuple[Entry, str]]]:
    ranked, unranked = [], []
    for entry in entries:
        value, reason = first[entry.pk]
        if entry.unranked_reason or value is None:
            unranked.append((entry, entry.unranked_reason or reason or _missing_first(board)))
        else:
            ranked.append(entry)
    return ranked, unranked


def _missing_first(board: Board) -> str:
    column = first_column(board.protocol)
    return f"No {words(column.measure).label} on {column.subset}, the measure that ranks this board."


def _sorted(placed: list[Placed], query: BoardQuery, column: Column, values: Values) -> list[Placed]:
    """Order rows; Python's sort is stable, so equal ones keep the order of publication, which they come in."""
    if query.sort == "published":
        rows = placed if not query.worst_first else placed[::-1]
    elif query.sort == "method":
        rows = sorted(placed, key=lambda row: row.entry.method.name.casefold(), reverse=query.worst_first)
    else:
        rows = _by_value(placed, values, descending=words(column.measure).higher_is_better != query.worst_first)
    return sorted(rows, key=lambda row: row.rank is None)


def _by_value(placed: list[Placed], values: Values, *, descending: bool) -> list[Placed]:
    def key(row: Placed) -> tuple[bool, float]:
        value = values[row.entry.pk][0]
        if value is None:
            return True, 0.0  # last whatever the direction
        return False, -value if descending else value

    return sorted(placed, key=key)
