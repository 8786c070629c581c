"""The boundary between what goes wrong and what people are told: a reference for them, the traceback for the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, close_old_connections
from django.db.models import QuerySet
from django.utils import timezone

from accounts import references
from submissions.sandbox import SandboxKilled
from submissions.services import states
from submissions.services.states import Claim, ClaimLost, Machine

log = logging.getLogger(__name__)

TRANSIENT = (OSError, MemoryError, OperationalError, InterfaceError, SoftTimeLimitExceeded, SandboxKilled)
"""What another attempt may not meet again: disk, memory, database, a machine that was too busy."""

WORDS = "{what} failed on our side: your file is not to blame, and this costs no quota. Reference: {reference}."
WHAT = {states.SUBMISSION: "Checking your submission", states.EVALUATION: "Scoring your submission"}

_TOLD_SECONDS = 1
"""How often a row says how far it is."""


def attempt(claim: Claim, work: Callable[[Claim], None]) -> None:
    """Do the work of a claim; whatever happens, the row ends in a state that says so."""
    try:
        work(claim)
    except ClaimLost as lost:
        log.info("stopped: %s", lost)
    except Exception as error:  # the one boundary: whatever it is, the person gets a reference
        if isinstance(error, DatabaseError):
            close_old_connections()
        if _may_pass(error) and states.give_back(claim):
            log.warning("attempt %d broke off; the sweep sends it again", claim.attempt, exc_info=error)
        else:
            fail(claim.held(), claim.machine, error)


def _may_pass(error: BaseException | None) -> bool:
    """Whether the error, or what caused it, is one that another attempt may not meet."""
    while error is not None:
        if isinstance(error, TRANSIENT):
            return True
        error = error.__cause__
    return False


def fail(rows: QuerySet[Any], machine: Machine, why: BaseException | str) -> str:
    """Move the one row of ``rows`` to failed. Returns the reference, or "" when the row had moved on."""
    reference = references.new()
    if not states.fail(rows, machine, reference, WORDS.format(what=WHAT[machine], reference=reference)):
        return ""
    log.error("%s: %s", reference, why, exc_info=why if isinstance(why, BaseException) else None)
    return reference


class LeaseKeeper:
    """Renews a claim's lease when a third of it has passed; called often from inside long work.

    With a share of an evaluation's work, from and to so many percent, it also writes how far that is.
    """

    def __init__(self, claim: Claim, percent: tuple[int, int] | None = None) -> None:
        self._claim = claim
        self._renewed = self._told = timezone.now()
        self._percent = percent

    def __call__(self, done: int = 0, total: int = 0) -> None:
        """Take a step. Raises ClaimLost when the row moved on."""
        now = timezone.now()
        if self._percent is not None and total and (now - self._told).total_seconds() >= _TOLD_SECONDS:
            first, last = self._percent
            self._claim.held().update(percent=first + (last - first) * min(done, total) // total)
            self._told = now
        if (now - self._renewed).total_seconds() > settings.LEASE_SECONDS / 3:
            states.renew(self._claim)
            self._renewed = now
