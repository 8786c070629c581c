"""Rankings, uploads and real workers for tests: what ``tests/submissions`` and others send through the queue."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DECLARED = {
    "supervision": "zero-shot",
    "training_overlap": ["none"],
    "query_text": "as-released",
    "system": "single",
    "weights": "open",
    "backbone": "CLIP ViT-L/14",
    "parameters": "428",
}


@dataclass(frozen=True)
class BoardUnderTest:
    """A board in the database and the split that it is."""

    split: Any
    """``leaderboard.models.Split``."""
    content: Any
    """``evaluator.types.Split``."""


def ranking(content: Any, seed: int = 0, length: int | None = None) -> dict[str, list[str]]:
    """Return a random but valid ranking of a split: query -> images."""
    generator = np.random.default_rng(seed)
    lists = {}
    for position, query in enumerate(content.query_ids):
        gallery = content.galleries[content.gallery_of[position]].images
        names = [content.images[index] for index in generator.permutation(gallery)]
        lists[query] = names[: length or content.protocol.list_length + 1]
    return lists


def good_ranking(content: Any, seed: int = 0) -> dict[str, list[str]]:
    """Return a ranking with every positive in front: better than any random one."""
    lists = ranking(content, seed, length=10_000)
    judgments = content.judgments
    for position, query in enumerate(content.query_ids):
        mine = judgments.positive & (judgments.query == position)
        right = [content.images[index] for index in judgments.image[mine]]
        rest = [name for name in lists[query] if name not in right]
        lists[query] = (right + rest)[: content.protocol.list_length + 1]
    return lists


def upload(lists: Mapping[str, Any] | bytes, name: str = "ranking.json") -> Any:
    """Return a file as Django hands it to a view."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, lists if isinstance(lists, bytes) else json.dumps(lists).encode())


def work(limit: int = 50) -> None:
    """Do all waiting work in this process, as a worker would, without a broker."""
    from submissions.models import Evaluation, Submission
    from submissions.services import evaluations, validation

    for _ in range(limit):
        waiting = list(Submission.objects.filter(state="received").values_list("pk", flat=True))
        queued = list(Evaluation.objects.filter(state="queued").values_list("pk", flat=True))
        if not waiting and not queued:
            return
        for pk in waiting:
            validation.validate(pk)
        for pk in queued:
            evaluations.score(pk)
    raise AssertionError("the work does not end")


@dataclass
class WorkerProcess:
    """A real worker, or another process of the site, in a process group of its own."""

    environment: dict[str, str]
    log: Path
    arguments: tuple[str, ...] = (
        *("-m", "celery", "-A", "config", "worker", "-Q", "cpu", "-c", "1", "-l", "INFO"),
        *("--without-gossip", "--without-mingle"),  # a second less at each start: there is no other worker to talk to
    )
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, *self.arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self) -> None:
        """``kill -9`` of the whole group: worker, pool child and whatever they forked."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Ask it to stop and wait until it has."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(120)
            self.process = None

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def worker_environment() -> dict[str, str]:
    """Return what makes another process use the test's database, broker and files, with leases of two seconds."""
    from django.conf import settings

    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CIRBOARD_DATABASE_URL": database_url(),
        "CIRBOARD_LEASE_SECONDS": "2",
        "CIRBOARD_RESEND_SECONDS": "3",
        "CIRBOARD_VAR": str(settings.VAR),
    }


def database_url() -> str:
    """Return the address of the test database for other processes."""
    from django.db import connection

    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    row = connection.settings_dict
    return f"postgres://{row['USER']}:{row['PASSWORD']}@{row['HOST']}:{row['PORT']}/{name}"


def until(true: Callable[[], Any], seconds: float = 120, every: float = 0.02) -> Any:
    """Wait until something holds, and return it. Fails after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"{true} did not come true in {seconds} s"
        time.sleep(every)
    return found
