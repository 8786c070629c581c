"""Boards, people and uploads for the tests of submissions, and a database that several processes can share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sending import DECLARED, BoardUnderTest, WorkerProcess, ranking, upload, worker_environment


@pytest.fixture
def make_board(db: None) -> Callable[..., BoardUnderTest]:
    """Return what freezes a tiny split of some kind as a board of its own."""
    from demo import tiny_split
    from leaderboard.models import Benchmark, Split
    from leaderboard.services.splits import freeze_split

    def make(kind: str = "circo", *, content: Any = None, **columns: Any) -> BoardUnderTest:
        if content is None and columns.get("hidden_truth"):
            content = replace(tiny_split(kind, hidden_truth=True), name=f"tiny-{kind}-hidden")
        content = content or tiny_split(kind)
        benchmark, _ = Benchmark.objects.get_or_create(slug="tiny", defaults={"name": "Tiny"})
        defaults = {"name": content.name, "benchmark": benchmark, **columns}
        split, _ = Split.objects.update_or_create(slug=content.name, defaults=defaults)
        freeze_split(content)
        return BoardUnderTest(split, content)

    return make


@pytest.fixture
def board(make_board: Callable[..., BoardUnderTest]) -> BoardUnderTest:
    return make_board("circo")


@pytest.fixture
def make_user(db: None) -> Callable[[str], Any]:
    """Return what makes a person with a team of one."""
    from accounts.models import User
    from accounts.services import personal_team

    def make(name: str = "ada", **columns: Any) -> Any:
        user = User.objects.create_user(f"{name}@example.org", "a long enough password", **columns)
        personal_team(user)
        return user

    return make


@pytest.fixture
def user(make_user: Callable[[str], Any]) -> Any:
    return make_user("ada")


@pytest.fixture
def send(user: Any, board: BoardUnderTest) -> Callable[..., Any]:
    """Return what uploads a ranking and returns ``Received``."""
    from evaluator.types import Condition
    from submissions.services.package import Package
    from submissions.services.receipt import receive

    def go(lists: Any = None, **changes: Any) -> Any:
        to = changes.pop("to", board)
        runs = changes.pop("runs", None)
        if runs is None:
            lists = ranking(to.content) if lists is None else lists
            runs = {Condition.MULTIMODAL: [upload(lists)]}
        package = changes.pop("package", None) or Package.of_runs(runs)
        arguments = {"user": user, "split": to.split, "method_name": "LinCIR", "declared": DECLARED}
        return receive(**{**arguments, "package": package, **changes})

    return go


@pytest.fixture
def worker(transactional_db: None, tmp_path: Path) -> Iterator[WorkerProcess]:
    """A worker on the test's database and broker, with leases of two seconds; the test starts it."""
    from celery import current_app

    current_app.control.purge()
    running = WorkerProcess(worker_environment(), tmp_path / "worker.log")
    yield running
    running.kill()
    current_app.control.purge()


@pytest.fixture
def sweeper(worker: WorkerProcess, tmp_path: Path) -> Iterator[WorkerProcess]:
    """``manage.py sweep --loop`` in a process of its own, every second; the test starts it."""
    environment = {**worker_environment(), "CIRBOARD_SWEEP_SECONDS": "1"}
    running = WorkerProcess(environment, tmp_path / "sweep.log", ("manage.py", "sweep", "--loop"))
    yield running
    running.kill()
