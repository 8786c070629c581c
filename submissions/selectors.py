"""Reads: who may see a submission, and whether the machinery behind it is alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import Team, User
from leaderboard.models import SplitVersion
from submissions import liveness
from submissions.liveness import NO_GPU, Worker
from submissions.models import Evaluation, SentFile, Submission
from submissions.services.dispatch import CPU, GPU, queue_of
from submissions.services.package import galleries_of

_LOOKED_AT = 200
"""Gallery files that are looked through for those to offer again."""


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


def galleries_to_use_again(team: Team, version: SplitVersion) -> list[SentFile]:
    """Return gallery vectors that a team sent for the same gallery and that are still here, the latest first."""
    fitting = Q(submission__split=version.split_id) | Q(submission__fit_key=version.fit_key)
    latest: dict[str, SentFile] = {}
    for gallery in galleries_of(team).filter(fitting)[:_LOOKED_AT]:
        latest.setdefault(gallery.digest, gallery)
    return list(latest.values())


@dataclass(frozen=True)
class QueueStatus:
    """One queue: its living workers, and what waits in it or is being worked on."""

    queue: str
    workers: tuple[Worker, ...]
    waiting: int
    working: int
    oldest: datetime | None
    """Since when the longest waiting one waits."""

    @property
    def healthy(self) -> bool:
        """Whether work gets done: someone is there, or nobody is needed. Rankings may come at any time."""
        return bool(self.workers) or (self.queue != CPU and not self.waiting)


@dataclass(frozen=True)
class Status:
    """Whether work gets done, by queue and in all."""

    queues: tuple[QueueStatus, ...]
    now: datetime

    @property
    def queue(self) -> str:
        """The queue that every site needs."""
        return CPU

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Every living worker, once."""
        return tuple({worker.name: worker for queue in self.queues for worker in queue.workers}.values())

    @property
    def waiting(self) -> int:
        return sum(queue.waiting for queue in self.queues)

    @property
    def working(self) -> int:
        return sum(queue.working for queue in self.queues)

    @property
    def oldest(self) -> datetime | None:
        """Since when the longest waiting one waits."""
        return min((queue.oldest for queue in self.queues if queue.oldest is not None), default=None)

    @property
    def healthy(self) -> bool:
        return all(queue.healthy for queue in self.queues)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What people read: what lacks a worker, then who is there (public report A1)."""
        lacking = (_LACKING[queue.queue] for queue in self.queues if not queue.workers)
        alike: dict[tuple[str, ...], list[Worker]] = {}
        for worker in self.workers:
            alike.setdefault((*worker.queues, worker.device), []).append(worker)
        return (*lacking, *(_present(workers) for workers in alike.values()))

    @property
    def sentence(self) -> str:
        """All of it in one line."""
        return " ".join(self.sentences)


_LACKING = {
    CPU: "No worker for queue cpu: rankings sent now wait until one is back.",
    GPU: "No worker for queue gpu: vectors sent now wait until one is back.",
}


def _present(workers: Sequence[Worker]) -> str:
    """Say who is there, of workers that serve the same queues on the same device."""
    one, first = len(workers) == 1, workers[0]
    queues = f"queue{'s' if len(first.queues) > 1 else ''} {' and '.join(first.queues)}"
    who = f"{len(workers)} worker{'' if one else 's'} for {queues}"
    if GPU not in first.queues or not first.device:
        return f"{who}."
    does, their = ("ranks", "its processor") if one else ("rank", "their processors")
    if first.device == NO_GPU:
        return f"{who}; {'it has' if one else 'they have'} no GPU and {does} vectors on {their}."
    return f"{who}; {'it' if one else 'they'} {does} vectors on {first.device}."


def status() -> Status:
    """Return the state of the queues, in a fixed number of database queries."""
    return Status(tuple(_queue_status(kind) for kind in Submission.Kind), timezone.now())


def _queue_status(kind: Submission.Kind) -> QueueStatus:
    submissions, evaluations = Submission.objects.filter(kind=kind), Evaluation.objects.filter(submission__kind=kind)
    received = submissions.filter(state=Submission.State.RECEIVED)
    queued = evaluations.filter(state=Evaluation.State.QUEUED)
    since = (
        received.order_by("received_at").values_list("received_at", flat=True).first(),
        queued.order_by("queued_at").values_list("queued_at", flat=True).first(),
    )
    queue = queue_of(kind)
    return QueueStatus(
        queue=queue,
        workers=tuple(liveness.living_workers(queue)),
        waiting=received.count() + queued.count(),
        working=submissions.filter(state=Submission.State.VALIDATING).count()
        + evaluations.filter(state=Evaluation.State.SCORING).count(),
        oldest=min((instant for instant in since if instant is not None), default=None),
    )
