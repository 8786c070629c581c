"""What is lost is taken up again, and what waits too long ends in words (decision 27; public reports A1 and A2)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.utils import timezone
from sending import ROOT, worker_environment

from submissions import liveness, selectors
from submissions.models import Evaluation, Submission
from submissions.services import failures, states, validation
from submissions.services.quota import quota_of
from submissions.services.sweep import Swept, sweep

pytestmark = pytest.mark.django_db


def later(**by: float) -> Any:
    """A clock that is ahead."""
    instant = timezone.now() + timedelta(**by)
    return patch.object(timezone, "now", lambda: instant)


def test_an_expired_lease_is_taken_back_and_fails_after_the_third(send: Callable[..., Any], settings: Any) -> None:
    submission = send().submission
    for attempt in range(1, settings.ATTEMPTS + 1):
        claim = states.claim_submission(submission.pk)
        assert claim is not None
        assert claim.attempt == attempt
        assert sweep().taken_back == 0  # the lease still runs
        with later(seconds=settings.LEASE_SECONDS + 1):
            swept = sweep()
        assert (swept.taken_back, swept.failed) == ((1, 0) if attempt < settings.ATTEMPTS else (0, 1))
    submission.refresh_from_db()
    assert (submission.state, submission.quota_state) == ("failed", "returned")
    assert submission.reference in submission.reason


def test_an_expired_scoring_is_taken_back_and_its_late_worker_writes_nothing(
    send: Callable[..., Any], settings: Any
) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    slow = states.claim_evaluation(evaluation.pk)
    assert slow is not None
    with later(seconds=settings.LEASE_SECONDS + 1):
        sweep()
    assert states.claim_evaluation(evaluation.pk) is not None
    with pytest.raises(states.ClaimLost):
        states.renew(slow)
    assert not states.give_back(slow)
    assert failures.fail(slow.held(), states.EVALUATION, "late") == ""


def test_a_lease_that_is_renewed_is_left_alone(send: Callable[..., Any], settings: Any) -> None:
    claim = states.claim_submission(send().submission.pk)
    assert claim is not None
    keeper = failures.LeaseKeeper(claim)
    for step in range(1, 6):
        with later(seconds=step * settings.LEASE_SECONDS / 2):
            keeper()
            assert sweep() == Swept(0, 0, 0, 0)


def test_what_waits_too_long_fails_with_a_reason(send: Callable[..., Any], settings: Any, board: Any) -> None:
    waiting = send().submission
    checked = send(method_name="Another").submission
    validation.validate(checked.pk)
    with later(seconds=settings.QUEUE_SECONDS + 1):
        assert sweep().failed == 2
    waiting.refresh_from_db()
    evaluation = checked.evaluations.get()
    assert (waiting.state, evaluation.state) == ("failed", "failed")
    assert "our side" in waiting.reason
    assert "our side" in evaluation.reason
    assert quota_of(waiting.team, board.split).used == 0


def test_no_message_is_sent_again_while_nobody_works(send: Callable[..., Any]) -> None:
    Submission.objects.filter(pk=send().submission.pk).update(sent_at=timezone.now())
    with later(hours=1):
        assert sweep().sent == 0
        liveness.beat("cpu@here", ["cpu"])
    with patch.object(liveness, "living_workers", lambda queue: [queue]), later(hours=1):
        assert sweep().sent == 1
        assert sweep().sent == 0


def test_a_message_that_was_never_sent_is_sent(send: Callable[..., Any]) -> None:
    submission = send().submission
    assert submission.sent_at is None  # the test's transaction never commits
    assert sweep().sent == 1
    assert sweep().sent == 0


@pytest.mark.django_db(transaction=True)
def test_ten_sweeps_at_once_do_what_one_does(send: Callable[..., Any], settings: Any) -> None:
    from django.db import connection

    submission = send().submission
    assert states.claim_submission(submission.pk) is not None
    Submission.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    def go(_: int) -> Swept:
        try:
            return sweep()
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        swept = list(pool.map(go, range(10)))
    assert sum(one.taken_back for one in swept) == 1
    assert sum(one.sent for one in swept) == 1


@pytest.mark.django_db(transaction=True)
def test_of_ten_claims_at_once_one_holds(send: Callable[..., Any]) -> None:
    from django.db import connection

    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()

    def go(_: int) -> bool:
        try:
            return states.claim_evaluation(evaluation.pk) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(go, range(10))) == 1
    evaluation.refresh_from_db()
    assert evaluation.attempt == 1


@pytest.mark.parametrize("state", Submission.FINAL)
def test_nothing_leaves_a_final_state(send: Callable[..., Any], state: str) -> None:
    submission = send().submission
    claim = states.claim_submission(submission.pk)
    assert claim is not None
    states.finish(claim, state, faults=[{"code": "x"}], reference="E-1", reason="so")
    assert states.claim_submission(submission.pk) is None
    assert not states.give_back(claim)
    assert states.cancel(states.SUBMISSION, Submission.objects.filter(pk=submission.pk), "no") == 0
    with pytest.raises(states.ClaimLost):
        states.finish(claim, Submission.State.VALID)
    submission.refresh_from_db()
    assert submission.state == state


def test_messages_about_nothing_do_nothing(send: Callable[..., Any]) -> None:
    from submissions.services import evaluations

    validation.validate(4711)
    evaluations.score(4711)
    assert not Evaluation.objects.exists()


def test_the_status_says_when_nobody_works(send: Callable[..., Any], settings: Any) -> None:
    submission = send().submission
    found = selectors.status()
    assert (found.healthy, found.waiting, found.oldest) == (False, 1, submission.received_at)
    assert "No worker for queue cpu" in found.sentence
    liveness.beat("cpu@here", ["cpu"])
    assert selectors.status().healthy
    with later(seconds=settings.WORKER_SILENCE_SECONDS + 1):
        assert not selectors.status().healthy
    assert settings.WORKER_SILENCE_SECONDS <= 60
    liveness.beat("gpu@here", ["gpu"])
    liveness.forget("cpu@here")
    assert not selectors.status().healthy


def test_a_worker_that_stops_stays_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A beat under way at the stop once wrote the file again: the status page went on for half a minute."""
    monkeypatch.setattr(liveness, "BEAT_SECONDS", 0)
    for turn in range(20):
        heart = liveness.Heart(f"cpu@{turn}", ["cpu"])
        heart.start()
        assert liveness.living_workers("cpu")
        heart.stop()
        assert not liveness.known_workers()


def test_a_torn_table_of_the_folder_broker_is_written_anew(settings: Any) -> None:
    """A full disk, or two first starts at once, once left it empty: every upload was a 500, and no worker started."""
    environment = {**worker_environment(), "CIRBOARD_BROKER_URL": "filesystem://localhost"}
    code = """
import django; django.setup()
from submissions.services import dispatch
print(dispatch.send_comparison(1))
"""

    def sends() -> str:
        return subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    assert sends() == "True"
    table = settings.BROKER_FOLDER / "control" / "cpu.exchange"
    whole = table.read_text()
    table.write_text("")
    assert [sends(), sends()] == ["False", "True"]
    assert table.read_text() == whole
    for message in settings.BROKER_FOLDER.glob("messages/*"):
        message.unlink()
