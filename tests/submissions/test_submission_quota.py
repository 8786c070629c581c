"""The daily quota and the limit on invalid files (decisions 25 and 28; public reports A7 and A8)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from sending import ranking, work

from submissions.models import Quota
from submissions.services import publication, quota
from submissions.services.quota import quota_of, resets_at
from submissions.services.refusals import QuotaExceeded, TooManyFree


def at(instant: datetime) -> Any:
    """A stopped clock."""
    return patch.object(timezone, "now", lambda: instant)


@pytest.mark.django_db(transaction=True)
def test_twenty_uploads_at_once_never_pass_a_limit_of_five(send: Callable[..., Any], board: Any) -> None:
    from django.db import connection

    board.split.daily_quota = 5
    board.split.save()

    def go(seed: int) -> bool:
        try:
            return bool(send(lists=ranking(board.content, seed)).created)
        except QuotaExceeded:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(go, range(20))) == 5
    assert Quota.objects.get().used == 5


@pytest.mark.django_db
def test_the_day_is_a_utc_day(send: Callable[..., Any], board: Any) -> None:
    board.split.daily_quota = 2
    board.split.save()
    late = datetime(2026, 3, 28, 23, 59, 50, tzinfo=UTC)
    with at(late):
        for seed in range(2):
            submission = send(lists=ranking(board.content, seed)).submission
        with pytest.raises(QuotaExceeded) as refusal:
            send(lists=ranking(board.content, 2))
        assert refusal.value.resets_at == datetime(2026, 3, 29, tzinfo=UTC)
        assert quota_of(submission.team, board.split).left == 0
    with at(late + timedelta(seconds=15)):
        assert send(lists=ranking(board.content, 3)).created
        publication.cancel(submission)  # given back to the day it was taken from
        assert quota_of(submission.team, board.split).used == 1
    assert Quota.objects.get(day=late.date()).used == 1


@pytest.mark.parametrize(
    ("day", "after"),
    [
        (date(2026, 1, 31), date(2026, 2, 1)),
        (date(2026, 2, 28), date(2026, 3, 1)),
        (date(2028, 2, 28), date(2028, 2, 29)),
        (date(2026, 4, 30), date(2026, 5, 1)),
        (date(2026, 3, 29), date(2026, 3, 30)),  # summer time begins in Europe: still 24 hours in UTC
        (date(2026, 12, 31), date(2027, 1, 1)),
    ],
)
def test_the_reset_is_the_next_midnight_in_utc(day: date, after: date) -> None:
    assert resets_at(day) == datetime(after.year, after.month, after.day, tzinfo=UTC)
    assert resets_at(day) - datetime(day.year, day.month, day.day, tzinfo=UTC) == timedelta(days=1)


@pytest.mark.django_db
def test_quota_is_given_back_once(send: Callable[..., Any], board: Any) -> None:
    first = send().submission
    send(lists=ranking(board.content, 1))
    assert quota.give_back(first.pk)
    assert not quota.give_back(first.pk)
    assert Quota.objects.get().used == 1


@pytest.mark.django_db
def test_boards_and_teams_are_counted_apart(
    send: Callable[..., Any], board: Any, make_board: Callable[..., Any], make_user: Callable[..., Any]
) -> None:
    other = make_board("pinpoint")
    submission = send().submission
    send(to=other)
    send(user=make_user("grace"))
    assert quota_of(submission.team, board.split).used == 1
    assert Quota.objects.count() == 3


@pytest.mark.django_db
def test_invalid_files_have_a_limit_of_their_own(send: Callable[..., Any], settings: Any) -> None:
    settings.FREE_PER_HOUR = 3
    for number in range(3):
        send(lists={str(number): []})
        work()
    with pytest.raises(TooManyFree) as refusal:
        send()
    with at(refusal.value.retry_at + timedelta(seconds=1)):
        assert send().created
