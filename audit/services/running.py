"""Runs a job: the evaluator's own command in a child process, whose words become the row's progress.

A process of its own, so that torch and CUDA never live in a worker, all memory is given back at the end, and a site
runs what a maintainer can run by hand. Its shards stay in the state folder: another attempt goes on from there.
"""

from __future__ import annotations

import json
import logging
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, close_old_connections
from django.db.models import F

from accounts import references
from audit.models import Job
from audit.services import encoders, jobs
from audit.services.jobs import Claim, JobLost
from evaluator.store import load_run
from evaluator.types import Condition, JudgedRanks
from leaderboard import pictures

log = logging.getLogger(__name__)

Told = Callable[[dict[str, Any]], None]
"""Told every word of the child, for whoever watches."""

_TOLD_SECONDS = 1.0
_SHUTDOWN_SECONDS = 10
_TAIL = 4_000
"""Characters of the child's errors that go to the log."""
_MAY_PASS = {"state-in-use", "api-failing", "state-unwritable"}
"""Problems that another attempt may not meet."""


class ChildFailed(Exception):  # noqa: N818 (a verdict)
    """The child ended without a result; holds what it said last."""


@dataclass(frozen=True)
class Problem(Exception):  # noqa: N818 (what the child reports)
    """What the child says is wrong with the encoder, its weights, a picture: words for the maintainer."""

    code: str
    message: str

    def __str__(self) -> str:
        return self.message


def state_folder() -> Path:
    """Return where checkpoints lie: vectors of galleries and queries, by encoder and split."""
    return Path(settings.VAR) / "audit"


def specs_folder() -> Path:
    """Return where relative paths of encoders start: trained heads, files of vectors."""
    return Path(settings.VAR) / "encoders"


def run(pk: int, told: Told | None = None) -> None:
    """Run a job to its end; whatever happens, its row says how it ended."""
    claim = jobs.claim(pk)
    if claim is None:
        log.info("nothing to do: job %d is not waiting", pk)
        return
    try:
        _work(claim, told)
    except JobLost as lost:
        log.info("stopped: %s", lost)
    except Problem as problem:
        _end(claim, str(problem), again=problem.code in _MAY_PASS)
    except KeyboardInterrupt:
        jobs.give_back(claim)
        raise
    except Exception as error:  # the one boundary: whatever it is, the row says so
        if isinstance(error, DatabaseError):
            close_old_connections()
        reference = references.new()
        log.exception("%s: job %d, attempt %d", reference, pk, claim.attempt)
        _end(claim, f"It failed on our side; what is done is kept. Reference: {reference}.", again=True)


def _end(claim: Claim, reason: str, *, again: bool) -> None:
    if again and jobs.give_back(claim):
        log.warning("attempt %d of job %d broke off and is tried again: %s", claim.attempt, claim.pk, reason)
    else:
        jobs.fail(claim.held(), reason)


def _work(claim: Claim, told: Told | None) -> None:
    job = Job.objects.select_related("encoder", "version__split").get(pk=claim.pk)
    last: dict[str, Any] = {}
    keep = _Keeper(claim)
    with _child(job) as words:
        for word in words:
            if word:
                last = word
                if told:
                    told(word)
            keep(word)
    if "error" in last:
        raise Problem(str(last["error"].get("code", "")), str(last["error"].get("message", "")))
    if not last.get("finished"):
        raise ChildFailed("the child ended without a result")
    encoders.note_card(job.encoder, last.get("card", {}))
    device, dtype = str(last.get("device", ""))[:80], str(last.get("dtype", job.dtype))
    jobs.finish(claim, _ranks(last["ranks"]), device=device, dtype=dtype, done=F("total"))


class _Keeper:
    """Writes progress into a job's row once a second, and prolongs its lease with it."""

    def __init__(self, claim: Claim) -> None:
        self._claim, self._written = claim, 0.0
        self._progress: dict[str, Any] = {}

    def __call__(self, word: dict[str, Any] | None) -> None:
        """Take a word of the child, or its silence. Raises JobLost where the row moved on."""
        self._progress |= _progress(word or {})
        if time.monotonic() - self._written >= _TOLD_SECONDS:
            jobs.renew(self._claim, **self._progress)
            self._written = time.monotonic()


def _progress(word: dict[str, Any]) -> dict[str, Any]:
    known = ("phase", "done", "total", "rate", "seconds_left")
    return {name: word[name] for name in known if name in word}


def _ranks(files: dict[str, str]) -> dict[Condition, JudgedRanks]:
    found: dict[Condition, JudgedRanks] = {}
    for condition in Condition:
        read = load_run(Path(files[str(condition)]))
        if not isinstance(read, JudgedRanks):
            raise ChildFailed(f"{files[str(condition)]} holds no judged ranks")
        found[condition] = read
    return found


@contextmanager
def _child(job: Job) -> Iterator[Iterator[dict[str, Any] | None]]:
    """Run the command for a job; yields its words, and None while it is silent for a second."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(  # noqa: S603 (our own words)
            _command(job),
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield _words(process)
            if process.wait() and process.returncode != 3:
                raise ChildFailed(f"the child ended with status {process.returncode}: {_tail(errors)}")
        finally:
            _stop(process)


def _command(job: Job) -> list[str]:
    specs_folder().mkdir(parents=True, exist_ok=True)
    spec = specs_folder() / f"{job.encoder.slug}.json"
    spec.write_text(json.dumps(encoders.spec_of(job.encoder).as_dict(), indent=1), encoding="utf-8")
    folder = pictures.folder_of(job.version.split.slug)
    return [
        *(sys.executable, "-m", "evaluator", "audit"),
        *("--split", default_storage.path(job.version.bundle)),
        *(("--images", str(folder)) if folder else ()),
        *("--encoder", str(spec), "--state", str(state_folder())),
        *(f"--instruction={job.instruction}", "--dtype", job.dtype, "--batch", str(job.batch)),
        *("--probes-only", "--events", "--with-parent"),
    ]


def _words(process: subprocess.Popen[str]) -> Iterator[dict[str, Any] | None]:
    lines: queue.Queue[str | None] = queue.Queue()

    def read(stream: IO[str]) -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    assert process.stdout is not None  # noqa: S101 (for the type checker: it is a pipe)
    threading.Thread(target=read, args=(process.stdout,), name="audit-words", daemon=True).start()
    began = time.monotonic()
    while True:
        if time.monotonic() - began > settings.AUDIT_SECONDS:
            raise SoftTimeLimitExceeded(f"longer than {settings.AUDIT_SECONDS} s")
        try:
            line = lines.get(timeout=_TOLD_SECONDS)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        word = _word(line)
        if word is not None:
            yield word


def _word(line: str) -> dict[str, Any] | None:
    """Return what a line says; a library that prints to stdout says nothing."""
    try:
        word = json.loads(line)
    except ValueError:
        return None
    return word if isinstance(word, dict) else None


def _stop(process: subprocess.Popen[str]) -> None:
    """End the child, if it has not ended: by closing its input, which it watches, then by force."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(timeout=_SHUTDOWN_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _tail(errors: IO[str]) -> str:
    errors.seek(0)
    return errors.read()[-_TAIL:].strip() or "it said nothing"
