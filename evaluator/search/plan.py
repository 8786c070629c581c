"""Which cells of a product are in doubt, and the cheapest way to find them. Nothing here can change a rank.

Around the score of each judged image lies a band in which a fast product does not decide. Bands of one query that touch
are merged into a **cluster**. What the scan needs of each cluster is how many cells lie above it and which lie inside.
Two ways lead there: comparing a whole row with the cluster's two ends, or listing the cells above a floor once and
sorting them among all clusters of the query. Judged images stand mostly among the nearest few thousand, where the list
is short and shared; the few that stand far below are compared one by one. Which is which comes from a sample of the
gallery.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.search.bounds import band
from evaluator.search.keys import COLUMN_BITS, MOST_COLUMNS, VALUE_BITS, key
from evaluator.search.scores import parts
from evaluator.types import FloatArray, IndexArray, VectorArray

_STRIDE = 16.0
"""Between two queries of a sample: products lie between -4 and 4."""
_MOST_ROWS = 1 << 16
_APART = 2.0**-26
"""Clusters closer than this are merged: their ends must stay apart as keys."""

_COMPARE = 1.0
"""Cost a cell of comparing a row with one cluster; the unit of the other costs (measured)."""
_LIST = 0.5
"""Cost a cell of looking for cells above a floor."""
_LISTED = 60.0
"""Cost of each cell that is above the floor."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Judged images of one gallery: by query, then from the lowest score to the highest, ties from last to first."""

    query: IndexArray  # (L,)
    image: IndexArray  # (L,) position in the gallery
    score: FloatArray  # (L,)
    source: IndexArray  # (L,) which of the caller's lines it is

    @classmethod
    def sort(cls, query: IndexArray, image: IndexArray, score: FloatArray) -> Lines:
        """Return lines in order."""
        order = np.lexsort((-image, score, query))
        return cls(query[order], image[order], score[order], order)

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Bands that touch, merged; a query's clusters follow each other upwards."""

    query: IndexArray  # (C,)
    first: IndexArray  # (C,) its first line
    end: IndexArray  # (C,) one past its last line
    low: VectorArray  # (C,)
    high: VectorArray  # (C,)

    @classmethod
    def merge(cls, query: IndexArray, score: FloatArray, radius: FloatArray, *, rounded: bool) -> Clusters:
        """Return the clusters of lines with these scores (L,) and radii (L,)."""
        low, high = band(score, radius, rounded=rounded)
        apart = np.ones(len(query), dtype=bool)
        apart[1:] = (query[1:] != query[:-1]) | (low[1:].astype(np.float64) - high[:-1] > _APART)
        first = np.flatnonzero(apart)
        end = np.append(first[1:], len(query))
        return cls(query[first], first, end, low[first], high[end - 1] if len(first) else high)

    def __len__(self) -> int:
        return len(self.query)

    def spans(self, queries: int) -> tuple[IndexArray, IndexArray]:
        """Return for each query (n,) its first cluster and one past its last."""
        every = np.arange(queries)
        return np.searchsorted(self.query, every), np.searchsorted(self.query, every, side="right")


@dataclass(frozen=True, eq=False)
class Sample:
    """Products with a sample of the gallery: what share of it lies above a value."""

    keys: FloatArray
    """Ascending within each query, offset by ``_STRIDE`` times the query."""
    size: int

    @property
    def rows(self) -> int:
        return len(self.keys) // self.size

    @classmethod
    def of(cls, products: VectorArray) -> Sample:
        """Take the products (n, sample)."""
        rows, size = products.shape
        keys = np.sort(products, axis=1) + (np.arange(rows) * _STRIDE)[:, np.newaxis]
        return cls(keys.ravel(), size)

    def share_above(self, query: IndexArray, value: VectorArray) -> FloatArray:
        """Return the share of the gallery that ranks above each value, estimated."""
        below = np.searchsorted(self.keys, query * _STRIDE + value) - query * self.size
        return np.asarray(1.0 - below / self.size)


@dataclass(frozen=True, eq=False)
class Layer:
    """One cluster of each of a tile's first rows, to be compared with."""

    cluster: IndexArray  # (m,)
    low: VectorArray  # (m,)
    high: VectorArray  # (m,)


@dataclass(frozen=True, eq=False)
class TilePlan:
    """What to read off the products of some queries."""

    query: IndexArray  # (R,)
    layers: tuple[Layer, ...]
    floor: VectorArray  # (R,) infinite where nothing is listed
    listed: IndexArray  # (P,) the clusters that are listed, by row, upwards
    edges: IndexArray  # (2 P,) the keys at which each begins and after which it ends, ascending
    row_end: IndexArray  # (P,) the key after which its row ends


def plan_tiles(clusters: Clusters, queries: IndexArray, sample: Sample, rows: int) -> list[TilePlan]:
    """Return plans for tiles of at most ``rows`` of these queries."""
    first, end = clusters.spans(sample.rows)
    compared = _compared(clusters, sample, first, end)
    order = queries[np.argsort(-compared[queries], kind="stable")]
    return [_tile(clusters, order[part], first, end, compared) for part in parts(len(order), min(rows, _MOST_ROWS))]


def _compared(clusters: Clusters, sample: Sample, first: IndexArray, end: IndexArray) -> IndexArray:
    """Return how many of each query's lowest clusters (n,) are compared one by one; the others are listed."""
    place = np.arange(len(clusters)) - first[clusters.query]
    cost = place * _COMPARE + _LIST + _LISTED * sample.share_above(clusters.query, clusters.low)
    compared, some = end - first, end > first
    cheapest = np.zeros(len(first))
    cheapest[some] = np.minimum.reduceat(cost, first[some]) if len(cost) else 0
    at_best = np.where(cost == cheapest[clusters.query], place, len(place))
    listed = some & (cheapest < compared * _COMPARE)
    compared[listed] = np.minimum.reduceat(at_best, first[some])[listed[some]] if len(cost) else 0
    return compared


def _tile(clusters: Clusters, query: IndexArray, first: IndexArray, end: IndexArray, compared: IndexArray) -> TilePlan:
    many = compared[query]
    layers = []
    for depth in range(int(many.max(initial=0))):
        cluster = first[query[many > depth]] + depth
        layers.append(Layer(cluster, clusters.low[cluster], clusters.high[cluster]))
    lowest = first[query] + many
    count = end[query] - lowest
    floor = np.full(len(query), np.inf, dtype=np.float32)
    floor[count > 0] = clusters.low[lowest[count > 0]]
    row = np.repeat(np.arange(len(query)), count)
    listed = lowest[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    edges = np.empty(2 * len(row), dtype=np.int64)
    edges[0::2] = key(row, clusters.low[listed], 0)
    edges[1::2] = key(row, clusters.high[listed], MOST_COLUMNS)
    return TilePlan(query, tuple(layers), floor, listed, edges, (row + 1) << (VALUE_BITS + COLUMN_BITS))
