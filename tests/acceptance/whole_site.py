"""A whole site with the processes of ``bin/serve``, a state folder of its own, and an eye on their memory."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from _house import ports, serve
from sending import ROOT, until

MIB = 2**20
PASSWORD = "correct horse battery"
_USER = """
from accounts.models import User
from accounts.services import personal_team
from allauth.account.models import EmailAddress
user = User.objects.create_user({email!r}, {password!r})
EmailAddress.objects.create(user=user, email={email!r}, verified=True, primary=True)
personal_team(user)
"""


@dataclass
class Site:
    """Web, worker and sweep, as a person starts them."""

    var: Path
    port: int = field(default_factory=ports.free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        more = {"CIRBOARD_VAR": str(self.var), "CIRBOARD_SITE_URL": f"http://localhost:{self.port}"}
        return {**os.environ, **more, "DJANGO_SETTINGS_MODULE": "config.settings"}

    def manage(self, *arguments: str) -> None:
        """Run a management command."""
        command = [sys.executable, "manage.py", *arguments]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def add_user(self, email: str) -> None:
        self.manage("shell", "--no-imports", "--command", _USER.format(email=email, password=PASSWORD))

    def start(self) -> None:
        for name, command in serve.commands(Path(sys.executable), self.port).items():
            with (self.var / f"{name}.log").open("wb") as log:
                self.processes[name] = subprocess.Popen(
                    command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
                )
        until(lambda: serve.start_page(self.port) == 200)

    def stop(self) -> None:
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@dataclass
class Memory:
    """The most that the processes below each of some parents held at once, in bytes.

    Mapped files are not counted: their pages are the disk's, and go when somebody else needs the place.
    """

    parents: dict[str, int]
    start: dict[str, int] = field(default_factory=dict)
    peak: dict[str, int] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        while not self._over.wait(0.05):
            for name, held in self._held().items():
                self.start.setdefault(name, held)
                self.peak[name] = max(held, self.peak.get(name, 0))

    def end(self) -> None:
        self._over.set()

    def growth(self, name: str) -> float:
        """Return by how much a part of the site grew, in MiB."""
        return (self.peak[name] - self.start[name]) / MIB

    def _held(self) -> dict[str, int]:
        rows = list(_processes())
        return {name: sum(held for pid, held in rows if pid in _below(parent)) for name, parent in self.parents.items()}


@contextmanager
def watched(site: Site) -> Iterator[Memory]:
    """Look at the memory of web and worker while the block runs (Linux)."""
    memory = Memory({name: process.pid for name, process in site.processes.items()})
    thread = threading.Thread(target=memory.watch, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        memory.end()
        thread.join()


def _processes() -> Iterator[tuple[int, int]]:
    """Yield every process with the bytes that are its own."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            lines = (folder / "status").read_text().splitlines()
            anonymous = next((line for line in lines if line.startswith("RssAnon:")), "RssAnon: 0")
            yield int(folder.name), int(anonymous.split()[1]) * 1024


def _below(parent: int) -> set[int]:
    """Return a process and all its descendants."""
    found, waiting = set(), [parent]
    while waiting:
        pid = waiting.pop()
        found.add(pid)
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                waiting += map(int, task.read_text().split())
    return found
