"""What workers and brokers lost of the audit is taken up again. Run by ``manage.py sweep`` (``settings.SWEEPS``)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from audit.models import Job
from audit.services import jobs
from audit.services.jobs import Claim

log = logging.getLogger(__name__)

_RESEND_SECONDS = 600
"""A message that old, whose job still waits, may be lost. With the only worker busy for hours it is not, and another
copy does no harm."""


@dataclass(frozen=True)
class Swept:
    """What one sweep did."""

    taken_back: int
    failed: int
    sent: int

    def __str__(self) -> str:
        return f"audit: taken back {self.taken_back}, failed {self.failed}, sent {self.sent}"


def sweep() -> Swept:
    """Take back expired leases, fail what was lost too often, send what no broker took. Safe anywhere, at any time."""
    taken_back = failed = 0
    for claim in _expired():
        if jobs.give_back(claim):
            log.warning("attempt %d of job %d was lost with its worker", claim.attempt, claim.pk)
            taken_back += 1
        else:
            failed += jobs.fail(claim.held(), f"Its worker was lost {claim.attempt} times. What is done is kept.")
    swept = Swept(taken_back, failed, sum(jobs.tell_worker(pk) for pk in _unsent()))
    if swept != Swept(0, 0, 0):
        log.info("sweep: %s", swept)
    return swept


def _expired() -> list[Claim]:
    rows = Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=timezone.now())
    return [Claim(pk, attempt) for pk, attempt in rows.values_list("pk", "attempt")]


def _unsent() -> list[int]:
    lost = timezone.now() - timedelta(seconds=max(_RESEND_SECONDS, settings.RESEND_SECONDS))
    waiting = Job.objects.filter(state=Job.State.QUEUED).filter(Q(sent_at__isnull=True) | Q(sent_at__lt=lost))
    return list(waiting.values_list("pk", flat=True))
