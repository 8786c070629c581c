"""Keeps a few processes alive: starts again what died, with growing pauses, and stops all of them together."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

STEADY_SECONDS = 60.0
"""Whoever lived that long is well again: its next death counts as the first."""
LONGEST_PAUSE = 30.0
GRACE_SECONDS = 10.0
"""How long a child may take to stop before it is killed. What the worker had in hand is swept up at the next start."""
TICK = 0.2
LOG_BYTES = 10 * 2**20

Say = Callable[[str], None]


@dataclass
class Child:
    """One process to keep alive. Its output goes to ``log``."""

    name: str
    command: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    deaths: int = 0
    start_at: float = 0.0
    """When to start it, by the supervisor's clock; only read while it is not running."""


@dataclass
class Supervisor:
    """Starts, watches and stops children. One thread: whoever waits for something calls :meth:`look` meanwhile."""

    root: Path
    environment: Mapping[str, str]
    say: Say
    clock: Callable[[], float] = time.monotonic
    children: list[Child] = field(default_factory=list)

    def add(self, name: str, command: list[str], log: Path) -> None:
        """Start a process and keep it alive."""
        _rotate(log)
        self.children.append(Child(name, command, log, start_at=self.clock()))
        self.look()

    def look(self) -> None:
        """Notice who died, and start whoever's pause is over."""
        for child in self.children:
            if child.process is not None and child.process.poll() is not None:
                self._bury(child)
            if child.process is None and self.clock() >= child.start_at:
                self._start(child)

    def watch(self, until: Callable[[], bool] = lambda: False) -> None:
        """Look after the children until ``until`` says so."""
        while not until():
            self.look()
            time.sleep(TICK)

    def stop(self) -> None:
        """Ask all children to stop, and kill those that do not within the grace."""
        running = [child.process for child in self.children if child.process is not None]
        self.children.clear()
        for process in running:
            process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        try:
            while any(process.poll() is None for process in running) and time.monotonic() < deadline:
                time.sleep(TICK / 2)
        finally:  # also when a second Ctrl-C cuts the waiting short
            for process in running:
                _kill_group(process)

    def _start(self, child: Child) -> None:
        with child.log.open("ab") as log:
            child.process = subprocess.Popen(
                child.command,
                cwd=self.root,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches this process only, which then stops them in order
                preexec_fn=_die_with_parent,  # noqa: PLW1509 (there is one thread)
            )
        child.started_at = self.clock()

    def _bury(self, child: Child) -> None:
        process, child.process = child.process, None
        if process is None:
            return
        _kill_group(process)  # what it left behind
        if self.clock() - child.started_at >= STEADY_SECONDS:
            child.deaths = 0
        pause = min(2.0**child.deaths, LONGEST_PAUSE)
        child.deaths += 1
        child.start_at = self.clock() + pause
        how = _how(process.returncode)
        self.say(f"{child.name} ended by itself ({how}) and starts again in {pause:.0f} s; see {child.log}")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS says the latter of zombies
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _die_with_parent() -> None:
    """Ask Linux to stop the child when this process is killed without a chance to do it itself."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _rotate(log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(log.suffix + ".1"))
