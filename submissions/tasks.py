"""Celery tasks: fetch, call, report. Each takes an id, and doing it twice does nothing more (public report A4)."""

from __future__ import annotations

import logging

from celery import shared_task

from leaderboard.models import Split
from leaderboard.services.entries import refresh_comparisons
from leaderboard.subject import about
from submissions.models import Evaluation, Submission
from submissions.services import evaluations, validation

log = logging.getLogger(__name__)


@shared_task
def validate(submission: int) -> None:
    """Check a submission's files."""
    split = Submission.objects.filter(pk=submission).values_list("split__slug", flat=True).first()
    with about(submission=submission, split=split):
        validation.validate(submission)


@shared_task
def score(evaluation: int) -> None:
    """Score one evaluation."""
    split = Evaluation.objects.filter(pk=evaluation).values_list("version__split__slug", flat=True).first()
    with about(evaluation=evaluation, split=split):
        evaluations.score(evaluation)


@shared_task
def compare(split: int) -> None:
    """Compare the entries of a board with its first one."""
    board = Split.objects.get(pk=split)
    with about(split=board.slug):
        if refresh_comparisons(board):
            log.info("compared")
