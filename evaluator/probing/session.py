"""A whole job, from the question whether there is anything to do to the closed encoder."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from evaluator.probing import precision
from evaluator.probing.job import Job
from evaluator.probing.lock import held
from evaluator.probing.pace import RANKING, Reached, Told
from evaluator.probing.run import run
from evaluator.types import Condition, JudgedRanks


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a job gave. ``job`` has the dtype that was used; ``record`` is its ``job.json``."""

    job: Job
    ranks: Mapping[Condition, JudgedRanks]
    record: Mapping[str, Any]


def carry_out(job: Job, opened: precision.Open, progress: Told | None = None, *, device: str = "") -> Outcome:
    """Return the ranks of ``job``. A finished one opens no encoder.

    ``opened`` loads the encoder in a dtype; ``device`` is put down in the record. Raises EncoderError.
    """
    with held(job.state):
        finished = _finished(job)
        if finished is None:
            return _probed(job, opened, progress, device)
        if progress:
            progress(Reached(RANKING, job.inputs, job.inputs, 0.0, 0.0))
        return finished


def _finished(job: Job) -> Outcome | None:
    verdict = precision.known(job)
    if job.dtype != precision.FULL and verdict is None:
        return None
    settled = replace(job, dtype=verdict.used) if verdict else job
    ranks, record = settled.ranks(), settled.record()
    return None if ranks is None or record is None else Outcome(settled, ranks, record)


def _probed(job: Job, opened: precision.Open, progress: Told | None, device: str) -> Outcome:
    encoder, verdict = precision.settle(job, opened)
    with ExitStack() as stack:
        stack.callback(encoder.close)
        settled = replace(job, dtype=verdict.used) if verdict else job
        said = {**asdict(verdict), "said": verdict.sentence} if verdict else None
        facts = {"device": device, "precision": said}
        ranks = run(encoder, settled, progress, facts, stack.close)  # an accelerator ranks with the memory it gives up
    return Outcome(settled, ranks, settled.record() or {})
