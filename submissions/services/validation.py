"""Checks a submission's files in a sandbox: all faults, or arrays that can be scored."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction

from evaluator.errors import FAULTS, MAX_FAULTS, Fault, SubmissionError
from evaluator.formats import Limits, SourceFile, read_run
from evaluator.store import save_run
from evaluator.types import Split
from leaderboard import bundles
from leaderboard.models import SplitVersion
from submissions import sandbox
from submissions.models import Run, SentFile, Submission
from submissions.services import dispatch, failures, quota, states
from submissions.services.evaluations import ensure_evaluations
from submissions.services.failures import LeaseKeeper
from submissions.services.leftovers import reading_folder
from submissions.services.states import Claim

log = logging.getLogger(__name__)

MIB = 2**20
PATIENCE = 3
"""How much longer than its processor time reading may take on a busy machine."""


@dataclass(frozen=True)
class Reading:
    """What reading one run came to: arrays in a file, or faults and how many more there are."""

    run: Run
    arrays: Path
    format: str = ""
    faults: tuple[dict[str, str], ...] = ()
    more: int = 0


@dataclass
class Verdict:
    """The readings of all runs of a submission."""

    readings: list[Reading] = field(default_factory=list)

    @property
    def faults(self) -> list[dict[str, str]]:
        """Up to 100 faults in the order of runs, each run getting its turn (decision 24)."""
        turns = zip_longest(*([(order, row) for row in reading.faults] for order, reading in enumerate(self.readings)))
        listed = [turn for turn in chain.from_iterable(turns) if turn is not None][:MAX_FAULTS]
        return [row for _, row in sorted(listed, key=lambda turn: turn[0])]

    @property
    def more(self) -> int:
        """How many faults there are beside the listed ones."""
        return sum(len(reading.faults) + reading.more for reading in self.readings) - len(self.faults)


def validate(pk: int) -> None:
    """Check a submission that waits. Anything else is left alone, so a message may come twice (public report A4)."""
    claim = states.claim_submission(pk)
    if claim is not None:
        failures.attempt(claim, _validate)


def _validate(claim: Claim) -> None:
    submission = Submission.objects.select_related("split").get(pk=claim.pk)
    version = SplitVersion.objects.get(split=submission.split, current=True)
    split = bundles.load(version)
    verdict = Verdict()
    keeper = LeaseKeeper(claim)
    with tempfile.TemporaryDirectory(dir=reading_folder()) as folder:
        for run in _in_order(submission.runs.prefetch_related("files")):
            verdict.readings.append(_read(run, split, Path(folder), keeper))
        if verdict.faults:
            _finish_invalid(claim, submission, verdict)
        else:
            _finish_valid(claim, submission, version, verdict)


def _in_order(runs: Iterator[Run] | Any) -> list[Run]:
    """Runs in the order of pages: multimodal first."""
    return sorted(runs, key=lambda run: ("multimodal", "text-only", "image-only").index(run.condition))


def _read(run: Run, split: Split, folder: Path, keeper: LeaseKeeper) -> Reading:
    """Read one run in a child of its own."""
    inner = folder / run.condition
    inner.mkdir()
    arrays = inner / "arrays.npz"
    files = list(run.files.order_by("pk"))
    allowed = sandbox.Allowance(
        seconds=settings.READ_SECONDS,
        patience=PATIENCE * settings.READ_SECONDS,
        memory=settings.READ_MEMORY_BYTES,
        file_bytes=settings.UNPACKED_MAX_BYTES,
    )
    try:
        answer = sandbox.run(lambda: _parse(files, split, arrays), allowed, inner, keeper)
    except sandbox.TooMuchMemory:
        answer = _too_costly("needs-memory", files, f"{settings.READ_MEMORY_BYTES // MIB:,} MiB of memory")
    except sandbox.TooMuchTime:
        answer = _too_costly("needs-time", files, f"{settings.READ_SECONDS} s of processor time")
    faults = tuple({"condition": run.condition, **fault} for fault in answer.get("faults", ()))
    return Reading(run, arrays, answer.get("format", ""), faults, answer.get("more", 0))


def _parse(files: Sequence[SentFile], split: Split, arrays: Path) -> dict[str, Any]:
    """Inside the child: read the files, and write the arrays or return the faults."""
    sources = [SourceFile(file.name, Path(default_storage.path(file.stored)).read_bytes()) for file in files]
    try:
        run = read_run(sources, split, limits=Limits(unpacked_bytes=settings.UNPACKED_MAX_BYTES))
    except SubmissionError as error:
        return {"faults": [fault.as_dict() for fault in error.faults], "more": error.more}
    save_run(run, arrays)
    return {"format": run.format}


def _too_costly(code: str, files: Sequence[SentFile], limit: str) -> dict[str, Any]:
    names = ", ".join(file.name for file in files)
    fault = Fault(code, names, found=f"more than {limit}", expected=f"at most {limit}", remedy=FAULTS[code].remedy)
    return {"faults": [fault.as_dict()], "more": 0}


@transaction.atomic
def _finish_invalid(claim: Claim, submission: Submission, verdict: Verdict) -> None:
    states.finish(claim, Submission.State.INVALID, faults=verdict.faults, more_faults=verdict.more)
    quota.give_back(submission.pk)
    log.info("invalid: %d faults", len(verdict.faults) + verdict.more)


def _finish_valid(claim: Claim, submission: Submission, version: SplitVersion, verdict: Verdict) -> None:
    """Keep the arrays and queue an evaluation for every split that fits; none where the truth is hidden (33)."""
    names = {reading.run.pk: _keep_arrays(reading) for reading in verdict.readings}
    with transaction.atomic():
        states.finish(claim, Submission.State.VALID, fit_key=version.fit_key)
        for reading in verdict.readings:
            Run.objects.filter(pk=reading.run.pk).update(format=reading.format, arrays=names[reading.run.pk])
        evaluations = ensure_evaluations(Submission.objects.select_related("split").get(pk=submission.pk))
        if not evaluations:
            quota.give_back(submission.pk)
        for evaluation in evaluations:
            dispatch.evaluation_after_commit(evaluation.pk)
    log.info("valid; evaluations queued: %d", len(evaluations))


def _keep_arrays(reading: Reading) -> str:
    """Move arrays into storage; the same run always has the same name, so an attempt that broke off leaves nothing."""
    name = f"arrays/{reading.run.pk}.npz"
    target = Path(default_storage.path(name))
    target.parent.mkdir(parents=True, exist_ok=True)
    reading.arrays.replace(target)
    return name
