"""Which workers are alive: each keeps a small file fresh in the state folder, for the status page and the sweep.

A file, because it needs neither broker nor database and a forked child inherits no lock from the thread that writes it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

log = logging.getLogger(__name__)

BEAT_SECONDS = 5
NO_GPU = "no GPU"
_LOOK = "from evaluator.search import devices; print(', '.join(devices.gpu_names()))"
_LOOK_SECONDS = 300


@dataclass(frozen=True)
class Worker:
    """One worker process that was heard of."""

    name: str
    queues: tuple[str, ...]
    seen_at: datetime
    device: str = ""
    """What it ranks vectors on, such as "NVIDIA H200"; :data:`NO_GPU`, or empty while that is not known."""


def folder() -> Path:
    """Return where workers leave their files."""
    return Path(settings.VAR) / "workers"


def beat(name: str, queues: Iterable[str], device: str = "") -> None:
    """Say that this worker is alive."""
    path = _file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    now = datetime.now(UTC).isoformat()
    part.write_text(json.dumps({"name": name, "queues": sorted(queues), "seen_at": now, "device": device}))
    part.replace(path)


def forget(name: str) -> None:
    """Say that this worker has stopped in good order."""
    _file_of(name).unlink(missing_ok=True)


def _file_of(name: str) -> Path:
    return folder() / f"{re.sub(r'[^A-Za-z0-9@._-]', '_', name)}.json"


def device_here() -> str:
    """Return the names of the GPUs that torch sees on this machine, or :data:`NO_GPU`.

    Asked in a process of its own, and where torch is installed: a worker must not hold CUDA when it forks. Empty where
    that process fails.
    """
    if importlib.util.find_spec("torch") is None:
        return NO_GPU
    try:
        told = subprocess.run(  # noqa: S603 (our own words)
            [sys.executable, "-c", _LOOK],
            cwd=settings.BASE_DIR,
            timeout=_LOOK_SECONDS,
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("what vectors are ranked on is not known: %s %s", error, getattr(error, "stderr", "") or "")
        return ""
    return told.stdout.strip() or NO_GPU


class Heart:
    """Beats from a thread until it is stopped. A full disk costs a beat, never the worker.

    ``look`` finds out what vectors are ranked on, which takes seconds: the first beats do without.
    """

    def __init__(self, name: str, queues: Iterable[str], look: Callable[[], str] | None = None) -> None:
        self._name, self._queues, self._look, self._device = name, tuple(queues), look, ""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="worker-beat", daemon=True)

    def start(self) -> None:
        """Beat once, now, and then go on."""
        self._beat()
        self._thread.start()
        if self._look is not None:
            threading.Thread(target=self._find_out, args=(self._look,), name="worker-device", daemon=True).start()

    def _find_out(self, look: Callable[[], str]) -> None:
        self._device = look()

    def stop(self) -> None:
        """Stop, and be forgotten: a beat under way ends first, else it would bring the worker back."""
        self._stopped.set()
        self._thread.join()
        forget(self._name)

    def _go_on(self) -> None:
        while not self._stopped.wait(BEAT_SECONDS):
            self._beat()

    def _beat(self) -> None:
        with contextlib.suppress(OSError):
            beat(self._name, self._queues, self._device)


def known_workers() -> list[Worker]:
    """Return every worker that left a file, the one heard of last first."""
    found = []
    for path in folder().glob("*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            row = json.loads(path.read_text())
            found.append(_worker(row))
    return sorted(found, key=lambda worker: worker.seen_at, reverse=True)


def _worker(row: dict[str, Any]) -> Worker:
    seen_at = datetime.fromisoformat(row["seen_at"])
    return Worker(row["name"], tuple(row["queues"]), seen_at, row.get("device", ""))


def living_workers(queue: str) -> list[Worker]:
    """Return the workers of ``queue`` that were heard of lately."""
    limit = timezone.now() - timedelta(seconds=settings.WORKER_SILENCE_SECONDS)
    return [worker for worker in known_workers() if queue in worker.queues and worker.seen_at > limit]
