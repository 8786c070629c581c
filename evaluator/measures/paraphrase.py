"""Linguistic sensitivity: how much a measure moves when the same request is put in other words (decision 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from evaluator.measures.base import Description, Measure, Mix, QueryMeasure, Spread, Unit, mean_of
from evaluator.types import FloatArray, Split


def spread_within(values: FloatArray, starts: NDArray[np.intp], spread: Spread) -> FloatArray:
    """Return max - min, or the population standard deviation, of each run of ``values`` (m,) begun at ``starts`` (g,).

    ``starts`` ascend and no run is empty. The deviation is taken about each run's mean in a second pass, without
    cancellation.
    """
    if spread is Spread.RANGE:
        return np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
    sizes = np.diff(np.append(starts, len(values)))
    means = np.add.reduceat(values, starts) / sizes
    deviations = values - np.repeat(means, sizes)
    return np.sqrt(np.add.reduceat(deviations**2, starts) / sizes)


@dataclass(frozen=True)
class LinguisticSensitivity(Measure):
    """LingSens(m) = mean over paraphrase groups of the greatest minus the smallest m. Groups of one: left out."""

    inner: QueryMeasure
    label: ClassVar[str] = "LingSens"
    spread: ClassVar[Spread] = Spread.RANGE

    def __str__(self) -> str:
        return f"{self.label}({self.inner})"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        match cutoff, arguments:
            case None, (QueryMeasure() as inner,):
                return cls(inner)
        raise ValueError(f"{cls.label} takes one measure of single queries, as in {cls.label}(mAP@10)")

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return (mean_of(self.inner, spread=self.spread),)

    def describe(self) -> Description:
        title = f"Linguistic sensitivity of {self.inner.describe().title}"
        sentence = "Best minus worst among paraphrases of one request, averaged over requests."
        return Description(title, sentence, False, Unit.PERCENT, ("paraphrase groups",))


@dataclass(frozen=True)
class LinguisticDeviation(LinguisticSensitivity):
    """LingSensStd(m) = mean over paraphrase groups of the population standard deviation of m in the group."""

    label: ClassVar[str] = "LingSensStd"
    spread: ClassVar[Spread] = Spread.DEVIATION

    def describe(self) -> Description:
        title = f"Linguistic sensitivity of {self.inner.describe().title}, standard deviation"
        sentence = "Standard deviation among paraphrases of one request, averaged over requests."
        return Description(title, sentence, False, Unit.PERCENT, ("paraphrase groups",))
