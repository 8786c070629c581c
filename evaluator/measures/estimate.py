"""Values and intervals of many measures over one subset, sharing columns, sums by cluster and one resampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluator.intervals import Bootstrap, Interval, bootstrap_interval, resample, wilson_interval
from evaluator.measures.base import Measure, Mix, Statistic, Term, within
from evaluator.measures.sample import Sample, Selection, Sheet, Universe, Values
from evaluator.measures.view import UnavailableError
from evaluator.types import Condition, FloatArray

FEW = 100
"""Below this many unclustered queries a plain proportion takes Wilson's interval (decision 17: CIRCO V has 42)."""


class Request(NamedTuple):
    """One measure under one condition, over the queries with a group value or over all."""

    measure: Measure
    condition: Condition
    group: tuple[str, str] | None = None


@dataclass(frozen=True)
class Estimate:
    """A value with its interval and what it is over, or the reason why there is none."""

    value: float | None = None
    interval: Interval | None = None
    n: int = 0
    reason: str = ""


@dataclass(frozen=True, eq=False)
class _Mean:
    """Where one term's numbers stand in its ledger."""

    of: Values
    total: int
    count: int


_Plan = tuple[tuple[tuple[float, _Mean], ...], ...]
"""The mixes of a measure, with terms found."""


class _Ledger:
    """Sums by cluster, a column for each thing that is summed, so that one matrix product resamples all of them."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self._columns: list[FloatArray] = []
        self._counts: dict[Selection, int] = {}

    def enter(self, of: Values) -> _Mean:
        """Add the sums of a term, and its counts unless another term is over the same selection."""
        sums = np.bincount(of.over.cluster, of.values, self.universe.clusters)
        total = self._append(sums.astype(np.float64, copy=False))
        if of.over not in self._counts:
            self._counts[of.over] = self._append(of.over.counts)
        return _Mean(of, total, self._counts[of.over])

    def resample(self, resamples: int) -> FloatArray:
        """Return (columns, 1 + resamples + clusters): totals of each column, whole, resampled, less one cluster."""
        stacked = np.stack(self._columns, axis=1)
        return np.ascontiguousarray(resample(stacked, self.universe.sizes, resamples).T)

    def _append(self, column: FloatArray) -> int:
        self._columns.append(column)
        return len(self._columns) - 1


class Estimator:
    """Estimates requests over one sample. Make one for each batch: what it shares, it shares within the batch."""

    def __init__(self, sheet: Sheet, sample: Sample, resamples: int) -> None:
        self._sheet = sheet
        self._sample = sample
        self._resamples = resamples
        self._ledgers: dict[Universe, _Ledger] = {}
        self._means: dict[tuple[Term, Condition], _Mean] = {}

    def estimate(self, requests: Sequence[Request]) -> list[Estimate]:
        """Return an estimate for each request."""
        plans = [self._plan_or_reason(request) for request in requests]
        totals = {universe: ledger.resample(self._resamples) for universe, ledger in self._ledgers.items()}
        return [
            Estimate(reason=plan) if isinstance(plan, str) else self._finish(request.measure, plan, totals)
            for request, plan in zip(requests, plans, strict=True)
        ]

    def _plan_or_reason(self, request: Request) -> _Plan | str:
        try:
            mixes = request.measure.mixes(self._sample.split)
            return tuple(self._found(mix, request) for mix in mixes)
        except UnavailableError as error:
            return str(error)

    def _found(self, mix: Mix, request: Request) -> tuple[tuple[float, _Mean], ...]:
        narrowed = within(mix, *request.group) if request.group else mix
        return tuple((weight, self._mean(term, request.condition)) for weight, term in narrowed)

    def _mean(self, term: Term, condition: Condition) -> _Mean:
        key = (term, condition)
        if key not in self._means:
            values = self._sample.values(self._sheet, term, condition)
            ledger = self._ledgers.setdefault(values.over.universe, _Ledger(values.over.universe))
            self._means[key] = ledger.enter(values)
        return self._means[key]

    def _finish(self, measure: Measure, plan: _Plan, totals: dict[Universe, FloatArray]) -> Estimate:
        if isinstance(measure, Statistic):
            return _whole(measure, plan[0][0][1].of)
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = measure.combine(*(_mixed(mix, totals) for mix in plan))
        n = _items(plan)
        if not np.isfinite(draws[0]):
            return Estimate(n=n, reason=measure.undefined)
        return Estimate(float(draws[0]), self._interval(plan, draws), n)

    def _interval(self, plan: _Plan, draws: FloatArray) -> Interval | None:
        """Return the interval of a measure from its value, its resampled values and those with one cluster left out."""
        counts = [mean.of.over.counts for mix in plan for _, mean in mix]
        universe, value = plan[0][0][1].of.over.universe, float(draws[0])
        clusters = min(int(np.count_nonzero(column)) for column in counts) - universe.lost_degrees
        if _is_proportion(plan):
            unclustered = counts[0].max() <= 1
            # Zeros alone, or ones alone, have nothing to resample: a bootstrap would be certain of them.
            if (unclustered and clusters < FEW) or value in (0.0, 1.0):
                return wilson_interval(value, clusters) if clusters > 1 else None
        resampled, left_out = np.split(draws[1:], [self._resamples])
        return bootstrap_interval(Bootstrap(value, resampled, left_out, universe.sizes, clusters))


def _whole(measure: Statistic, of: Values) -> Estimate:
    value = measure.of(of.values)
    if not np.isfinite(value):
        return Estimate(n=len(of.values), reason=measure.undefined)
    return Estimate(value, None, len(of.values))


def _mixed(mix: tuple[tuple[float, _Mean], ...], totals: dict[Universe, FloatArray]) -> FloatArray:
    """Return the weighted sum of a mix's means, for the data and for every change of them."""
    mixed: FloatArray = np.zeros(())
    for weight, mean in mix:
        table = totals[mean.of.over.universe]
        mixed = mixed + weight * (table[mean.total] / table[mean.count])
    return mixed


def _items(plan: _Plan) -> int:
    """Return how many queries, or groups, any of the means is over."""
    selections = {mean.of.over for mix in plan for _, mean in mix}
    if len(selections) == 1:
        return len(selections.pop().items)
    counted = np.zeros(1 + max(int(over.items[-1]) for over in selections), dtype=np.bool_)
    for over in selections:
        counted[over.items] = True
    return int(np.count_nonzero(counted))


def _is_proportion(plan: _Plan) -> bool:
    """Whether the measure is the mean of zeros and ones."""
    if len(plan) > 1 or len(plan[0]) > 1 or plan[0][0][0] != 1.0:
        return False
    values = plan[0][0][1].of.values
    return bool(((values == 0) | (values == 1)).all())
