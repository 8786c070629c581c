"""The life of a job: queued → running → done, failed or cancelled. Each move is one conditional UPDATE."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from json import JSONDecodeError
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from audit import instructions
from audit.models import Encoder, Job
from audit.services import probes
from evaluator.types import Condition, JudgedRanks
from leaderboard import pictures
from leaderboard.models import SplitVersion

log = logging.getLogger(__name__)

TASK, QUEUE = "audit.tasks.run", "gpu"


class JobRefused(Exception):  # noqa: N818 (a verdict)
    """An encoder cannot be run over this split; says why and what to do."""


class JobLost(Exception):  # noqa: N818 (a verdict)
    """The row moved on while it was worked on: cancelled, or taken back from a worker that seemed gone."""


@dataclass(frozen=True)
class Claim:
    """One attempt's right to work on a job."""

    pk: int
    attempt: int

    def held(self) -> QuerySet[Job]:
        """The row while this claim is valid; empty afterwards."""
        return Job.objects.filter(pk=self.pk, state=Job.State.RUNNING, attempt=self.attempt)


def enqueue(
    encoder: Encoder, version: SplitVersion, *, dtype: str = "float32", batch: int = 0, send: bool = True
) -> tuple[Job, bool]:
    """Have an encoder run over a split. Returns the job, and whether it is new: one under way is not begun twice.

    Raises JobRefused. With ``send`` a worker of the queue ``gpu`` is told, once the current transaction is committed;
    without, whoever calls runs it.
    """
    require_runnable(encoder, version)
    key = probes.key_of(version)
    columns = {"version": version, "instruction": instructions.of(version.split.slug).text}
    try:
        with transaction.atomic():
            job = Job.objects.create(encoder=encoder, ranks_key=key, dtype=dtype, batch=batch, **columns)
    except IntegrityError:
        return Job.objects.get(encoder=encoder, ranks_key=key, state__in=Job.WAITING), False
    if send:
        transaction.on_commit(partial(tell_worker, job.pk))
    return job, True


def require_runnable(encoder: Encoder, version: SplitVersion) -> None:
    """Raise JobRefused where nothing can be run, or nothing is left to run."""
    board = version.split
    if encoder.is_frozen:
        raise JobRefused(f"{encoder} is a frozen pool: its ranks were published, it cannot be run.")
    if board.hidden_truth:
        raise JobRefused(f"The truth of {board.name} is hidden: nobody can rank its targets here.")
    if version.gallery_size is None:
        raise JobRefused(
            f"The gallery of {board.name} is open: ranks need its whole list. Import it, and run the audit then."
        )
    if encoder.family != "files" and pictures.folder_of(board.slug) is None:
        raise JobRefused(
            f"There are no pictures of {board.name} on this machine. Put them into {settings.IMAGES / board.slug}."
        )
    if probes.is_complete(encoder, version):
        raise JobRefused(f"{encoder} was run over {board.name} already; its probes never change.")


def tell_worker(pk: int) -> bool:
    """Tell the workers about a job. False where the broker did not take the message: the sweep tries again."""
    try:
        current_app.send_task(TASK, args=[pk], queue=QUEUE, retry=False)
    except (OperationalError, OSError, JSONDecodeError) as error:
        log.warning("the broker took no message for job %d: %s", pk, error)
        return False
    return bool(Job.objects.filter(pk=pk).update(sent_at=timezone.now()))


def claim(pk: int) -> Claim | None:
    """Move queued → running. None where it is not waiting (any more)."""
    now = timezone.now()
    with transaction.atomic():
        moved = Job.objects.filter(pk=pk, state=Job.State.QUEUED).update(
            state=Job.State.RUNNING, attempt=F("attempt") + 1, lease_until=_lease_end(), started_at=now, reason=""
        )
        return Claim(pk, Job.objects.values_list("attempt", flat=True).get(pk=pk)) if moved else None


def renew(held: Claim, **progress: Any) -> None:
    """Prolong the lease and write progress. Raises JobLost where the row moved on."""
    if not held.held().update(lease_until=_lease_end(), **progress):
        raise JobLost(f"attempt {held.attempt} lost job {held.pk}")


def finish(held: Claim, found: Mapping[Condition, JudgedRanks], **columns: Any) -> None:
    """Store the probes and move running → done, together. Raises JobLost, and nothing is stored."""
    job = Job.objects.select_related("encoder", "version__split").get(pk=held.pk)
    with transaction.atomic():
        renew(held)
        probes.store_probes(job.encoder, job.version, found, job=job)
        held.held().update(
            state=Job.State.DONE, lease_until=None, finished_at=timezone.now(), seconds_left=None, **columns
        )


def give_back(held: Claim) -> bool:
    """Let a job wait for another attempt. False where the claim was lost or it was the last one."""
    again = held.held().filter(attempt__lt=settings.ATTEMPTS)
    return bool(again.update(state=Job.State.QUEUED, lease_until=None, sent_at=None))


def fail(rows: QuerySet[Job], reason: str) -> bool:
    """Move the one row of ``rows`` to failed."""
    return bool(
        rows.update(state=Job.State.FAILED, lease_until=None, finished_at=timezone.now(), reason=reason or "No reason.")
    )


def cancel(job: Job) -> bool:
    """End a job; what it finished is kept for the next one. False where it has ended already."""
    rows = Job.objects.filter(pk=job.pk, state__in=Job.WAITING)
    return bool(rows.update(state=Job.State.CANCELLED, lease_until=None, finished_at=timezone.now()))


def _lease_end() -> Any:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
