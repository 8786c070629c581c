"""The child that reads a file: what it may use, and who is told what when it uses more."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sending import ROOT, until, upload, work

from evaluator.types import Condition
from submissions import sandbox
from submissions.sandbox import Allowance

ALLOWED = Allowance(seconds=20, patience=120, memory=2**28, file_bytes=2**20)


def run(work: Callable[[], dict[str, Any]], folder: Path) -> dict[str, Any]:
    return sandbox.run(work, ALLOWED, folder, lambda: None)


def test_it_returns_what_the_work_returns(tmp_path: Path) -> None:
    assert run(lambda: {"pid": os.getpid()}, tmp_path)["pid"] != os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit on memory")
def test_a_memory_hog_is_stopped(tmp_path: Path) -> None:
    def hog() -> dict[str, Any]:
        kept = []
        while True:
            kept.append(bytearray(2**20))

    with pytest.raises(sandbox.TooMuchMemory):
        run(hog, tmp_path)


def test_an_endless_loop_is_stopped(tmp_path: Path) -> None:
    def loop() -> dict[str, Any]:
        while True:
            pass

    with pytest.raises(sandbox.TooMuchTime):
        sandbox.run(loop, replace(ALLOWED, seconds=1), tmp_path, lambda: None)


def test_waiting_for_ever_is_stopped_and_is_ours(tmp_path: Path) -> None:
    with pytest.raises(sandbox.SandboxKilled, match="no answer after 1 s"):
        sandbox.run(lambda: {"slept": time.sleep(600)}, replace(ALLOWED, patience=1), tmp_path, lambda: None)


def test_a_bug_of_ours_comes_back_with_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(sandbox.SandboxCrashed, match="ZeroDivisionError"):
        run(lambda: {"never": 1 // 0}, tmp_path)


def test_a_kill_from_outside_is_ours_and_may_pass(tmp_path: Path) -> None:
    def die() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    with pytest.raises(sandbox.SandboxKilled):
        run(die, tmp_path)


def test_a_file_beyond_the_limit_is_not_written(tmp_path: Path) -> None:
    def write() -> dict[str, Any]:
        (tmp_path / "large").write_bytes(b"x" * 2**22)
        return {}

    with pytest.raises(sandbox.SandboxCrashed, match="File too large"):
        run(write, tmp_path)
    assert (tmp_path / "large").stat().st_size <= ALLOWED.file_bytes


def test_it_has_no_connection_of_its_parent(tmp_path: Path) -> None:
    with socket.socket() as open_here:
        number = open_here.fileno()

        def look() -> dict[str, Any]:
            try:
                os.fstat(number)
            except OSError:
                return {"open": False}
            return {"open": True}

        assert run(look, tmp_path) == {"open": False}
        os.fstat(number)


def test_what_the_tick_raises_ends_the_child(tmp_path: Path) -> None:
    pids: list[int] = []

    class StopError(Exception):
        pass

    def tick() -> None:
        if (tmp_path / "pid").exists():
            pids.append(int((tmp_path / "pid").read_text()))
            raise StopError

    def busy() -> dict[str, Any]:
        (tmp_path / "part").write_text(str(os.getpid()))
        (tmp_path / "part").rename(tmp_path / "pid")
        time.sleep(60)
        return {}

    with pytest.raises(StopError):
        sandbox.run(busy, ALLOWED, tmp_path, tick)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can ask for it")
def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = f"""
import os, time
from pathlib import Path
from submissions import sandbox
folder = Path({str(tmp_path)!r})
def work():
    (folder / "part").write_text(str(os.getpid()))
    (folder / "part").rename(folder / "pid")
    time.sleep(60)
    return {{}}
sandbox.run(work, sandbox.Allowance(60, 60, 2**28, 2**20), folder, lambda: None)
"""
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as parent:
        child = int(until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
        parent.kill()
    until(lambda: _is_gone(child))


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.django_db
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit on memory")
def test_a_file_that_needs_too_much_memory_is_its_authors_fault(send: Any, board: Any, settings: Any) -> None:
    """Far above what a parent may have freed: that the child has for nothing, and what is smaller does fit there."""
    settings.READ_MEMORY_BYTES = 2**24
    content = gzip.compress(b'{"0": ["a"' + b" " * (180 * 2**20) + b"]}", 1)
    submission = send(runs={Condition.MULTIMODAL: [upload(content, "huge.json")]}).submission
    work()
    submission.refresh_from_db()
    (fault,) = submission.faults
    assert (submission.state, fault["code"], fault["file"]) == ("invalid", "needs-memory", "huge.json")
    assert "16 MiB" in fault["found"]
