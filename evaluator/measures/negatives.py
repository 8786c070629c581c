"""Explicit negatives: how many are retrieved, what they cost, and how much of a list was judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evaluator.measures.base import (
    AtCutoff,
    Description,
    LinearMeasure,
    Measure,
    Mix,
    PerQuery,
    QueryMeasure,
    Unit,
    mean_of,
    scaled,
    share,
)
from evaluator.measures.retrieval import MeanAveragePrecision, average_precision
from evaluator.measures.view import TOP, RunView, UnavailableError
from evaluator.types import FloatArray, Split

_NEGATIVES = "explicit negatives"


def _require_negatives(split: Split) -> None:
    if not split.judgments.negatives_released.any():
        raise UnavailableError("not available: the split has no explicit negatives")


def _cut(k: int) -> int:
    """Return how deep a list is looked at before images are taken out of it; nothing of it is left beyond that."""
    if k > TOP:
        raise UnavailableError(f"not available: lists are cut to {TOP} images before any are taken out")
    return k


@dataclass(frozen=True)
class NegativeRecall(AtCutoff, QueryMeasure):
    """NegRecall@k = negatives in the first k / min(negatives as released, k) (decision 9). With none: left out."""

    label: ClassVar[str] = "NegRecall"

    def per_query(self, view: RunView) -> PerQuery:
        _require_negatives(view.split)
        view.require_depth(self.k)
        return share(view.negatives(self.k).sum(axis=1), np.minimum(view.judgments.negatives_released, self.k))

    def describe(self) -> Description:
        sentence = f"Share of the explicit negatives that a list of {self.k} could hold and does hold."
        return Description(f"Negative recall at {self.k}", sentence, False, Unit.PERCENT, (_NEGATIVES,))


@dataclass(frozen=True)
class PrecisionWithoutNegatives(AtCutoff, QueryMeasure):
    """mAP_noNeg@k: the list is cut to 50, its negatives are taken out, then AP@k (decision 10).

    An image that is positive and negative goes with the negatives but still counts in the divisor.
    """

    label: ClassVar[str] = "mAP_noNeg"

    def per_query(self, view: RunView) -> PerQuery:
        _require_negatives(view.split)
        view.require_depth(self.k)
        return average_precision(view.hits_without_negatives, view.judgments.positives_released, _cut(self.k))

    def describe(self) -> Description:
        sentence = f"mAP at {self.k} after every explicit negative is taken out of the first {TOP} images."
        return Description(f"mAP at {self.k} without negatives", sentence, True, Unit.PERCENT, (_NEGATIVES,))


@dataclass(frozen=True)
class PrecisionDelta(AtCutoff, LinearMeasure):
    """DeltamAP@k = mAP_noNeg@k - mAP@k (decision 10)."""

    label: ClassVar[str] = "DeltamAP"

    def mix(self, split: Split) -> Mix:
        without = mean_of(PrecisionWithoutNegatives(self.k))
        return (*without, *scaled(mean_of(MeanAveragePrecision(self.k)), -1.0))

    def describe(self) -> Description:
        sentence = f"What the explicit negatives cost: mAP at {self.k} without them minus mAP at {self.k}."
        return Description(f"ΔmAP at {self.k}", sentence, False, Unit.PERCENT, (_NEGATIVES,))


@dataclass(frozen=True)
class RelativePrecisionDelta(AtCutoff, Measure):
    """RelDeltamAP@k = (mAP_noNeg@k - mAP@k) / mAP@k, of the means (decision 10): the papers' ΔmAP%."""

    label: ClassVar[str] = "RelDeltamAP"
    undefined: ClassVar[str] = "undefined: mAP is 0"

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return mean_of(PrecisionWithoutNegatives(self.k)), mean_of(MeanAveragePrecision(self.k))

    def combine(self, *means: FloatArray) -> FloatArray:
        without, plain = means
        return (without - plain) / plain

    def describe(self) -> Description:
        sentence = f"What the explicit negatives cost, as a share of mAP at {self.k}: a ratio of the two means."
        return Description(f"relative ΔmAP at {self.k}", sentence, False, Unit.PERCENT, (_NEGATIVES,))


@dataclass(frozen=True)
class Judged(AtCutoff, QueryMeasure):
    """Judged@k = images in the first k that are judged, positive or negative / k (decision 15)."""

    label: ClassVar[str] = "Judged"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        judged = view.positives(self.k) | view.negatives(self.k)
        return PerQuery(judged.sum(axis=1) / self.k)

    def describe(self) -> Description:
        sentence = (
            f"Share of the first {self.k} images that anyone judged; how far mAP can be trusted, not how good a run is."
        )
        return Description(f"judged at {self.k}", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class PrecisionAmongJudged(AtCutoff, QueryMeasure):
    """mAP_judged@k: the list is cut to 50, unjudged images are taken out, then AP@k (decision 15)."""

    label: ClassVar[str] = "mAP_judged"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return average_precision(view.hits_among_judged, view.judgments.positives_released, _cut(self.k))

    def describe(self) -> Description:
        sentence = f"mAP at {self.k} after every unjudged image is taken out of the first {TOP} images."
        return Description(f"mAP at {self.k} over judged images", sentence, True, Unit.PERCENT)
