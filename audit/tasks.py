"""Celery tasks: fetch, call, report. Doing one twice does nothing more."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from audit.models import Job
from audit.services import running
from leaderboard.subject import about

_LIMIT = settings.AUDIT_SECONDS + 60
"""Beyond what the service itself holds to."""


# Acknowledged early, since the row is the truth: a broker must not send it again because it takes days.
@shared_task(acks_late=False, soft_time_limit=_LIMIT, time_limit=_LIMIT + 60)
def run(job: int) -> None:
    """Run an encoder over a split."""
    split = Job.objects.filter(pk=job).values_list("version__split__slug", flat=True).first()
    with about(job=job, split=split):
        running.run(job)
