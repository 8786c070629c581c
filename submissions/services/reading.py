"""Reads the files of a submission in a sandbox: what rankings came to, as arrays or as faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator.errors import FAULTS, MAX_FAULTS, Fault, SubmissionError
from evaluator.formats import Limits, SourceFile, read_run
from evaluator.store import save_run
from evaluator.types import Split
from submissions import sandbox
from submissions.models import Run, SentFile, Submission
from submissions.services.failures import LeaseKeeper
from uploads import services as uploads

MIB = 2**20
PATIENCE = 3
"""How much longer than its processor time reading may take on a busy machine."""


@dataclass(frozen=True)
class Reading:
    """What reading one run came to: a format and, of rankings, arrays in a file; or faults and how many more there
    are."""

    run: Run | None
    """None: the faults of all files of vectors."""
    arrays: Path | None = None
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


def runs_in_order(submission: Submission) -> list[Run]:
    """Return runs in the order of pages: multimodal first."""
    order = ("multimodal", "text-only", "image-only")
    return sorted(submission.runs.prefetch_related("files"), key=lambda run: order.index(run.condition))


def read_rankings(submission: Submission, split: Split, folder: Path, keeper: LeaseKeeper) -> Verdict:
    """Read every run, rankings or judged ranks, each in a child of its own."""
    return Verdict([_read(run, split, folder, keeper) for run in runs_in_order(submission)])


def _read(run: Run, split: Split, folder: Path, keeper: LeaseKeeper) -> Reading:
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
    answer = in_child(lambda: _parse(files, split, arrays), allowed, inner, keeper, files)
    faults = tuple({"condition": run.condition, **fault} for fault in answer.get("faults", ()))
    return Reading(run, arrays, answer.get("format", ""), faults, answer.get("more", 0))


def _parse(files: Sequence[SentFile], split: Split, arrays: Path) -> dict[str, Any]:
    """Inside the child: read the files, and write the arrays or return the faults."""
    sources = [SourceFile(file.name, uploads.fetch(file.stored, arrays.parent).read_bytes()) for file in files]
    try:
        run = read_run(sources, split, limits=Limits(unpacked_bytes=settings.UNPACKED_MAX_BYTES))
    except SubmissionError as error:
        return {"faults": [fault.as_dict() for fault in error.faults], "more": error.more}
    save_run(run, arrays)
    return {"format": run.format}


def in_child(
    work: sandbox.Work,
    allowed: sandbox.Allowance,
    folder: Path,
    keeper: LeaseKeeper,
    files: Sequence[SentFile],
    remedies: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return what reading ``files`` in a child came to; what costs more than is allowed is a fault of theirs.

    ``remedies``: code -> what to do about it, where that is another thing than for rankings.
    """
    try:
        return sandbox.run(work, allowed, folder, keeper)
    except sandbox.TooMuchMemory:
        code, limit = "needs-memory", f"{(allowed.memory or 0) // MIB:,} MiB of memory"
    except sandbox.TooMuchTime:
        code, limit = "needs-time", f"{allowed.seconds} s of processor time"
    names = ", ".join(file.name for file in files)
    remedy = (remedies or {}).get(code, FAULTS[code].remedy)
    fault = Fault(code, names, found=f"more than {limit}", expected=f"at most {limit}", remedy=remedy)
    return {"faults": [fault.as_dict()], "more": 0}
