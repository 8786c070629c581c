"""Makes entries of scorecards, puts them on boards and takes them off, and compares the entries of a board."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet

from evaluator import store
from evaluator import types as ev
from evaluator.errors import EvaluatorError
from evaluator.intervals import holm, paired_test
from evaluator.measures import cells
from evaluator.rank_counts import rank_counts
from evaluator.scoring import contributions
from leaderboard import bundles
from leaderboard.models import Comparison, Entry, Method, Score, Split, SplitVersion
from leaderboard.selectors.board_query import BoardQuery
from leaderboard.selectors.ordering import load_board, placed_entries

log = logging.getLogger(__name__)

BATCH = 2_000
SIGNIFICANCE = 0.05
"""The level of decision 17, after Holm's correction."""


def create_entry(  # noqa: PLR0913 (all by name: what an evaluation knows)
    card: ev.Scorecard,
    *,
    version: SplitVersion,
    method: Method,
    declared: Mapping[str, Any],
    ranks_files: Mapping[ev.Condition, str],
    ranks_by_author: bool = False,
    similarity: str = "",
    published_at: datetime | None = None,
) -> Entry:
    """Store a scorecard as an entry with all its scores, private unless ``published_at`` is given.

    Call it inside a transaction. Raises EvaluatorError for a card that must not be stored (:func:`check_card`).
    """
    check_card(card, version)
    entry = Entry.objects.create(
        split=version.split,
        version=version,
        method=method,
        trust=Entry.Trust.FILE_SCORED,
        evaluator_version=card.evaluator_version,
        declared=dict(declared),
        ranks_files={str(condition): name for condition, name in ranks_files.items()},
        ranks_by_author=ranks_by_author,
        similarity=similarity,
        rank_counts=rank_counts(bundles.load(version), card.ranks),
        published_at=published_at,
    )
    Score.objects.bulk_create((_score(entry, score) for score in card.scores), batch_size=BATCH)
    return entry


def check_card(card: ev.Scorecard, version: SplitVersion) -> None:
    """Raise EvaluatorError when a card lacks the board's first measure or holds a number that is not finite.

    Such a card is a failure of ours: nothing of it is stored (public reports A3 and A13).
    """
    first = (version.protocol["first_measure"], version.protocol["first_subset"], ev.Condition.MULTIMODAL, "")
    if first not in {(score.measure, score.subset, score.condition, score.group) for score in card.scores}:
        raise EvaluatorError(f"the scores of {version} lack {first[0]} on {first[1]}, which ranks the board")
    for score in card.scores:
        numbers = (score.value, score.low, score.high)
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise EvaluatorError(f"{score.measure} on {score.subset}, {score.condition}: {numbers} is not finite")
        if (score.value is None) != bool(score.reason):
            raise EvaluatorError(f"{score.measure} on {score.subset} needs a value or the reason why it has none")


def _score(entry: Entry, score: ev.Score) -> Score:
    return Score(
        entry=entry,
        subset=score.subset,
        condition=score.condition or "",
        group=score.group,
        measure=score.measure,
        value=score.value,
        low=score.low,
        high=score.high,
        n=score.n,
        reason=score.reason,
        shown="" if score.value is None else cells.cell(score.measure, score.value),
        shown_interval=cells.interval(score.measure, score.low, score.high),
    )


def publish(entries: QuerySet[Entry], at: datetime) -> int:
    """Put the private ones of ``entries`` on their boards. Returns how many that were."""
    return entries.filter(published_at__isnull=True).update(published_at=at)


def withdraw(entries: QuerySet[Entry]) -> int:
    """Take ``entries`` off their boards; their results stay. Returns how many that were.

    Comparisons with one of them go at once: they would name it on the pages of others (decision 31).
    """
    Comparison.objects.filter(first__in=entries).delete()
    return entries.filter(published_at__isnull=False).update(published_at=None)


@dataclass(frozen=True)
class _Contest:
    """The scored entries of a board that have its first measure, best first, and what they are compared on."""

    version: SplitVersion | None
    entries: tuple[Entry, ...]
    measure: str
    subset: ev.Subset

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def pairs(self) -> set[tuple[int, int]]:
        """(entry, first) of every comparison that the board should have."""
        return {(entry.pk, self.first.pk) for entry in self.others if str(ev.Condition.MULTIMODAL) in entry.ranks_files}

    @property
    def others(self) -> tuple[Entry, ...]:
        return self.entries[1:]


@dataclass(frozen=True)
class _Test:
    """How one entry differs from the first, before Holm's correction."""

    entry: Entry
    difference: float
    p_value: float


def stale_comparisons() -> list[Split]:
    """Return the boards whose comparisons are not those of the entries that stand on them now."""
    boards = Split.objects.filter(versions__current=True).distinct()
    return [split for split in boards if _is_stale(split, _contest(split))]


def refresh_comparisons(split: Split) -> bool:
    """Compare each scored published entry with the first one (decision 17). False when that was done already.

    A pair that was tested before keeps its p-value, which depends on nothing else; Holm's correction is over all.
    """
    contest = _contest(split)
    if not _is_stale(split, contest):
        return False
    tests = _tests(contest) if contest.others else []
    with transaction.atomic():
        Split.objects.select_for_update().get(pk=split.pk)
        if contest.pairs != _contest(split).pairs:
            log.info("the board changed while it was compared; the next comparison is under way")
            return False
        _store(split, contest, tests)
    return True


def _contest(split: Split) -> _Contest:
    board = load_board(split.slug)
    placed = placed_entries(board, BoardQuery())
    ranked = (row.entry for row in placed if row.rank is not None and row.entry.trust != Entry.Trust.REPORTED)
    return _Contest(board.version, tuple(ranked), board.protocol.first_measure, board.protocol.first_subset)


def _is_stale(split: Split, contest: _Contest) -> bool:
    stored = Comparison.objects.filter(entry__split=split).values_list("entry_id", "first_id")
    return set(stored) != contest.pairs


def _tests(contest: _Contest) -> list[_Test]:
    if contest.version is None:
        return []
    split = bundles.load(contest.version)
    clusters = split.clusters[np.flatnonzero(split.subsets[contest.subset])]
    first = _contributions(split, contest, contest.first)
    known = {row.entry_id: row for row in Comparison.objects.filter(first=contest.first)}
    tests = []
    for entry in contest.others:
        if row := known.get(entry.pk):
            tests.append(_Test(entry, row.difference, row.p_value))
        elif (entry.pk, contest.first.pk) in contest.pairs:
            values = _contributions(split, contest, entry)
            tests.append(_Test(entry, float(np.mean(values - first)), paired_test(values, first, clusters)))
    return tests


def _contributions(split: ev.Split, contest: _Contest, entry: Entry) -> ev.FloatArray:
    run = store.load_run(Path(default_storage.path(entry.ranks_files[str(ev.Condition.MULTIMODAL)])))
    return contributions(split, run, contest.measure, contest.subset)


def _store(split: Split, contest: _Contest, tests: Iterable[_Test]) -> None:
    rows = list(tests)
    Comparison.objects.filter(entry__split=split).delete()
    adjusted = holm([row.p_value for row in rows])
    Comparison.objects.bulk_create(
        (
            Comparison(
                entry=row.entry,
                first=contest.first,
                difference=row.difference,
                p_value=row.p_value,
                p_adjusted=corrected,
                distinguishable=corrected < SIGNIFICANCE,
            )
            for row, corrected in zip(rows, adjusted, strict=True)
        ),
        batch_size=BATCH,
    )
