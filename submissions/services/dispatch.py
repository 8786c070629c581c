"""Tells workers about rows, after the transaction that made them. A broker that is away costs nothing but time."""

from __future__ import annotations

import json
import logging
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from kombu.exceptions import OperationalError

from leaderboard.subject import about
from submissions.models import Evaluation, Submission

log = logging.getLogger(__name__)

_GRACE = 30
"""Seconds from the limit that a task is told of to the one that ends it."""
VALIDATE, SCORE, COMPARE = (f"submissions.tasks.{name}" for name in ("validate", "score", "compare"))
CPU, GPU = "cpu", "gpu"
QUEUES = (CPU, GPU)
"""Rankings and comparisons; vectors, which may need a GPU. A worker may serve both."""


def queue_of(kind: str) -> str:
    """Return the queue that submissions of a kind, and their evaluations, wait in."""
    return GPU if kind == Submission.Kind.EMBEDDINGS else CPU


def submission_after_commit(pk: int) -> None:
    """Have a submission validated, once the current transaction is committed."""
    transaction.on_commit(partial(send_submission, pk))


def evaluation_after_commit(pk: int) -> None:
    """Have an evaluation scored, once the current transaction is committed."""
    transaction.on_commit(partial(send_evaluation, pk))


def comparison_after_commit(split: int) -> None:
    """Have a board's comparisons computed again, once the current transaction is committed."""
    transaction.on_commit(partial(send_comparison, split))


def send_submission(pk: int) -> bool:
    """Tell the workers about a submission. False when the broker did not take the message: the sweep tries again."""
    with about(submission=pk):
        sent = _send(VALIDATE, pk, _queue(Submission.objects.filter(pk=pk).values_list("kind")))
    return sent and bool(Submission.objects.filter(pk=pk).update(sent_at=timezone.now()))


def send_evaluation(pk: int) -> bool:
    """Tell the workers about an evaluation. False when the broker did not take the message."""
    with about(evaluation=pk):
        sent = _send(SCORE, pk, _queue(Evaluation.objects.filter(pk=pk).values_list("submission__kind")))
    return sent and bool(Evaluation.objects.filter(pk=pk).update(sent_at=timezone.now()))


def send_comparison(split: int) -> bool:
    """Tell the workers to compare a board. False when the broker did not take the message."""
    with about(split=split):
        return _send(COMPARE, split, CPU)


def _queue(kinds: QuerySet[Any, tuple[str]]) -> str:
    found = kinds.first()
    return queue_of(found[0]) if found else CPU


def _limit(queue: str) -> int | None:
    """Return the seconds a task may take where that is not what Celery's settings say: ranking takes longer."""
    return settings.RANKING_SECONDS if queue == GPU else None


def _send(task: str, pk: int, queue: str) -> bool:
    limit = _limit(queue)
    try:
        current_app.send_task(
            task, args=[pk], queue=queue, retry=False, soft_time_limit=limit, time_limit=limit and limit + _GRACE
        )
    except (OperationalError, OSError) as error:
        log.warning("the broker took no message for %s: %s", task, error)
        return False
    except JSONDecodeError:
        mend_broker()
        return False
    return True


def mend_broker() -> None:
    """Write the tables of the folder broker anew where a full disk, or two first starts at once, left one torn.

    Nobody can send or start before that. Does nothing for a broker that is a server.
    """
    tables = settings.BROKER_FOLDER.glob("control/*.exchange")
    torn = [table for table in tables if not _is_json(table)]
    if not torn:
        return
    for table in torn:
        table.unlink(missing_ok=True)
    with current_app.connection_for_write() as connection, connection.channel() as channel:
        for queue in QUEUES:
            current_app.amqp.queues[queue].bind(channel).declare()
    log.warning("the broker's tables were torn and are written anew: %s", ", ".join(table.name for table in torn))


def _is_json(table: Path) -> bool:
    try:
        json.loads(table.read_bytes())
    except ValueError:
        return False
    return True
