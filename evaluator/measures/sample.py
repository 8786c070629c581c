"""Which queries a mean is over, and what is resampled for it: the clusters of a subset, or its paraphrase groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluator.measures.base import PerQuery, QueryMeasure, Spread, Term
from evaluator.measures.paraphrase import spread_within
from evaluator.measures.view import RunView, UnavailableError
from evaluator.types import BoolArray, Condition, FloatArray, Split, Subset

Places = NDArray[np.intp]


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
class Values:
    """What one mean is over: a value for each of some items, and the cluster each item belongs to."""

    values: FloatArray  # (m,)
    items: Places  # (m,) the queries' places in the subset, or the groups' numbers
    cluster: Places  # (m,)
    universe: Universe


@dataclass(frozen=True, eq=False)
class ParaphraseGroups:
    """The groups of a subset that hold two or more of its queries."""

    order: Places  # (p,) places of their queries in the subset, group after group
    group: Places  # (p,) number of each one's group, ascending from 0
    cluster: Places  # (g,) what is resampled for each group
    universe: Universe


class Sample:
    """The queries of one subset."""

    def __init__(self, split: Split, subset: Subset) -> None:
        """Raises UnavailableError where the split lacks the subset or the subset is empty."""
        if subset not in split.subsets:
            reason = split.absent.get(subset, "this copy of the split has no such list")
            raise UnavailableError(f"not available: {reason}")
        self.split = split
        self.subset = subset
        self.rows: Places = np.flatnonzero(split.subsets[subset])
        if not len(self.rows):
            raise UnavailableError("not available: no query is in this subset")
        self.cluster, self.universe = _clusters(split, subset, self.rows)

    def values(self, sheet: Sheet, term: Term, condition: Condition) -> Values:
        """Return what a term is the mean of. Raises UnavailableError with the reason."""
        column = sheet.column(term.column, term.condition or condition)
        counted = self.counted(column, term.where)
        values = column.values[self.rows]
        if term.spread is None:
            places = np.flatnonzero(counted)
            found = Values(values[places], places, self.cluster[places], self.universe)
        else:
            found = self._spreads(values, counted, term.spread)
        if not len(found.items):
            raise UnavailableError("not available: nothing in this selection counts towards it")
        return found

    def counted(self, column: PerQuery, where: tuple[tuple[str, str], ...]) -> BoolArray:
        """Return which queries (m,) of the subset count: those the column has a value for, with these group values."""
        counted = np.ones(len(self.rows), dtype=np.bool_) if column.counted is None else column.counted[self.rows]
        for dimension, value in where:
            counted = counted & self._group(dimension, value)
        return counted

    def _group(self, dimension: str, value: str) -> BoolArray:
        masks = self.split.groups.get(dimension)
        if masks is None:
            raise UnavailableError(f"not available: the split has no groups by {dimension.replace('_', ' ')}")
        if value not in masks:
            raise UnavailableError(f"not available: the split has no group {dimension}={value}")
        return masks[value][self.rows]

    def _spreads(self, values: FloatArray, counted: BoolArray, spread: Spread) -> Values:
        """Return the spread within each paraphrase group over its queries that count; groups of one are left out."""
        groups = self.groups
        kept = counted[groups.order]
        order, group = groups.order[kept], groups.group[kept]
        several = np.bincount(group, minlength=len(groups.cluster))[group] > 1
        order, group = order[several], group[several]
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        numbers = group[starts]
        spreads = spread_within(values[order], starts, spread) if len(starts) else np.zeros(0)
        return Values(spreads, numbers, groups.cluster[numbers], groups.universe)

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
