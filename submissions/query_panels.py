"""The first images of published entries for one query: what is kept of vectors (decision 26)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from django.core.files.storage import default_storage

from evaluator.errors import EvaluatorError
from evaluator.store import load_run
from evaluator.types import Condition, Ranking
from leaderboard.models import Entry
from submissions.models import Evaluation, Run, Submission

log = logging.getLogger(__name__)


def panels(entries: Sequence[Entry], condition: Condition, position: int) -> Mapping[int, Sequence[int]]:
    """Return entry's key -> its nearest images for the query at ``position``, of those entries that sent vectors.

    Only published entries have a panel, whatever is asked for.
    """
    scored = Evaluation.objects.filter(
        entry__in=[entry.pk for entry in entries if entry.similarity],
        entry__published_at__isnull=False,
        submission__kind=Submission.Kind.EMBEDDINGS,
    )
    submission_of = dict(scored.values_list("entry_id", "submission_id"))
    runs = Run.objects.filter(submission__in=submission_of.values(), condition=str(condition)).exclude(arrays="")
    stored = dict(runs.values_list("submission_id", "arrays"))
    found = {}
    for entry, submission in submission_of.items():
        if entry is not None and submission in stored:
            images = _nearest(stored[submission], position)
            if images:
                found[entry] = images
    return found


def _nearest(name: str, position: int) -> tuple[int, ...]:
    try:
        changed = Path(default_storage.path(name)).stat().st_mtime_ns
        ranking = _load(name, changed)
    except (OSError, EvaluatorError):
        log.exception("the nearest images in %s cannot be read: its panel is left out", name)
        return ()
    if position >= len(ranking.images):
        return ()
    return tuple(ranking.images[position, : ranking.length[position]].tolist())


@lru_cache(maxsize=8)
def _load(name: str, changed: int) -> Ranking:
    """Return kept lists. 30,000 queries take 6 MB."""
    found = load_run(Path(default_storage.path(name)))
    if not isinstance(found, Ranking):
        raise EvaluatorError(f"{name} holds no lists")
    return found
