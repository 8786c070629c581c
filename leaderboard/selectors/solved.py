"""Where the first right image of every query stands, for many entries: what the explorer filters by."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from django.core.files.storage import default_storage

from evaluator.errors import EvaluatorError
from evaluator.rank_counts import best_ranks, is_solved
from evaluator.ranks import as_judged_ranks
from evaluator.store import load_run
from evaluator.types import Condition, IntArray, JudgedRanks
from leaderboard import bundles
from leaderboard.models import Entry, SplitVersion

log = logging.getLogger(__name__)

_REMEMBERED = 240
"""Arrays of best ranks in memory: of 30,000 queries each takes 120 kB."""


def best_of(version: SplitVersion, entry: Entry, condition: Condition) -> IntArray | None:
    """Return the rank (n,) of each query's first right image, 0 where none is listed; None without such a run."""
    name = entry.ranks_files.get(str(condition))
    if not name:
        return None
    try:
        changed = Path(default_storage.path(name)).stat().st_mtime_ns
        return _best(version.digest, version.bundle, name, changed)
    except (OSError, EvaluatorError):
        log.exception("the ranks in %s cannot be read: %s is left out", name, entry)
        return None


def ranks_of(version: SplitVersion, entry: Entry, condition: Condition) -> JudgedRanks | None:
    """Return the rank of every judged image; None without such a run."""
    name = entry.ranks_files.get(str(condition))
    if not name:
        return None
    try:
        return _ranks(version.digest, version.bundle, name)
    except EvaluatorError:
        log.exception("the ranks in %s cannot be read: %s is left out", name, entry)
        return None


def times_solved(version: SplitVersion, entries: Sequence[Entry], condition: Condition) -> tuple[IntArray, int]:
    """Return how many (n,) of ``entries`` solve each query, and how many of them were looked at."""
    found = [best for entry in entries if (best := best_of(version, entry, condition)) is not None]
    total = np.zeros(version.query_count, dtype=np.int32)
    for best in found:
        total += is_solved(best)
    return total, len(found)


@lru_cache(maxsize=_REMEMBERED)
def _best(digest: str, bundle: str, name: str, changed: int) -> IntArray:
    return best_ranks(bundles.load_named(digest, bundle), _ranks(digest, bundle, name))


def _ranks(digest: str, bundle: str, name: str) -> JudgedRanks:
    return as_judged_ranks(bundles.load_named(digest, bundle), load_run(Path(default_storage.path(name))))
