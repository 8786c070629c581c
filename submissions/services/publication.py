"""What a submission's owner decides: publish, withdraw (decision 31), cancel (decision 28)."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from leaderboard.models import Entry
from leaderboard.services import entries
from submissions.models import Evaluation, Submission
from submissions.services import dispatch, quota, states
from submissions.services.refusals import IllegalMove

CANCELLED = "Cancelled by its team."


@transaction.atomic
def publish(submission: Submission) -> bool:
    """Put all scored evaluations of a submission on their boards. False when they stood there already.

    Those scored later follow by themselves. Raises IllegalMove when nothing is scored yet.
    """
    row = Submission.objects.select_for_update().get(pk=submission.pk)
    scored = _entries(row)
    if not scored.exists():
        raise IllegalMove(_why_not(row))
    at = row.published_at or timezone.now()
    changed = Submission.objects.filter(pk=row.pk, published_at__isnull=True).update(published_at=at)
    moved = entries.publish(scored, at)
    if moved:
        _compare_boards(row)
    submission.published_at = at
    return bool(changed or moved)


@transaction.atomic
def withdraw(submission: Submission) -> bool:
    """Take a submission's entries off their boards; it keeps its results. False when they were not there."""
    row = Submission.objects.select_for_update().get(pk=submission.pk)
    changed = Submission.objects.filter(pk=row.pk, published_at__isnull=False).update(published_at=None)
    if entries.withdraw(_entries(row)):
        _compare_boards(row)
    submission.published_at = None
    return bool(changed)


@transaction.atomic
def cancel(submission: Submission) -> None:
    """Cancel a submission, or those of its evaluations that are not finished. Raises IllegalMove when all are.

    Quota is given back when no scoring had begun; what had begun shows nothing (public report A7).
    """
    before = Submission.objects.select_for_update().get(pk=submission.pk)
    checking = Submission.objects.filter(pk=before.pk)
    scoring = Evaluation.objects.filter(submission=before)
    if states.cancel(states.SUBMISSION, checking, CANCELLED):
        quota.give_back(before.pk)
    elif not states.cancel(states.EVALUATION, scoring, CANCELLED):
        raise IllegalMove("This submission has ended already: there is nothing left to cancel.")
    elif not scoring.filter(attempt__gt=0).exists():
        quota.give_back(before.pk)
    submission.refresh_from_db()


def _entries(submission: Submission) -> QuerySet[Entry]:
    return Entry.objects.filter(evaluation__submission=submission)


def _compare_boards(submission: Submission) -> None:
    for split in set(_entries(submission).values_list("split_id", flat=True)):
        dispatch.comparison_after_commit(split)


def _why_not(submission: Submission) -> str:
    if submission.split.hidden_truth and submission.state == Submission.State.VALID:
        return "The truth of this split is hidden: the file was checked here and is scored on the official server."
    return "Only a scored submission can be published."
