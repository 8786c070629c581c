"""Tells workers about rows, after the transaction that made them. A broker that is away costs nothing but time."""

from __future__ import annotations

import json
import logging
from functools import partial
from json import JSONDecodeError
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from submissions.models import Evaluation, Submission
from submissions.subject import about

log = logging.getLogger(__name__)

VALIDATE, SCORE, COMPARE = (f"submissions.tasks.{name}" for name in ("validate", "score", "compare"))
QUEUE = "cpu"


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
        sent = _send(VALIDATE, pk)
    return sent and bool(Submission.objects.filter(pk=pk).update(sent_at=timezone.now()))


def send_evaluation(pk: int) -> bool:
    """Tell the workers about an evaluation. False when the broker did not take the message."""
    with about(evaluation=pk):
        sent = _send(SCORE, pk)
    return sent and bool(Evaluation.objects.filter(pk=pk).update(sent_at=timezone.now()))


def send_comparison(split: int) -> bool:
    """Tell the workers to compare a board. False when the broker did not take the message."""
    with about(split=split):
        return _send(COMPARE, split)


def _send(task: str, pk: int) -> bool:
    try:
        current_app.send_task(task, args=[pk], queue=QUEUE, retry=False)
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
        current_app.amqp.queues[QUEUE].bind(channel).declare()
    log.warning("the broker's tables were torn and are written anew: %s", ", ".join(table.name for table in torn))


def _is_json(table: Path) -> bool:
    try:
        json.loads(table.read_bytes())
    except ValueError:
        return False
    return True
