"""Recall, precision, average precision and nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from evaluator.measures.base import (
    FULL_GALLERY,
    AtCutoff,
    Description,
    Measure,
    PerQuery,
    QueryMeasure,
    Unit,
    checked_cutoff,
    share,
)
from evaluator.measures.view import Hits, RunView, UnavailableError
from evaluator.types import FloatArray, IntArray


def average_precision(hits: Hits, positives: IntArray, k: int) -> PerQuery:
    """AP@k = (sum over ranks i <= k that hold a positive of: hits in the first i / i) / min(positives, k).

    ``positives`` (n,) are the counts as released (decision 8). CIRCO's and PinPoint's own evaluators divide like this
    (protocols.md 3 and 5.3); trec_eval divides by all positives. A query without positives is left out.
    """
    first = hits.place < k
    summed = np.bincount(hits.query[first], hits.precision[first], minlength=hits.queries)
    return share(summed, np.minimum(positives, k))


def discounted_gain(ranks: IntArray) -> FloatArray:
    """Return 1 / log2(1 + rank) for 1-based ranks: what a positive there is worth to nDCG."""
    gain: FloatArray = 1.0 / np.log2(1.0 + ranks)
    return gain


def normalised_gain(gain: FloatArray, ideal_length: IntArray) -> PerQuery:
    """nDCG = ``gain`` (n,) / the gain of ``ideal_length`` (n,) positives at the first ranks. With none: left out."""
    ranks = np.arange(1, ideal_length.max(initial=0) + 1, dtype=np.int32)
    ideal = np.concatenate(([0.0], np.cumsum(discounted_gain(ranks))))[ideal_length]
    counted = ideal_length > 0
    ratio = np.divide(gain, ideal, out=np.zeros_like(gain), where=counted)
    return PerQuery(
        np.minimum(ratio, 1.0), counted
    )  # the two sums add in another order: a perfect list may pass 1 by an ulp


@dataclass(frozen=True)
class Recall(AtCutoff, QueryMeasure):
    """Recall@k = positives in the first k / positives as released. With one positive: whether it is there."""

    label: ClassVar[str] = "Recall"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return share(view.positives(self.k).sum(axis=1), view.judgments.positives_released)

    def describe(self) -> Description:
        sentence = f"Share of a query's positives that stand among the first {self.k} images."
        return Description(f"Recall at {self.k}", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class RecallAny(AtCutoff, QueryMeasure):
    """Recall_any@k = 1 if any positive is in the first k, else 0 (CIRCUS on CIRCO, decision 16)."""

    label: ClassVar[str] = "Recall_any"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return share(view.positives(self.k).any(axis=1), np.minimum(view.judgments.positives_released, 1))

    def describe(self) -> Description:
        sentence = f"Share of queries with any of their positives among the first {self.k} images."
        return Description(f"Recall at {self.k}, any positive", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class RecallTarget(AtCutoff, QueryMeasure):
    """Recall_target@k = 1 if the single annotated target is in the first k, else 0 (CIRCO's Recall, decision 16)."""

    label: ClassVar[str] = "Recall_target"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return share(view.places(view.judgments.target, self.k).any(axis=1), _targets(view))

    def describe(self) -> Description:
        sentence = f"Share of queries whose single annotated target is among the first {self.k} images."
        return Description(f"Recall at {self.k}, single target", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class RecallSubset(AtCutoff, QueryMeasure):
    """Recall_subset@k = 1 if the target is among the first k of its own image set, else 0 (CIRR, protocols.md 1)."""

    label: ClassVar[str] = "Recall_subset"

    def per_query(self, view: RunView) -> PerQuery:
        rank = view.ranks.member_rank
        if rank is None:
            raise UnavailableError("not available: needs the subset file, or every image-set member in the main list")
        self._require_members(view, rank)
        found = view.judgments.target & (rank > 0) & (rank <= self.k)
        return share(view.count_by_query(found), _targets(view))

    def _require_members(self, view: RunView, rank: IntArray) -> None:
        members = view.judgments.member
        wanted = np.minimum(view.count_by_query(members), self.k)
        missing = view.count_by_query(members & (rank > 0)) < wanted
        if missing.any():
            raise UnavailableError(f"not available: needs subset lists of {self.k} images")

    def describe(self) -> Description:
        sentence = f"Share of queries whose target is among the first {self.k} of its own set of six similar images."
        needs = ("the subset file, or every image-set member in the main list",)
        return Description(f"Recall at {self.k} in the image set", sentence, True, Unit.PERCENT, needs)


def _targets(view: RunView) -> IntArray:
    """Return 1 for each query (n,) with a single target, else 0. Raises UnavailableError where none has one."""
    targets = view.count_by_query(view.judgments.target)
    if not targets.any():
        raise UnavailableError("not available: the split names no single target")
    return targets


@dataclass(frozen=True)
class Precision(AtCutoff, QueryMeasure):
    """Precision@k = positives in the first k / k."""

    label: ClassVar[str] = "Precision"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return PerQuery(view.positives(self.k).sum(axis=1) / self.k)

    def describe(self) -> Description:
        sentence = f"Share of the first {self.k} images that are positives."
        return Description(f"Precision at {self.k}", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class MeanAveragePrecision(AtCutoff, QueryMeasure):
    """mAP@k: the mean of :func:`average_precision` over queries."""

    label: ClassVar[str] = "mAP"

    def per_query(self, view: RunView) -> PerQuery:
        view.require_depth(self.k)
        return average_precision(view.hits(self.k), view.judgments.positives_released, self.k)

    def describe(self) -> Description:
        sentence = f"Mean over queries of the average precision of the first {self.k} images."
        return Description(f"mAP at {self.k}", sentence, True, Unit.PERCENT)


@dataclass(frozen=True)
class NormalisedGain(QueryMeasure):
    """nDCG@k, or nDCG of the full gallery where ``k`` is None; binary gains (decision 13, protocols.md 4.4).

    nDCG = (sum over the positives of 1 / log2(1 + rank)) / the same sum for a perfect order of all positives, of
    which the first k count where there is a cut-off.
    """

    k: int | None = None
    label: ClassVar[str] = "nDCG"

    def __str__(self) -> str:
        return self.label if self.k is None else f"{self.label}@{self.k}"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        return cls() if cutoff is None and not arguments else cls(checked_cutoff(cls.label, cutoff, arguments))

    def per_query(self, view: RunView) -> PerQuery:
        positives = view.judgments.positives_released
        if self.k is None:
            view.require_complete()
            return normalised_gain(_gain(view, np.iinfo(np.int32).max), positives)
        view.require_depth(self.k)
        return normalised_gain(_gain(view, self.k), np.minimum(positives, self.k))

    def describe(self) -> Description:
        if self.k is None:
            sentence = (
                "Discounted gain of the positives' ranks in the whole gallery, divided by that of a perfect order."
            )
            return Description("nDCG", sentence, True, Unit.PERCENT, (FULL_GALLERY,))
        sentence = (
            f"Discounted gain of the positives among the first {self.k} images, divided by that of a perfect order."
        )
        return Description(f"nDCG at {self.k}", sentence, True, Unit.PERCENT)


def _gain(view: RunView, k: int) -> FloatArray:
    """Return the discounted gain (n,) of the positives ranked in the first ``k``."""
    rank = view.ranks.rank
    lines = np.flatnonzero(view.judgments.positive & (rank > 0) & (rank <= k))
    return np.bincount(view.judgments.query[lines], discounted_gain(rank[lines]), len(view.split)).astype(np.float64)
