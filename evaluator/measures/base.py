"""What a measure is: a value with a name that prints and parses, made of means that can be resampled.

Every measure is ``combine`` over a few weighted sums of **means of terms**. A term is a column of per-query values
(or their spread over paraphrase groups) under a condition, over some of the queries. The value is ``combine`` of the
means; an interval is ``combine`` of resampled means, so a ratio resamples the whole statistic (decision 17).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from evaluator.measures.view import RunView, UnavailableError
from evaluator.types import BoolArray, Condition, FloatArray, IntArray, Split

MAX_CUTOFF = 1000
"""The deepest cut-off a name may ask for; the papers' deepest is 50."""


FULL_GALLERY = "ranks in the full gallery"
"""What a measure needs that a list of 50 cannot give."""


class Unit(StrEnum):
    """How a value is shown. Stored values are in [0, 1] wherever the formula is (decision 7)."""

    PERCENT = "percent"
    NUMBER = "number"


@dataclass(frozen=True)
class Description:
    """What people read about a measure."""

    title: str
    sentence: str
    higher_is_better: bool
    unit: Unit
    needs: tuple[str, ...] = ()
    """Inputs beyond one ranking file and positives, in plain words."""


@dataclass(frozen=True, eq=False)
class PerQuery:
    """One number for each query; those that are not ``counted`` are left out of the mean, and their value is 0."""

    values: FloatArray  # (n,)
    counted: BoolArray | None = None  # (n,); None: every query


class Spread(StrEnum):
    """What is taken over the queries of one paraphrase group."""

    RANGE = "range"
    DEVIATION = "deviation"


@dataclass(frozen=True)
class Term:
    """One mean: of a column, over the queries with these group values, under a condition (None: the one scored)."""

    column: QueryMeasure
    where: tuple[tuple[str, str], ...] = ()
    condition: Condition | None = None
    spread: Spread | None = None

    def within(self, dimension: str, value: str) -> Term:
        """Return the same mean over fewer queries."""
        return Term(self.column, (*self.where, (dimension, value)), self.condition, self.spread)


Mix = tuple[tuple[float, Term], ...]
"""A weighted sum of means."""


def mean_of(column: QueryMeasure, *, condition: Condition | None = None, spread: Spread | None = None) -> Mix:
    """Return the mean of one column, as a mix."""
    return ((1.0, Term(column, condition=condition, spread=spread)),)


def scaled(mix: Mix, factor: float) -> Mix:
    """Return ``factor`` times a mix."""
    return tuple((weight * factor, term) for weight, term in mix)


def within(mix: Mix, dimension: str, value: str) -> Mix:
    """Return the same mix over the queries with this group value."""
    return tuple((weight, term.within(dimension, value)) for weight, term in mix)


class Measure(ABC):
    """A measure. Subclasses are frozen dataclasses, so two measures of one name are equal."""

    label: ClassVar[str]
    """The name before ``@`` or ``(``."""
    undefined: ClassVar[str] = "undefined: a mean it divides by is 0"
    """Why the value is empty where ``combine`` has no finite answer."""

    @abstractmethod
    def mixes(self, split: Split) -> tuple[Mix, ...]:
        """Return what ``combine`` takes. Raises UnavailableError where the split lacks what the measure needs."""

    def combine(self, *means: FloatArray) -> FloatArray:
        """Return the measure from its mixes, elementwise: one value for the data and one for each change of them."""
        (only,) = means
        return only

    @abstractmethod
    def __str__(self) -> str: ...

    @classmethod
    @abstractmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        """Return the measure of a parsed name. Raises ValueError that says how the name is written."""

    @abstractmethod
    def describe(self) -> Description: ...


class Statistic(Measure):
    """A measure of all values of one column at once, which no means add up to: a median.

    It has a value and no interval: what is resampled are sums by cluster (:mod:`evaluator.measures.estimate`), and
    they do not hold the order of the values.
    """

    @abstractmethod
    def term(self) -> Term:
        """Return where the values are from."""

    @abstractmethod
    def of(self, values: FloatArray) -> float:
        """Return the measure of the values (m,) of the counted queries, of which there is at least one."""

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return (((1.0, self.term()),),)


class LinearMeasure(Measure):
    """A measure that is one mix: it has a contribution from every query, so it can be paired and averaged."""

    @abstractmethod
    def mix(self, split: Split) -> Mix: ...

    def mixes(self, split: Split) -> tuple[Mix, ...]:
        return (self.mix(split),)


class QueryMeasure(LinearMeasure):
    """The mean of one value a query; the measure is its own column."""

    @abstractmethod
    def per_query(self, view: RunView) -> PerQuery:
        """Return the value of each query. Raises UnavailableError with the reason in plain words."""

    def column(self, views: Mapping[Condition, RunView], condition: Condition) -> PerQuery:
        """Return the value of each query under ``condition``; joint measures look at several."""
        if condition not in views:
            raise UnavailableError(f"not available: needs the {condition} run")
        return self.per_query(views[condition])

    def mix(self, split: Split) -> Mix:
        return mean_of(self)


@dataclass(frozen=True)
class AtCutoff(Measure):
    """A measure of the first ``k`` images, written ``Label@k``."""

    k: int

    def __str__(self) -> str:
        return f"{self.label}@{self.k}"

    @classmethod
    def build(cls, cutoff: int | None, arguments: tuple[Measure, ...]) -> Self:
        return cls(checked_cutoff(cls.label, cutoff, arguments))


def checked_cutoff(label: str, cutoff: int | None, arguments: tuple[Measure, ...]) -> int:
    """Return the cut-off of a name that has nothing but one. Raises ValueError that says how the name is written."""
    if cutoff is None or arguments or not 1 <= cutoff <= MAX_CUTOFF:
        raise ValueError(f"{label} is written {label}@k with k from 1 to {MAX_CUTOFF}, as in {label}@10")
    return cutoff


def share(numerator: ArrayLike, divisor: IntArray) -> PerQuery:
    """Return ``numerator / divisor`` (n,) for every query whose divisor is not 0; the others are left out."""
    counted = divisor > 0
    values = np.zeros(len(counted))
    np.divide(numerator, divisor, out=values, where=counted)
    return PerQuery(values, None if counted.all() else counted)


def linear_argument(label: str, cutoff: int | None, arguments: tuple[Measure, ...]) -> LinearMeasure:
    """Return the one argument of a name like ``Label(mAP@10)``. Raises ValueError that says how the name is written."""
    match cutoff, arguments:
        case None, (LinearMeasure() as inner,):
            return inner
    raise ValueError(f"{label} takes one measure that is a mean over queries, as in {label}(mAP@10)")
