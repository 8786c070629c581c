"""Real workers on a real broker: redelivery, kill -9, restarts (public reports A1, A2 and A4)."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from sending import WorkerProcess, good_ranking, ranking, until, upload

from demo import build
from evaluator.types import Condition
from leaderboard.models import Comparison, Entry, Score
from submissions import selectors
from submissions.models import Evaluation, Quota, Submission
from submissions.services import dispatch, publication

pytestmark = pytest.mark.django_db(transaction=True)

KILLS = 10
SENT = 20
"""More than are killed: some end before the kill."""


def ended() -> bool:
    return (
        not Submission.objects.exclude(state__in=Submission.FINAL).exists()
        and not Evaluation.objects.exclude(state__in=Evaluation.FINAL).exists()
    )


def times(evaluation: Evaluation) -> tuple[datetime | None, datetime | None, int]:
    evaluation.refresh_from_db()
    return evaluation.started_at, evaluation.finished_at, evaluation.attempt


def test_a_worker_takes_what_waits_and_redelivery_is_harmless(
    send: Callable[..., Any], board: Any, worker: WorkerProcess
) -> None:
    first = send(lists=good_ranking(board.content)).submission
    second = send(lists=ranking(board.content), method_name="Another").submission
    wrong = send(lists={"0": ["x"]}, method_name="Third").submission
    assert not selectors.status().healthy
    for _ in range(3):  # delivered several times before anybody works: concurrently, as far as a worker can tell
        dispatch.send_submission(first.pk)
    worker.start()
    until(ended)
    wrong.refresh_from_db()
    order = [first.evaluations.get().started_at, second.evaluations.get().started_at]
    assert order == sorted(order), "what waited is taken in order"
    assert wrong.state == "invalid"
    evaluation = first.evaluations.get()
    before = times(evaluation)
    scores = Score.objects.count()
    for _ in range(2):  # and again after success
        dispatch.send_submission(first.pk)
        dispatch.send_evaluation(evaluation.pk)
    publication.publish(first)
    publication.publish(second)
    until(Comparison.objects.exists)  # sent last, so everything before it was delivered
    assert times(evaluation) == before
    assert (Entry.objects.count(), Score.objects.count()) == (2, scores)
    assert "nothing to do" in worker.text()
    assert Comparison.objects.get().entry == second.evaluations.get().entry
    assert selectors.status().healthy
    worker.stop()
    assert not selectors.status().healthy


@pytest.mark.slow
def test_killing_the_worker_ten_times_while_it_scores_loses_and_doubles_nothing(
    send: Callable[..., Any],
    make_board: Callable[..., Any],
    worker: WorkerProcess,
    sweeper: WorkerProcess,
    settings: Any,
) -> None:
    """``kill -9`` of the whole process group at ten different moments of scoring; leases of two seconds."""
    demo = make_board(content=build("pinpoint"), daily_quota=SENT)
    sent = [_send_three_runs(send, demo, seed) for seed in range(SENT)]
    sweeper.start()
    worker.start()
    undisturbed = until(Evaluation.objects.filter(state=Evaluation.State.SCORED).first)
    worker.kill()
    takes = (undisturbed.finished_at - undisturbed.started_at).total_seconds()
    interrupted = 0
    while interrupted < KILLS:  # one that came too late interrupted nothing, and is tried again
        interrupted += _kill_while_scoring(worker, after=0.6 * takes * interrupted / KILLS)
    worker.start()
    until(ended, every=0.3)
    assert [submission.evaluations.count() for submission in sent] == [1] * len(sent)
    _everything_is_there_once()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the child in /proc")
def test_killing_only_the_pool_child_loses_and_doubles_nothing(
    send: Callable[..., Any], make_board: Callable[..., Any], worker: WorkerProcess, sweeper: WorkerProcess
) -> None:
    """As the kernel does when memory runs out (public report A2): the parent lives on, and takes it up again."""
    demo = make_board(content=build("pinpoint"))
    submission = _send_three_runs(send, demo, 0)
    sweeper.start()
    worker.start()
    evaluation = until(Evaluation.objects.filter(state=Evaluation.State.SCORING).first, every=0.005)
    assert worker.process is not None
    for child in _children(worker.process.pid):
        os.kill(child, signal.SIGKILL)
    until(ended, every=0.1)
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.attempt) == (Evaluation.State.SCORED, 2)
    assert worker.process.poll() is None
    assert (submission.evaluations.count(), Entry.objects.count(), Quota.objects.get().used) == (1, 1, 1)
    assert "was lost with its worker" in sweeper.text() + worker.text()


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if path.read_text().rpartition(")")[2].split()[1] == str(pid):
                found.append(int(path.parent.name))
    return found


def _send_three_runs(send: Callable[..., Any], board: Any, seed: int) -> Submission:
    runs = {key: [upload(ranking(board.content, 10 * seed + turn))] for turn, key in enumerate(Condition)}
    submission: Submission = send(to=board, method_name=f"m{seed}", runs=runs).submission
    return submission


def _kill_while_scoring(worker: WorkerProcess, after: float) -> bool:
    """Start a worker, kill it ``after`` seconds into its scoring; return whether that interrupted an evaluation."""
    begin = timezone.now()
    worker.start()
    new = Evaluation.objects.filter(state=Evaluation.State.SCORING, started_at__gt=begin)
    evaluation = until(new.first, every=0.005)
    time.sleep(after)
    worker.kill()
    evaluation.refresh_from_db()
    return bool(evaluation.state == Evaluation.State.SCORING)


def _everything_is_there_once() -> None:
    evaluations = Evaluation.objects.all()
    scored = evaluations.filter(state=Evaluation.State.SCORED)
    failed = evaluations.filter(state=Evaluation.State.FAILED)
    assert failed.count() == 0, [evaluation.reason for evaluation in failed]
    assert scored.count() == SENT
    assert Entry.objects.count() == SENT
    counts = {entry.scores.count() for entry in Entry.objects.all()}
    assert len(counts) == 1
    assert Quota.objects.get().used == SENT
