"""What a Celery worker does when it starts and stops: it says that it is there, and sweeps once."""

from __future__ import annotations

import logging
from typing import Any

from celery.signals import worker_init, worker_ready, worker_shutdown
from django.db import DatabaseError, connections

from submissions import liveness
from submissions.services.dispatch import GPU, mend_broker
from submissions.services.leftovers import remove_leftovers
from submissions.services.sweep import sweep_all

log = logging.getLogger(__name__)

_hearts: dict[str, liveness.Heart] = {}
"""Name of the worker in this process -> what says that it lives."""


@worker_init.connect(dispatch_uid="cirboard-worker-init")
def mend(**_: Any) -> None:
    """Make sure that it can start."""
    mend_broker()


@worker_ready.connect(dispatch_uid="cirboard-worker-ready")
def say_hello(sender: Any, **_: Any) -> None:
    """Begin to beat, and take up what an earlier worker left lying."""
    queues = [queue.name for queue in sender.task_consumer.queues]
    look = liveness.device_here if GPU in queues else None
    _hearts[sender.hostname] = heart = liveness.Heart(sender.hostname, queues, look)
    heart.start()
    try:
        sweep_all()
        remove_leftovers()
    except DatabaseError:
        log.exception("the sweep at the start of the worker broke off; the next one will do its work")
    finally:
        connections.close_all()


@worker_shutdown.connect(dispatch_uid="cirboard-worker-shutdown")
def say_goodbye(sender: Any, **_: Any) -> None:
    """Stop beating, so that the status page knows at once."""
    if heart := _hearts.pop(sender.hostname, None):
        heart.stop()
