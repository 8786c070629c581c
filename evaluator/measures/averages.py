"""Averages of measures: of several, and of one over the values of a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from evaluator.measures.base import Description, LinearMeasure, Measure, Mix, linear_argument, scaled, within
from evaluator.measures.view import UnavailableError
from evaluator.types import Split


@dataclass(frozen=True)
class Mean(LinearMeasure):
    """Mean(a,b,...) = the unweighted mean of measures of the same queries (CIRR's and FashionIQ's first)."""

    parts: tuple[LinearMeasure, ...]
    label: ClassVar[str] = "Mean"

    def __str__(self) -> str:
        return f"{self.label}({','.join(map(str, self.parts))})"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        linear = tuple(part for part in arguments if isinstance(part, LinearMeasure))
        if cutoff is not None or len(arguments) < 2 or len(linear) < len(arguments):
            raise ValueError(
                "Mean takes two or more measures that are means over queries, as in Mean(Recall@10,Recall@50)"
            )
        return cls(linear)

    def mix(self, split: Split) -> Mix:
        return tuple(weighted for part in self.parts for weighted in scaled(part.mix(split), 1 / len(self.parts)))

    def describe(self) -> Description:
        parts = [part.describe() for part in self.parts]
        title = "Mean of " + " and ".join(part.title for part in parts)
        needs = tuple(dict.fromkeys(need for part in parts for need in part.needs))
        return Description(title, f"{title}, unweighted.", parts[0].higher_is_better, parts[0].unit, needs)


@dataclass(frozen=True)
class Macro(LinearMeasure):
    """Macro(a) = the unweighted mean of a over the groups of dimension ``category`` (FashionIQ, protocols.md 2)."""

    inner: LinearMeasure
    label: ClassVar[str] = "Macro"
    dimension: ClassVar[str] = "category"

    def __str__(self) -> str:
        return f"{self.label}({self.inner})"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        return cls(linear_argument(cls.label, cutoff, arguments))

    def mix(self, split: Split) -> Mix:
        values = tuple(split.groups.get(self.dimension, ()))
        if not values:
            raise UnavailableError("not available: the split has no categories")
        whole = self.inner.mix(split)
        return tuple(
            weighted for value in values for weighted in scaled(within(whole, self.dimension, value), 1 / len(values))
        )

    def describe(self) -> Description:
        inner = self.inner.describe()
        sentence = f"{inner.sentence} Taken for each category, then averaged, each category alike."
        return Description(
            f"{inner.title}, mean over categories", sentence, inner.higher_is_better, inner.unit, inner.needs
        )
