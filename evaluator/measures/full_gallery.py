"""Where the first positive stands in the whole gallery: mean reciprocal rank and median rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from evaluator.measures.base import (
    FULL_GALLERY,
    Description,
    Measure,
    PerQuery,
    QueryMeasure,
    Statistic,
    Term,
    Unit,
)
from evaluator.measures.view import RunView
from evaluator.types import FloatArray


@dataclass(frozen=True)
class ReciprocalRank(QueryMeasure):
    """MRR = the mean of 1 / rank of a query's first positive (Voorhees 1999, TREC-8 question answering).

    A query without positives is left out; one whose positives are in no gallery has 0.
    """

    label: ClassVar[str] = "MRR"

    def __str__(self) -> str:
        return self.label

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        _refuse_arguments(cls.label, cutoff, arguments)
        return cls()

    def per_query(self, view: RunView) -> PerQuery:
        view.require_complete()
        judgments, rank = view.judgments, view.ranks.rank
        lines = np.flatnonzero(judgments.positive & (rank > 0))
        best = np.zeros(len(view.split))
        np.maximum.at(best, judgments.query[lines], 1.0 / rank[lines])
        return PerQuery(best, judgments.positives_released > 0)

    def describe(self) -> Description:
        sentence = "Mean over queries of 1 divided by the rank of the first positive in the whole gallery."
        return Description("Mean reciprocal rank", sentence, True, Unit.PERCENT, (FULL_GALLERY,))


@dataclass(frozen=True)
class MedianRank(Statistic):
    """MedianRank = the median over queries of the rank of the first positive; of an even number, the middle two's mean.

    It has no interval (:class:`Statistic`): beside it stands MRR, of the same ranks, with one.
    """

    label: ClassVar[str] = "MedianRank"
    undefined: ClassVar[str] = "undefined: half of the queries have no positive in their gallery"

    def __str__(self) -> str:
        return self.label

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        _refuse_arguments(cls.label, cutoff, arguments)
        return cls()

    def term(self) -> Term:
        return Term(ReciprocalRank())

    def of(self, values: FloatArray) -> float:
        ranks = np.full(len(values), np.inf)
        np.divide(1.0, values, out=ranks, where=values > 0)
        return float(np.median(np.rint(ranks)))

    def describe(self) -> Description:
        sentence = "The rank in the whole gallery that half of the queries' first positives reach; lower is better."
        return Description("Median rank", sentence, False, Unit.NUMBER, (FULL_GALLERY,))


def _refuse_arguments(label: str, cutoff: int | None, arguments: tuple[Measure, ...]) -> None:
    if cutoff is not None or arguments:
        raise ValueError(f"{label} is written without a cut-off: it is about the full gallery")
