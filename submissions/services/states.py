"""The two state machines (decision 27). Each move is one conditional UPDATE: whoever comes second changes nothing.

The right to work on a row is a **claim**: it names the attempt, so it is void once the row moved on, whatever the
clocks of two workers say. A lease that is not renewed lets the sweep take the row back.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Model, QuerySet
from django.utils import timezone

from submissions.models import Evaluation, Submission
from submissions.services import quota

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Machine:
    """What the two machines share: a row waits, is worked on under a lease, and ends."""

    model: type[Model]
    waiting: str
    working: str

    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.all()

    def __str__(self) -> str:
        return self.model.__name__.lower()


SUBMISSION = Machine(Submission, Submission.State.RECEIVED, Submission.State.VALIDATING)
EVALUATION = Machine(Evaluation, Evaluation.State.QUEUED, Evaluation.State.SCORING)


@dataclass(frozen=True)
class Claim:
    """One attempt's right to work on a row."""

    machine: Machine
    pk: int
    attempt: int

    def held(self) -> QuerySet[Any]:
        """The row while this claim is valid; empty afterwards."""
        return self.machine.rows().filter(pk=self.pk, state=self.machine.working, attempt=self.attempt)


class ClaimLost(Exception):  # noqa: N818 (a verdict)
    """The row moved on while it was worked on: taken back, cancelled, or finished by another attempt."""


def claim_submission(pk: int) -> Claim | None:
    """Move received → validating. None, with a line in the log, when it is not waiting (any more)."""
    return _claim(SUBMISSION, pk)


@transaction.atomic
def claim_evaluation(pk: int, worker: str = "") -> Claim | None:
    """Move queued → scoring; from here on the submission counts (decision 28). None when it is not waiting."""
    submission = _lock_submission_of(pk)
    claim = _claim(EVALUATION, pk, worker=worker, percent=0)
    if claim is not None and submission is not None:
        quota.use(submission.pk)
    return claim


def _lock_submission_of(evaluation: int) -> Submission | None:
    """Lock the submission before its evaluation, as everything does that touches both: so nobody waits in a circle."""
    return Submission.objects.select_for_update(of=("self",)).filter(evaluations=evaluation).first()


@transaction.atomic
def _claim(machine: Machine, pk: int, **columns: Any) -> Claim | None:
    now = timezone.now()
    changed = (
        machine.rows()
        .filter(pk=pk, state=machine.waiting)
        .update(state=machine.working, attempt=F("attempt") + 1, lease_until=lease_end(now), started_at=now, **columns)
    )
    if not changed:
        log.info("nothing to do: this %s is not waiting", machine)
        return None
    return Claim(machine, pk, machine.rows().values_list("attempt", flat=True).get(pk=pk))


def lease_end(now: datetime) -> datetime:
    """When a lease taken or renewed at ``now`` ends."""
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def renew(claim: Claim) -> None:
    """Prolong the lease. Raises ClaimLost when the row moved on, so that no more work is spent on it."""
    if not claim.held().update(lease_until=lease_end(timezone.now())):
        raise ClaimLost(f"attempt {claim.attempt} lost this {claim.machine}")


def finish(claim: Claim, state: str, **columns: Any) -> None:
    """Move to a final state, with what belongs to it. Raises ClaimLost: the caller must then roll back."""
    changed = claim.held().update(state=state, lease_until=None, finished_at=timezone.now(), **columns)
    if not changed:
        raise ClaimLost(f"attempt {claim.attempt} lost this {claim.machine}")


def give_back(claim: Claim) -> bool:
    """Put the row back to wait, for another attempt. False when the claim was lost or it was the last attempt."""
    held = claim.held().filter(attempt__lt=settings.ATTEMPTS)
    return bool(held.update(state=claim.machine.waiting, lease_until=None, sent_at=None))


@transaction.atomic
def fail(rows: QuerySet[Any], machine: Machine, reference: str, reason: str) -> bool:
    """Move the one row that ``rows`` selects, if it still does, to failed, and give its quota back."""
    pk = rows.values_list("pk", flat=True).first()
    if machine is EVALUATION and pk is not None:
        _lock_submission_of(pk)
    changed = rows.update(
        state="failed", lease_until=None, finished_at=timezone.now(), reference=reference, reason=reason
    )
    if changed and pk is not None:
        _return_quota(machine, pk)
    return bool(changed)


def _return_quota(machine: Machine, pk: int) -> None:
    if machine is SUBMISSION:
        quota.give_back(pk)
        return
    evaluation = Evaluation.objects.select_related("submission", "version").get(pk=pk)
    asked_for = Evaluation.objects.filter(
        submission=evaluation.submission_id, version__split=evaluation.submission.split_id
    )
    if evaluation.version.split_id == evaluation.submission.split_id and not asked_for.filter(state="scored").exists():
        quota.give_back(evaluation.submission_id)


def cancel(machine: Machine, rows: QuerySet[Any], reason: str) -> int:
    """Move the rows of ``rows`` that are not final to cancelled. Returns how many."""
    return rows.filter(state__in=[machine.waiting, machine.working]).update(
        state="cancelled", lease_until=None, finished_at=timezone.now(), reason=reason
    )
