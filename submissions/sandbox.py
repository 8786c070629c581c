"""Runs one function in a forked child that may not use more than so much time and memory.

A worker forks it while warm, so that it starts in milliseconds with the split in memory. The child gives up every open
file and connection, dies with its parent, and answers with a file of JSON. Where the kernel does not enforce a limit on
memory (macOS), the reader's own limits (``evaluator.formats.Limits``) are what holds.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

Work = Callable[[], dict[str, Any]]
Tick = Callable[[], None]

_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_OUT_OF_MEMORY = 3
_CRASHED = 4
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Allowance:
    """What the child may use."""

    seconds: int
    """Processor time."""
    patience: int
    """Seconds by the clock, of which a busy machine takes many, before the child counts as stuck."""
    memory: int | None
    """Bytes beyond what its parent had already; None where the work keeps to its own bounds, as on a GPU, whose driver
    reserves more address space than any machine has memory."""
    file_bytes: int
    """The largest file it may write."""


class TooMuchTime(Exception):  # noqa: N818 (a verdict)
    """The work needed more processor time than it was allowed."""


class TooMuchMemory(Exception):  # noqa: N818 (a verdict)
    """The work needed more memory than it was allowed."""


class SandboxCrashed(Exception):  # noqa: N818 (a verdict)
    """The child ended in a way that is not the work's fault; holds its traceback where there is one."""


class SandboxKilled(SandboxCrashed):
    """Something outside ended the child, or it was stuck: another attempt may go better."""

    def __init__(self, told: str, number: int = 0) -> None:
        super().__init__(told)
        self.signal = number
        """What ended it: SIGKILL is also how the kernel takes memory back. 0: it was stuck."""


def run(work: Work, allowed: Allowance, folder: Path, tick: Tick) -> dict[str, Any]:
    """Return what ``work`` returns, which must be JSON, from a child process that may write into ``folder``.

    ``tick`` is called while waiting; what it raises ends the child. Raises TooMuchTime, TooMuchMemory, SandboxCrashed.
    """
    answer = folder / "answer.json"
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be_the_child(work, allowed, answer, parent)
    status = _wait(child, allowed.patience, tick)
    return _answer(status, answer)


def _wait(child: int, seconds: float, tick: Tick) -> int:
    """Return the child's exit status; end it when it takes too long or when anything is raised meanwhile."""
    deadline = time.monotonic() + seconds
    ended = False
    try:
        while time.monotonic() < deadline:
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                ended = True
                return os.waitstatus_to_exitcode(status)
            tick()
            time.sleep(_POLL_SECONDS)
    finally:
        if not ended:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    raise SandboxKilled(f"no answer after {seconds:.0f} s, although its processor time was not used up")


def _answer(code: int, answer: Path) -> dict[str, Any]:
    if code == -signal.SIGXCPU:
        raise TooMuchTime
    if code == _OUT_OF_MEMORY:
        raise TooMuchMemory
    if code == 0:
        result: dict[str, Any] = json.loads(answer.read_text())
        return result
    if code < 0:
        raise SandboxKilled(f"the child was ended by signal {-code}", -code)
    told = answer.read_text() if code == _CRASHED and answer.exists() else ""
    raise SandboxCrashed(f"the child ended with status {code}\n{told}")


def _be_the_child(work: Work, allowed: Allowance, answer: Path, parent: int) -> NoReturn:
    """Do the work and end; never return into the parent's code, whatever happens."""
    code = _CRASHED
    try:
        gc.freeze()  # nothing the parent made is finalised here: its connections stay its own
        _cut_off(parent)
        _limit(allowed)
        result = json.dumps(work())
        answer.write_text(result)
        code = 0
    except BaseException as error:  # noqa: BLE001 (the child's outermost frame: its only way to tell what happened)
        if isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM:
            code = _OUT_OF_MEMORY
        with contextlib.suppress(OSError, MemoryError):
            answer.write_text(traceback.format_exc())
    finally:
        os._exit(code)


def _cut_off(parent: int) -> None:
    """Die with the parent, take the default for every signal, close all inherited files but the standard ones."""
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(_CRASHED)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    os.closerange(3, _highest_file())


def _highest_file() -> int:
    with contextlib.suppress(OSError):
        return max(int(name) for name in os.listdir("/dev/fd")) + 1  # noqa: PTH208 (names alone are wanted)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(soft, 65_536)


def _limit(allowed: Allowance) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = allowed.seconds + int(used.ru_utime + used.ru_stime)
    _lower(resource.RLIMIT_CPU, seconds, seconds + 5)
    _lower(resource.RLIMIT_FSIZE, allowed.file_bytes, allowed.file_bytes)
    # Elsewhere than on Linux it counts what cannot be known here, or is not enforced.
    if sys.platform == "linux" and allowed.memory is not None:
        memory = _address_space() + allowed.memory
        _lower(resource.RLIMIT_AS, memory, memory)


def _lower(limit: int, soft: int, hard: int) -> None:
    """Set a limit, below the one that is in force where that is lower already."""
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(limit, (soft, hard))


def _address_space() -> int:
    """Return how much address space the process has already, in bytes (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
