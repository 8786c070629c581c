"""Which queries a mean is over, and what is resampled for it: the clusters of a subset, or its paraphrase groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.measures.base import PerQuery, QueryMeasure, Spread, Term
from evaluator.measures.paraphrase import spread_within
from evaluator.measures.view import Places, RunView, UnavailableError
from evaluator.types import BoolArray, Condition, FloatArray, Split, Subset

Where = tuple[tuple[str, str], ...]
_Chosen = tuple[Where, bytes]
"""Group values, and the bytes of the mask of queries that have a value; empty where all have."""


class Sheet:
    """The per-query columns of one submission: each is computed once, whatever subsets and measures need it."""

    def __init__(self, split: Split, views: Mapping[Condition, RunView]) -> None:
        self.split = split
        self._views = views
        self._columns: dict[tuple[QueryMeasure, Condition], PerQuery] = {}

    def column(self, measure: QueryMeasure, condition: Condition) -> PerQuery:
        """Return the values (n,) of ``measure`` under ``condition``. Raises UnavailableError with the reason."""
        key = (measure, condition)
        if key not in self._columns:
            self._columns[key] = measure.column(self._views, condition)
        return self._columns[key]


@dataclass(frozen=True, eq=False)
class Universe:
    """What is drawn in a resample: clusters numbered from 0, those of one stratum after those of another."""

    sizes: tuple[int, ...]  # clusters in each stratum

    @property
    def clusters(self) -> int:
        return sum(self.sizes)

    @property
    def lost_degrees(self) -> int:
        """Degrees of freedom that the strata cost, beyond the one that a mean costs."""
        return len(self.sizes) - 1


@dataclass(frozen=True, eq=False)
class Selection:
    """The items that a mean is over, and the cluster each belongs to."""

    items: Places  # (m,) the queries' places in the subset, or the groups' numbers; ascending
    cluster: Places  # (m,)
    universe: Universe

    @cached_property
    def counts(self) -> FloatArray:
        """How many of the items each cluster of the universe holds."""
        return np.bincount(self.cluster, minlength=self.universe.clusters).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Values:
    """What one mean is over: a value (m,) for each item of a selection, which means over the same items share."""

    values: FloatArray
    over: Selection


@dataclass(frozen=True, eq=False)
class Paraphrases:
    """Queries of some paraphrase groups, group after group."""

    order: Places  # (p,) places of the queries in the subset
    starts: Places  # (g,) where each group begins
    over: Selection  # of the g groups

    def spread(self, values: FloatArray, spread: Spread) -> Values:
        """Return the spread of the queries' values (m,) within each group."""
        if not len(self.starts):
            return Values(np.zeros(0), self.over)
        return Values(spread_within(values[self.order], self.starts, spread), self.over)


@dataclass(frozen=True, eq=False)
class ParaphraseGroups:
    """The groups of a subset that hold two or more of its queries."""

    order: Places  # (p,) places of their queries in the subset, group after group
    group: Places  # (p,) number of each one's group, ascending from 0
    cluster: Places  # (g,) what is resampled for each group
    universe: Universe

    def among(self, chosen: BoolArray) -> Paraphrases:
        """Return the groups with two or more chosen queries (m,), of those queries; groups of one are left out."""
        kept = chosen[self.order]
        order, group = self.order[kept], self.group[kept]
        several = np.bincount(group, minlength=len(self.cluster))[group] > 1
        order, group = order[several], group[several]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        numbers = group[starts]
        return Paraphrases(order, starts, Selection(numbers, self.cluster[numbers], self.universe))


class Sample:
    """The queries of one subset."""

    def __init__(self, split: Split, subset: Subset) -> None:
        """Raises UnavailableError where the split lacks the subset or the subset is empty."""
        if subset not in split.subsets:
            raise UnavailableError(split.absent.get(subset, "not available: this copy of the split has no such list"))
        self.split = split
        self.subset = subset
        self.rows: Places = np.flatnonzero(split.subsets[subset])
        if not len(self.rows):
            raise UnavailableError("not available: no query is in this subset")
        self.cluster, self.universe = _clusters(split, subset, self.rows)
        self._queries: dict[_Chosen, Selection] = {}
        self._paraphrases: dict[_Chosen, Paraphrases] = {}

    def values(self, sheet: Sheet, term: Term, condition: Condition) -> Values:
        """Return what a term is the mean of. Raises UnavailableError with the reason."""
        column = sheet.column(term.column, term.condition or condition)
        values = column.values[self.rows]
        if term.spread is None:
            over = self._of_queries(column.counted, term.where)
            found = Values(values[over.items], over)
        else:
            found = self._of_paraphrases(column.counted, term.where).spread(values, term.spread)
        if not len(found.values):
            raise UnavailableError("not available: nothing in this selection counts towards it")
        return found

    def _of_queries(self, counted: BoolArray | None, where: Where) -> Selection:
        key = (where, b"" if counted is None else counted.tobytes())
        if key not in self._queries:
            items = np.flatnonzero(self._chosen(counted, where))
            self._queries[key] = Selection(items, self.cluster[items], self.universe)
        return self._queries[key]

    def _of_paraphrases(self, counted: BoolArray | None, where: Where) -> Paraphrases:
        key = (where, b"" if counted is None else counted.tobytes())
        if key not in self._paraphrases:
            self._paraphrases[key] = self.groups.among(self._chosen(counted, where))
        return self._paraphrases[key]

    def _chosen(self, counted: BoolArray | None, where: Where) -> BoolArray:
        """Return which queries (m,) of the subset count: those with a value and with these group values."""
        chosen = np.ones(len(self.rows), dtype=np.bool_) if counted is None else counted[self.rows]
        for dimension, value in where:
            chosen = chosen & self._group(dimension, value)
        return chosen

    def _group(self, dimension: str, value: str) -> BoolArray:
        masks = self.split.groups.get(dimension)
        if masks is None:
            raise UnavailableError(f"not available: the split has no groups by {dimension.replace('_', ' ')}")
        if value not in masks:
            raise UnavailableError(f"not available: the split has no group {dimension}={value}")
        return masks[value][self.rows]

    @cached_property
    def groups(self) -> ParaphraseGroups:
        """The subset's paraphrase groups. Raises UnavailableError where the split has none.

        A group is resampled with its cluster where every group lies in one cluster, else the groups themselves are
        resampled.
        """
        if self.subset not in self.split.paraphrase_groups:
            raise UnavailableError("not available: the split has no paraphrase groups for this subset")
        labels = self.split.paraphrase_groups[self.subset][self.rows]
        order = np.argsort(labels, kind="stable")
        label, size = np.unique(labels, return_counts=True)
        wanted = label[(label >= 0) & (size > 1)]
        order = order[np.isin(labels[order], wanted)]
        group = np.searchsorted(wanted, labels[order])
        cluster = self.cluster[order]
        first = cluster[np.flatnonzero(np.diff(group, prepend=-1))]
        if np.array_equal(cluster, first[group]):
            return ParaphraseGroups(order, group, first, self.universe)
        return ParaphraseGroups(order, group, np.arange(len(wanted)), Universe((len(wanted),)))


def _clusters(split: Split, subset: Subset, rows: Places) -> tuple[Places, Universe]:
    """Return the cluster of each query (m,), numbered stratum after stratum; a cluster in two strata is one in each."""
    clusters = split.clusters[rows].astype(np.int64)
    stratum = split.strata[subset][rows].astype(np.int64) if subset in split.strata else np.zeros_like(clusters)
    width = int(clusters.max()) + 1
    units, number = np.unique(stratum * width + clusters, return_inverse=True)
    _, sizes = np.unique(units // width, return_counts=True)
    return number, Universe(tuple(sizes.tolist()))
