"""How many submissions a team may still have scored on a board today (decision 28).

The day is a UTC day. The row of :class:`submissions.models.Quota` is the lock: reserving is one conditional UPDATE, so
any number of requests at once never get more than the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, F, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import Team
from leaderboard.models import Split
from submissions.models import Quota, Submission
from submissions.services.refusals import QuotaExceeded, TooManyFree


@dataclass(frozen=True)
class QuotaView:
    """What the page says: so many a day, so many used, so many left, and when the count starts anew."""

    limit: int
    used: int
    left: int
    resets_at: datetime


def limit_of(split: Split) -> int:
    """Return how many submissions a team may have scored on ``split`` in a UTC day."""
    return settings.QUOTA_PER_DAY if split.daily_quota is None else split.daily_quota


def today() -> date:
    """Return the UTC day."""
    return timezone.now().astimezone(UTC).date()


def resets_at(day: date) -> datetime:
    """Return the instant when the count of ``day`` ends: the next midnight in UTC."""
    return datetime.combine(day + timedelta(days=1), time(), UTC)


def quota_of(team: Team, split: Split) -> QuotaView:
    """Return where the team stands today."""
    day, limit = today(), limit_of(split)
    used = Quota.objects.filter(split=split, team=team, day=day).values_list("used", flat=True).first() or 0
    return QuotaView(limit, used, max(0, limit - used), resets_at(day))


def reserve(team: Team, split: Split) -> date:
    """Take one of today's submissions and return the day. Raises QuotaExceeded. Call it inside the transaction that
    creates the submission, so that either both happen or neither.
    """
    day, limit = today(), limit_of(split)
    row, _ = Quota.objects.get_or_create(split=split, team=team, day=day)
    if not Quota.objects.filter(pk=row.pk, used__lt=limit).update(used=F("used") + 1):
        raise QuotaExceeded(resets_at(day), limit)
    return day


def use(submission: int) -> None:
    """Scoring began: what was reserved is used, and cancelling no longer gives it back (public report A7)."""
    _move(submission, (Submission.QuotaState.RESERVED,), Submission.QuotaState.USED)


@transaction.atomic
def give_back(submission: int) -> bool:
    """Return a submission's quota to the day it was taken from, once. False when it was returned before."""
    taken = (Submission.QuotaState.RESERVED, Submission.QuotaState.USED)
    if not _move(submission, taken, Submission.QuotaState.RETURNED):
        return False
    row = Submission.objects.get(pk=submission)
    counted = Quota.objects.filter(split=row.split_id, team=row.team_id, day=row.quota_day, used__gt=0)
    counted.update(used=F("used") - 1)
    return True


def _move(submission: int, before: tuple[str, ...], after: str) -> bool:
    rows = Submission.objects.filter(pk=submission, quota_state__in=before)
    return bool(rows.update(quota_state=after))


def refuse_after_too_many_free(team: Team) -> None:
    """Raise TooManyFree when the team's last hour holds its limit of files that cost no quota (decision 25).

    Invalid, only checked or cancelled in time: each costs a worker's time, dry runs that wait as well. A failure of
    ours is not counted.
    """
    hour, now = timedelta(hours=1), timezone.now()
    limit = settings.FREE_PER_HOUR
    free = Submission.objects.filter(team=team, quota_state=Submission.QuotaState.RETURNED, evaluations__isnull=True)
    recent = (
        free.exclude(state=Submission.State.FAILED)
        .annotate(until=Coalesce("finished_at", Value(now, DateTimeField())))
        .filter(until__gt=now - hour)
        .order_by("-until")
    )
    at_limit = recent.values_list("until", flat=True)[limit - 1 : limit].first()
    if at_limit is not None:
        raise TooManyFree(at_limit + hour)
