"""The sweep: what a worker, a broker or a machine left lying is taken up again, or ends in words (decision 27).

It may run anywhere, any number of times at once: every move is a conditional UPDATE.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.module_loading import import_string

from leaderboard.services.entries import stale_comparisons
from leaderboard.subject import about
from submissions import liveness
from submissions.models import Submission
from submissions.services import dispatch, failures, states
from submissions.services.states import Claim, Machine

log = logging.getLogger(__name__)

RESENT_AT_ONCE = 50
"""Messages sent again in one sweep: in a long queue most were not lost, and each is one more for the broker."""


@dataclass(frozen=True)
class Swept:
    """What one sweep did."""

    taken_back: int
    failed: int
    sent: int
    compared: int

    def __str__(self) -> str:
        return (
            f"taken back {self.taken_back}, failed {self.failed}, sent {self.sent}, boards to compare {self.compared}"
        )


def sweep_all() -> list[object]:
    """Run the sweep of every app (``settings.SWEEPS``); what each did prints as a line."""
    return [import_string(name)() for name in settings.SWEEPS]


def sweep() -> Swept:
    """Take back expired leases, fail what waited or was tried too often, send lost messages, compare changed boards."""
    taken_back = failed = 0
    for machine in (states.SUBMISSION, states.EVALUATION):
        for claim in _expired(machine):
            with about(**{_name(machine): claim.pk}):
                back = _take_back(claim)
                taken_back += back
                failed += not back
        failed += sum(_fail_overdue(machine, pk) for pk in _overdue(machine))
    sent = _resend(states.SUBMISSION, dispatch.send_submission) + _resend(states.EVALUATION, dispatch.send_evaluation)
    swept = Swept(taken_back, failed, sent, _compare())
    if swept != Swept(0, 0, 0, 0):
        log.info("sweep: %s", swept)
    return swept


def _name(machine: Machine) -> str:
    return "submission" if machine is states.SUBMISSION else "evaluation"


def _expired(machine: Machine) -> Iterator[Claim]:
    """Yield the claims whose lease ended: their workers are gone."""
    rows = machine.rows().filter(state=machine.working, lease_until__lt=timezone.now())
    for pk, attempt in list(rows.values_list("pk", "attempt")):
        yield Claim(machine, pk, attempt)


def _take_back(claim: Claim) -> bool:
    """Let a row wait again, or fail it after its last attempt. False in that case."""
    ended = claim.held().filter(lease_until__lt=timezone.now())
    again = ended.filter(attempt__lt=settings.ATTEMPTS)
    if again.update(state=claim.machine.waiting, lease_until=None, sent_at=None):
        log.warning("attempt %d was lost with its worker", claim.attempt)
        return True
    failures.fail(ended, claim.machine, f"its worker was lost {claim.attempt} times")
    return False


def _overdue(machine: Machine) -> list[int]:
    """Return what has waited for a worker longer than QUEUE_SECONDS, since it came or since its last attempt."""
    since = Coalesce("started_at", "received_at" if machine is states.SUBMISSION else "queued_at")
    limit = timezone.now() - timedelta(seconds=settings.QUEUE_SECONDS)
    return list(_waiting(machine).annotate(since=since).filter(since__lt=limit).values_list("pk", flat=True))


def _fail_overdue(machine: Machine, pk: int) -> bool:
    with about(**{_name(machine): pk}):
        return bool(failures.fail(_waiting(machine).filter(pk=pk), machine, "no worker took it in time"))


def _waiting(machine: Machine) -> QuerySet[Any]:
    return machine.rows().filter(state=machine.waiting)


def _resend(machine: Machine, send: Callable[[int], bool]) -> int:
    """Send the messages that no broker took, and those that may be lost while a worker lives, the oldest first."""
    sendable = Q(sent_at__isnull=True)
    lost = timezone.now() - timedelta(seconds=settings.RESEND_SECONDS)
    kind = "kind" if machine is states.SUBMISSION else "submission__kind"
    for each in Submission.Kind:
        if liveness.living_workers(dispatch.queue_of(each)):
            sendable |= Q(sent_at__lt=lost, **{kind: each})
    rows = _waiting(machine).filter(sendable).order_by(F("sent_at").asc(nulls_first=True), "pk")
    oldest = rows.values_list("pk", "sent_at")[:RESENT_AT_ONCE]
    return sum(_resend_one(machine, pk, sent_at, send) for pk, sent_at in oldest)


def _resend_one(machine: Machine, pk: int, sent_at: datetime | None, send: Callable[[int], bool]) -> bool:
    """Send one message unless another sweep does; forget the attempt when the broker is still away."""
    row = _waiting(machine).filter(pk=pk)
    mine = row.filter(sent_at__isnull=True) if sent_at is None else row.filter(sent_at=sent_at)
    if not mine.update(sent_at=timezone.now()):
        return False
    if send(pk):
        return True
    row.update(sent_at=None)
    return False


def _compare() -> int:
    """Have the boards compared whose entries changed, unless nobody is there to do it."""
    if not liveness.living_workers(dispatch.CPU):
        return 0
    return sum(dispatch.send_comparison(split.pk) for split in stale_comparisons())
