"""One reference image against two: the same measure on both kinds of queries (decision 12).

A two-image query is one whose ``is_single`` is false; the other reading, a second signature other than "None", has
names of its own that end in ``_signature``. The split says which is which in its group dimensions ``images`` and
``images_signature``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from evaluator.measures.base import Description, LinearMeasure, Measure, Mix, Unit, linear_argument, within
from evaluator.types import FloatArray, Split

_NEEDS = ("queries with one and with two reference images",)


@dataclass(frozen=True)
class _SingleAgainstMulti(Measure):
    """A measure ``inner`` on single-image and on two-image queries."""

    inner: LinearMeasure
    dimension: ClassVar[str] = "images"

    def __str__(self) -> str:
        return f"{self.label}({self.inner})"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        return cls(linear_argument(cls.label, cutoff, arguments))

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        mix = self.inner.mix(split)
        return within(mix, self.dimension, "single"), within(mix, self.dimension, "multi")


@dataclass(frozen=True)
class MultiRatio(_SingleAgainstMulti):
    """MultiRatio(m) = m on single-image queries / m on two-image queries: PinPoint's degradation factor."""

    label: ClassVar[str] = "MultiRatio"
    undefined: ClassVar[str] = "undefined: the measure is 0 on two-image queries"

    def combine(self, *means: FloatArray) -> FloatArray:
        single, multi = means
        return single / multi

    def describe(self) -> Description:
        title = f"{self.inner.describe().title}, single / multi"
        return Description(title, "How many times better single-image queries do.", False, Unit.NUMBER, _NEEDS)


@dataclass(frozen=True)
class MultiDrop(_SingleAgainstMulti):
    """MultiDrop(m) = (m on single-image queries - m on two-image queries) / m on single-image queries."""

    label: ClassVar[str] = "MultiDrop"
    undefined: ClassVar[str] = "undefined: the measure is 0 on single-image queries"

    def combine(self, *means: FloatArray) -> FloatArray:
        single, multi = means
        return (single - multi) / single

    def describe(self) -> Description:
        title = f"{self.inner.describe().title}, multi-image drop"
        return Description(title, "What two-image queries lose of the single-image value.", False, Unit.PERCENT, _NEEDS)


@dataclass(frozen=True)
class MultiRatioBySignature(MultiRatio):
    """MultiRatio with the other reading of "two images"."""

    label: ClassVar[str] = "MultiRatio_signature"
    dimension: ClassVar[str] = "images_signature"


@dataclass(frozen=True)
class MultiDropBySignature(MultiDrop):
    """MultiDrop with the other reading of "two images"."""

    label: ClassVar[str] = "MultiDrop_signature"
    dimension: ClassVar[str] = "images_signature"
