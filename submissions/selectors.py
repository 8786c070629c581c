"""Reads: who may see a submission, and whether the machinery behind it is alive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from submissions import liveness
from submissions.liveness import Worker
from submissions.models import Evaluation, Submission
from submissions.services.dispatch import QUEUE


def visible_submissions(user: User) -> QuerySet[Submission]:
    """Return what a user may see: the submissions of their teams, or all for a maintainer (decision 31)."""
    rows = Submission.objects.select_related("split__benchmark", "method", "team")
    return rows if user.is_staff else rows.filter(team__in=user.teams.all())


def visible_submission(user: User, public_id: UUID) -> Submission:
    """Return one submission. Raises Submission.DoesNotExist for an outsider's just as for one that never was."""
    return visible_submissions(user).get(public_id=public_id)


def is_owner(user: User, submission: Submission) -> bool:
    """Whether the user is in the submission's team: only they publish, withdraw or cancel."""
    return user.teams.filter(pk=submission.team_id).exists()


@dataclass(frozen=True)
class Status:
    """Whether work gets done: living workers, and what waits or is being worked on."""

    queue: str
    workers: tuple[Worker, ...]
    waiting: int
    working: int
    oldest: datetime | None
    """Since when the longest waiting one waits."""
    now: datetime

    @property
    def healthy(self) -> bool:
        return bool(self.workers)

    @property
    def sentence(self) -> str:
        """What people read (public report A1)."""
        if not self.workers:
            return f"No worker for queue {self.queue}: what is sent now waits until one is back."
        many = len(self.workers)
        return f"{many} worker{'s' if many > 1 else ''} for queue {self.queue}."


def status() -> Status:
    """Return the state of the queue, in a fixed number of database queries."""
    submissions = Submission.objects.filter(state=Submission.State.RECEIVED)
    evaluations = Evaluation.objects.filter(state=Evaluation.State.QUEUED)
    since = (
        submissions.order_by("received_at").values_list("received_at", flat=True).first(),
        evaluations.order_by("queued_at").values_list("queued_at", flat=True).first(),
    )
    return Status(
        queue=QUEUE,
        workers=tuple(liveness.living_workers(QUEUE)),
        waiting=submissions.count() + evaluations.count(),
        working=Submission.objects.filter(state=Submission.State.VALIDATING).count()
        + Evaluation.objects.filter(state=Evaluation.State.SCORING).count(),
        oldest=min((instant for instant in since if instant is not None), default=None),
        now=timezone.now(),
    )
