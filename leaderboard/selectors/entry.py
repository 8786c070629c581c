"""The permanent page of one entry: all its scores, with intervals and counts, and what its author declared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from accounts.models import User
from evaluator import __version__
from evaluator.types import Condition, Protocol
from leaderboard.declarations import DECLARATIONS
from leaderboard.models import Comparison, Entry, Score
from leaderboard.selectors.board_query import BoardQuery
from leaderboard.selectors.measures import MeasureWords, words
from leaderboard.selectors.ordering import Board, load_board, placed_entries
from leaderboard.selectors.ranks import GapTable, RankHistogram, gap_table, rank_histogram

SINGLE = (Condition.TEXT_ONLY, Condition.IMAGE_ONLY)
JOINT_TITLE = "Several conditions together"
CONDITION_TITLES = {
    str(Condition.MULTIMODAL): "Multimodal",
    str(Condition.TEXT_ONLY): "Text only",
    str(Condition.IMAGE_ONLY): "Image only",
    "": JOINT_TITLE,
}


@dataclass(frozen=True)
class ScoreRow:
    """One line of a score table: a measure or a group value, and its score on every subset (None: it has none)."""

    words: MeasureWords | None
    label: str
    scores: tuple[Score | None, ...]


@dataclass(frozen=True)
class ScoreTable:
    """Scores under one condition: measures down, subsets across."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[ScoreRow, ...]
    folded: bool
    """Whether the page shows it only on demand: single conditions are for those who ask."""


@dataclass(frozen=True)
class GroupTable:
    """Scores by the values of one dimension under one condition: values down, measures by subsets across."""

    title: str
    measures: tuple[MeasureWords, ...]
    subsets: tuple[str, ...]
    rows: tuple[ScoreRow, ...]


@dataclass(frozen=True)
class GroupSection:
    """All tables of one dimension."""

    title: str
    tables: tuple[GroupTable, ...]


@dataclass(frozen=True)
class EntryPage:
    """Everything the page of an entry prints."""

    entry: Entry
    board: Board
    rank: int | None
    ranked: int
    """How many rows of the board have a rank."""
    unranked_reason: str
    older: str
    """What makes this an older result, in words; empty for a current one."""
    facts: tuple[tuple[str, str], ...]
    tables: tuple[ScoreTable, ...]
    groups: tuple[GroupSection, ...]
    ranks: RankHistogram | None
    gap: GapTable | None

    @property
    def comparison(self) -> Comparison | None:
        """How it differs from the first scored entry; None for that one itself and for what was not compared.

        Nor is one named that was withdrawn a moment ago (decision 31).
        """
        found: Comparison | None = getattr(self.entry, "comparison", None)
        if found is None or found.first_id == self.entry.pk or found.first.published_at is None:
            return None
        return found

    @property
    def difference(self) -> str:
        """The difference in the first measure, in percentage points."""
        return f"{100 * self.comparison.difference:+.2f} points" if self.comparison else ""


def visible_entry(user: User | AnonymousUser, public_id: UUID) -> Entry:
    """Return an entry the user may see: a published one, or any of their team's. Raises Entry.DoesNotExist."""
    seen = Q(published_at__isnull=False)
    if isinstance(user, User):
        seen |= Q(method__team__in=user.teams.all())
    if user.is_staff:
        seen = Q()
    entries = Entry.objects.select_related("split__benchmark", "version", "method__team", "comparison__first__method")
    return entries.get(seen, public_id=public_id)


def entry_page(entry: Entry, subset: str = "") -> EntryPage:
    """Return the page of an entry in a fixed number of queries; ``subset`` is the one whose ranks are drawn."""
    board = load_board(entry.split.slug)
    scores = list(entry.scores.all())
    placed = placed_entries(board, BoardQuery())
    first = str(board.protocol.first_subset)
    place = next((row for row in placed if row.entry.pk == entry.pk), None)
    return EntryPage(
        entry=entry,
        board=board,
        rank=place.rank if place else None,
        ranked=sum(row.rank is not None for row in placed),
        unranked_reason=place.reason if place else "",
        older=_older(entry, board),
        facts=tuple(declared_facts(entry.declared)),
        tables=tuple(_tables(board.protocol, [score for score in scores if not score.group])),
        groups=tuple(_group_sections(board.protocol, [score for score in scores if score.group])),
        ranks=None if entry.split.hidden_truth else rank_histogram(entry.rank_counts, subset, first),
        gap=gap_table(entry, scores, board.protocol.subsets),
    )


def declared_facts(declared: dict[str, object]) -> Iterable[tuple[str, str]]:
    """Yield what an author declared as (question, answer) in the words of the form."""
    for part in DECLARATIONS:
        said = declared.get(part.key)
        answers = said if isinstance(said, list) else [said] if said else []
        if answers:
            yield part.question, ", ".join(part.choices.get(str(answer), str(answer)) for answer in answers)
    for key, question in (
        ("query_text_note", "What was changed in the query text?"),
        ("backbone", "Backbone"),
        ("parameters", "Parameters, in millions"),
    ):
        if declared.get(key) not in (None, ""):
            yield question, str(declared[key])


def _older(entry: Entry, board: Board) -> str:
    if entry.version is None:
        return ""
    if not entry.version.current:
        newest = board.version.number if board.version else "no"
        return f"It was scored on version {entry.version.number} of the split; the board shows version {newest}."
    if entry.evaluator_version != __version__:
        return f"It was scored by evaluator {entry.evaluator_version}; the board shows evaluator {__version__}."
    return ""


def _tables(protocol: Protocol, scores: list[Score]) -> Iterable[ScoreTable]:
    subsets = _in_order({score.subset for score in scores}, protocol.subsets)
    for condition, title in CONDITION_TITLES.items():
        here = [score for score in scores if score.condition == condition]
        index = {(score.measure, score.subset): score for score in here}
        order = (protocol.first_measure, *protocol.measures, *protocol.joint_measures)
        measures = _in_order({score.measure for score in here}, order)
        rows = tuple(
            ScoreRow(words(name), name, tuple(index.get((name, subset)) for subset in subsets)) for name in measures
        )
        if rows:
            yield ScoreTable(title, subsets, rows, folded=condition in SINGLE)


def _group_sections(protocol: Protocol, scores: list[Score]) -> Iterable[GroupSection]:
    by_dimension: dict[str, list[Score]] = {}
    for score in scores:
        by_dimension.setdefault(score.group.partition("=")[0], []).append(score)
    for dimension in _in_order(set(by_dimension), (part.dimension for part in protocol.breakdowns)):
        here = by_dimension[dimension]
        order = [name for part in protocol.breakdowns if part.dimension == dimension for name in part.measures]
        measures = _in_order({score.measure for score in here}, order)
        subsets = _in_order({score.subset for score in here}, protocol.subsets)
        tables = tuple(
            _group_table(title, measures, subsets, [score for score in here if score.condition == condition])
            for condition, title in CONDITION_TITLES.items()
        )
        yield GroupSection(dimension.replace("_", " ").capitalize(), tuple(table for table in tables if table.rows))


def _group_table(title: str, measures: tuple[str, ...], subsets: tuple[str, ...], scores: list[Score]) -> GroupTable:
    index = {(score.group, score.measure, score.subset): score for score in scores}
    groups = sorted({score.group for score in scores})
    rows = tuple(
        ScoreRow(
            None,
            group.partition("=")[2],
            tuple(index.get((group, measure, subset)) for measure in measures for subset in subsets),
        )
        for group in groups
    )
    return GroupTable(title, tuple(words(name) for name in measures), subsets, rows)


def _in_order(present: set[str], order: Iterable[str]) -> tuple[str, ...]:
    """Return what is present in the protocol's order, then what the protocol does not know, by name."""
    known = [str(name) for name in dict.fromkeys(order)]
    return tuple([name for name in known if name in present] + sorted(present - set(known)))
