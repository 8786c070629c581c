"""Children are started again when they die, with growing pauses, and stop together."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _house import children
from _house.children import Child, Supervisor

SLEEP = "import time; time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)
PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); sys.exit(3)"


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str], clock: Clock) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path, dict(os.environ), said.append, clock=clock)
    yield made
    made.stop()


def add(supervisor: Supervisor, code: str) -> Child:
    supervisor.add("worker", [sys.executable, "-c", code], supervisor.root / "log" / "worker.log")
    return supervisor.children[-1]


def wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not until():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def pid_of(child: Child) -> int:
    assert child.process is not None
    return child.process.pid


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def die(supervisor: Supervisor, child: Child) -> None:
    """Kill the child and let the supervisor notice."""
    process = child.process
    assert process is not None
    process.kill()
    process.wait()
    supervisor.look()
    assert child.process is None


def test_a_dead_child_is_started_again_after_its_pause(supervisor: Supervisor, said: list[str], clock: Clock) -> None:
    child = add(supervisor, SLEEP)
    first = pid_of(child)
    die(supervisor, child)
    assert said == [f"worker ended by itself (signal SIGKILL) and starts again in 1 s; see {child.log}"]
    clock.now += 0.9
    supervisor.look()
    assert child.process is None
    clock.now += 0.2
    supervisor.look()
    assert pid_of(child) != first


def test_pauses_grow_to_a_bound_and_a_steady_life_starts_them_anew(supervisor: Supervisor, clock: Clock) -> None:
    child = add(supervisor, SLEEP)
    pauses = []
    for _ in range(7):
        die(supervisor, child)
        pauses.append(child.start_at - clock.now)
        clock.now = child.start_at
        supervisor.look()
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    clock.now += children.STEADY_SECONDS
    die(supervisor, child)
    assert child.start_at - clock.now == 1


def test_what_a_dead_child_left_behind_is_ended(supervisor: Supervisor, said: list[str]) -> None:
    child = add(supervisor, PARENT)
    group = pid_of(child)
    wait(lambda: bool(supervisor.look() or said))
    assert "exit status 3" in said[0]
    with pytest.raises(ProcessLookupError):
        wait(lambda: os.killpg(group, 0) is not None)  # a killed orphan may take a moment to be reaped


def test_stop_ends_all_children_in_order(supervisor: Supervisor) -> None:
    pids = [pid_of(add(supervisor, SLEEP)) for _ in range(3)]
    supervisor.stop()
    assert all(is_gone(pid) for pid in pids)


def test_stop_kills_a_child_that_does_not_listen(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "GRACE_SECONDS", 0.3)
    child = add(supervisor, STUBBORN)
    wait(lambda: "ready" in child.log.read_text())
    pid = pid_of(child)
    started = time.monotonic()
    supervisor.stop()
    assert is_gone(pid)
    assert time.monotonic() - started < 5


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, supervisor: Supervisor) -> None:
    monkeypatch.setattr(children, "LOG_BYTES", 10)
    log = tmp_path / "log" / "worker.log"
    log.parent.mkdir()
    log.write_text("an older and longer log")
    add(supervisor, SLEEP)
    assert log.read_text() == ""
    assert (tmp_path / "log" / "worker.log.1").read_text() == "an older and longer log"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children whose parent was killed")
def test_children_end_when_the_parent_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from _house.children import Supervisor; import os\n"
        f"s = Supervisor(Path({str(tmp_path)!r}), dict(os.environ), print)\n"
        f"s.add('worker', [sys.executable, '-c', {SLEEP!r}], Path({str(tmp_path / 'log')!r}))\n"
        "print(s.children[0].process.pid, flush=True); time.sleep(60)"
    )
    import subprocess

    environment = {**os.environ, "PYTHONPATH": str(Path(children.__file__).parent.parent)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    wait(lambda: is_gone(child) or Path(f"/proc/{child}/stat").read_text().split()[2] == "Z")
    assert parent.returncode == -signal.SIGKILL
