"""The one front door: a split and the runs of a submission go in, every score comes out.

Used by the worker, the command line and the tests alike; what it returns depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from evaluator import __version__
from evaluator.errors import EvaluatorError
from evaluator.intervals import RESAMPLES
from evaluator.measures import parse
from evaluator.measures.base import LinearMeasure
from evaluator.measures.composition import JointMeasure
from evaluator.measures.estimate import Estimate, Estimator, Request
from evaluator.measures.sample import Sample, Sheet
from evaluator.measures.view import RunView, UnavailableError
from evaluator.ranks import as_judged_ranks
from evaluator.types import Condition, FloatArray, JudgedRanks, Run, Score, Scorecard, Split, Subset

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""


def score(
    split: Split,
    runs: Mapping[Condition, Run],
    *,
    resamples: int = RESAMPLES,
    breakdowns: bool = True,
    progress: Progress | None = None,
) -> Scorecard:
    """Return every score that the split's protocol asks for, of one to three runs of one submission.

    Each has a 95 % interval from ``resamples`` resamples. ``breakdowns`` adds the groups that have pages of their
    own; those of the main table are always there. A score that cannot be had is there, empty, with its reason
    (decision 18). Raises EvaluatorError where the split's truth is hidden, no run is given or a run is not one of
    this split's.
    """
    if split.hidden_truth:
        raise EvaluatorError(f"the truth of {split.name} is hidden: nothing can be scored")
    if not runs:
        raise EvaluatorError("no run to score")
    conditions = [condition for condition in Condition if condition in runs]
    steps = _Steps(progress, total=len(conditions) + (len(conditions) + 1) * len(split.protocol.subsets))
    ranks = {condition: _ranks(split, runs[condition], steps) for condition in conditions}
    sheet = Sheet(split, {condition: RunView(split, of_run) for condition, of_run in ranks.items()})
    samples = {subset: _sample_or_reason(split, subset) for subset in split.protocol.subsets}
    scores: list[Score] = []
    for condition in [*conditions, None]:
        for subset, sample in samples.items():
            batches = [_joint_requests(split)] if condition is None else _requests(split, condition, breakdowns)
            for requests in batches:
                scores += _scores(subset, condition, requests, _estimates(sheet, sample, requests, resamples))
            steps.advance()
    return Scorecard(tuple(scores), ranks, __version__)


def contributions(split: Split, run: Run, measure_name: str, subset: Subset) -> FloatArray:
    """Return what each query of ``subset`` adds to a measure: (queries in the subset,), with the measure as its mean.

    A query that is left out of the measure contributes 0. For the paired test between two runs, and for pages of single
    queries. Raises ValueError where the measure is no mean over queries (a ratio, a spread, a joint measure) or is not
    available for this run, with the reason.
    """
    measure = parse(measure_name)
    if not isinstance(measure, LinearMeasure) or isinstance(measure, JointMeasure):
        raise ValueError(f"{measure_name} is no mean over the queries of one run")
    sheet = Sheet(split, {Condition.MULTIMODAL: RunView(split, as_judged_ranks(split, run))})
    try:
        sample = Sample(split, subset)
        summed = np.zeros(len(sample.rows))
        for weight, term in measure.mix(split):
            found = sample.values(sheet, term, Condition.MULTIMODAL)
            summed[found.over.items] += found.values * (weight * len(summed) / len(found.values))
    except UnavailableError as error:
        raise ValueError(f"{measure_name}: {error}") from error
    return summed


class _Steps:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def advance(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total)


def _ranks(split: Split, run: Run, steps: _Steps) -> JudgedRanks:
    ranks = as_judged_ranks(split, run)
    steps.advance()
    return ranks


def _sample_or_reason(split: Split, subset: Subset) -> Sample | str:
    try:
        return Sample(split, subset)
    except UnavailableError as error:
        return str(error)


def _requests(split: Split, condition: Condition, breakdowns: bool) -> Iterator[list[Request]]:
    """Yield the main table of one condition, then each further break-down: batches that share one resampling."""
    protocol = split.protocol
    main = [Request(parse(name), condition) for name in protocol.measures]
    further = []
    for breakdown in protocol.breakdowns:
        groups = [(breakdown.dimension, value) for value in split.groups.get(breakdown.dimension, ())]
        repeated = [Request(parse(name), condition, group) for group in groups for name in breakdown.measures]
        if breakdown.main:
            main += repeated
        elif breakdowns:
            further.append(repeated)
    yield main
    yield from further


def _joint_requests(split: Split) -> list[Request]:
    return [Request(parse(name), Condition.MULTIMODAL) for name in split.protocol.joint_measures]


def _estimates(sheet: Sheet, sample: Sample | str, requests: list[Request], resamples: int) -> list[Estimate]:
    if isinstance(sample, str):
        return [Estimate(reason=sample)] * len(requests)
    return Estimator(sheet, sample, resamples).estimate(requests)


def _scores(
    subset: Subset, condition: Condition | None, requests: list[Request], estimates: list[Estimate]
) -> Iterator[Score]:
    for request, found in zip(requests, estimates, strict=True):
        low, high = found.interval or (None, None)
        group = "=".join(request.group) if request.group else ""
        yield Score(subset, condition, group, str(request.measure), found.value, low, high, found.n, found.reason)
