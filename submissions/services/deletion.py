"""Deletes vectors some time after scoring (decision 26). Ranks and nearest images stay, and what was sent is told.

Several rows may share one stored file, where gallery vectors were used again: it goes with the last of them. All rows
of a file are locked together, here and by a receipt that uses one again, so neither misses the other.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.subject import about
from submissions.models import Evaluation, SentFile, Submission
from uploads import services as uploads

log = logging.getLogger(__name__)

AT_ONCE = 100
"""Submissions looked at in one sweep."""


def delete_old_vectors() -> int:
    """Delete the vectors of submissions that came to their end long enough ago. Returns how many files went.

    Safe beside receipts and other sweeps, and to repeat.
    """
    gone = 0
    for pk in list(due().values_list("pk", flat=True)[:AT_ONCE]):
        with about(submission=pk):
            gone += _delete(pk)
    return gone


def due() -> QuerySet[Submission]:
    """Return the submissions whose vectors are to be deleted: nothing happened to them for so many days."""
    limit = timezone.now() - timedelta(days=settings.VECTORS_KEEP_DAYS)
    here = _here().filter(submission=OuterRef("pk"))
    evaluations = Evaluation.objects.filter(submission=OuterRef("pk"))
    lately = evaluations.filter(finished_at__gte=limit)
    under_way = evaluations.filter(finished_at__isnull=True)
    ended = Submission.objects.filter(kind=Submission.Kind.EMBEDDINGS, finished_at__lt=limit)
    return ended.filter(Exists(here), ~Exists(lately), ~Exists(under_way)).order_by("finished_at")


def is_needed(stored: str) -> bool:
    """Whether a stored file is one of a submission and not yet deleted."""
    return SentFile.objects.filter(stored=stored, removed_at=None).exists()


def _here() -> QuerySet[SentFile]:
    return SentFile.objects.filter(role__in=SentFile.OF_VECTORS, removed_at=None)


@transaction.atomic
def _delete(pk: int) -> int:
    names = set(_here().filter(submission=pk).values_list("stored", flat=True))
    sharing = list(_here().filter(stored__in=names).order_by("pk").select_for_update())
    if not due().filter(pk=pk).exists():  # scored again meanwhile
        return 0
    SentFile.objects.filter(pk__in=[row.pk for row in sharing if row.submission_id == pk]).update(
        removed_at=timezone.now()
    )
    last = names - {row.stored for row in sharing if row.submission_id != pk}
    for name in last:
        transaction.on_commit(partial(_discard, name))
    log.info("deleted vectors: %d files, %d still in use", len(last), len(names) - len(last))
    return len(last)


def _discard(name: str) -> None:
    """Delete the bytes; where that fails they are left over, and found so later."""
    try:
        uploads.discard(name)
    except OSError:
        log.exception("vectors that nobody needs could not be deleted now: %s", name)
