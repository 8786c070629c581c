"""Where an image stands among the judged images of a query: the tie rule, and what to do when a product is in doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.search import bounds
from evaluator.search.plan import Clusters, Lines
from evaluator.search.scores import double_pairs, pair_scores, single_pairs
from evaluator.search.survey import Queries
from evaluator.types import BoolArray, FloatArray, IndexArray, VectorArray

Beats = Callable[[IndexArray, IndexArray], BoolArray]
"""Whether each of some things stands above a line."""
_DENSE = 64
"""Pairs in doubt for each image of a block, beyond which images are looked at for equal vectors."""


def place(first: IndexArray, end: IndexArray, beats: Beats) -> IndexArray:
    """Return for each thing the first line from ``first[i]`` to ``end[i]`` that it does not beat, by bisection.

    ``beats`` must hold for some number of lines from the first on, and for none after.
    """
    low, high = first.copy(), end.copy()
    while len(which := np.flatnonzero(low < high)):
        middle = (low[which] + high[which]) // 2
        above = beats(which, middle)
        low[which[above]] = middle[above] + 1
        high[which[~above]] = middle[~above]
    return low


def tie_rule(lines: Lines, scores: FloatArray, images: IndexArray) -> Beats:
    """Return decision 19: a higher score stands above, and so does the same score earlier in the gallery."""

    def beats(which: IndexArray, line: IndexArray) -> BoolArray:
        score, judged = scores[which], lines.score[line]
        return np.asarray((score > judged) | ((score == judged) & (images[which] < lines.image[line])))

    return beats


def add_spans(differences: IndexArray, first: IndexArray, end: IndexArray) -> None:
    """Add 1 to the lines from ``first[i]`` up to ``end[i]``, in an array of differences."""
    size = len(differences)
    differences += np.bincount(first, minlength=size) - np.bincount(end, minlength=size)


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive images: as they are scored, as they are multiplied, and where they begin."""

    rows: VectorArray
    scaled: VectorArray
    start: int

    @cached_property
    def leaders(self) -> IndexArray:
        """For each image the first of the block with the very same vector."""
        rows = np.ascontiguousarray(self.rows)
        whole = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        return first[inverse]


@dataclass(frozen=True, eq=False)
class Doubts:
    """Images of a block that lie inside a cluster of a query."""

    query: IndexArray
    column: IndexArray
    cluster: IndexArray

    def __len__(self) -> int:
        return len(self.query)

    def only(self, which: BoolArray | IndexArray) -> Doubts:
        return Doubts(self.query[which], self.column[which], self.cluster[which])


Value = Callable[[Block, IndexArray, IndexArray], FloatArray]
"""The products of pairs of a query and an image of a block."""


class Judge:
    """Settles doubts: by closer and closer looks, and where those do not decide, by the score itself."""

    def __init__(self, queries: Queries, lines: Lines, scale: float, longest: float) -> None:
        self._queries = queries
        self._lines = lines
        self.scaled_score = lines.score * queries.scale[lines.query] * scale
        """(L,) the lines' scores as they are multiplied."""
        dimension = queries.rows.shape[1]
        self._single_radius = bounds.float32_radius(queries.lengths, longest, dimension, slice_=dimension)
        self._double_radius = bounds.float64_radius(queries.lengths, longest, dimension)

    def settle(
        self, block: Block, clusters: Clusters, doubts: Doubts, *, rounded: bool
    ) -> tuple[IndexArray, IndexArray]:
        """Return the lines that each image beats within its cluster, as spans: the first, and one past the last."""
        doubts = doubts.only(~self._itself(block, clusters, doubts))
        first, end = clusters.first[doubts.cluster], clusters.end[doubts.cluster]
        low, high = first, end
        for value, radius in self._looks(rounded=rounded):
            low, high = self._narrow(block, doubts, (low, high), value, radius)
        if (open_ := low < high).any():
            left = doubts.only(open_)
            rule = tie_rule(self._lines, self._distinct(block, left, self._exact), block.start + left.column)
            low[open_] = place(low[open_], high[open_], rule)
        return first, low

    def _looks(self, *, rounded: bool) -> Iterator[tuple[Value, FloatArray]]:
        """Yield ever closer looks with their radii; a float32 product has had the first of them."""
        if rounded:
            yield self._single, self._single_radius
        yield self._double, self._double_radius

    def _narrow(
        self, block: Block, doubts: Doubts, span: tuple[IndexArray, IndexArray], value: Value, radius: FloatArray
    ) -> tuple[IndexArray, IndexArray]:
        """Return between which lines each image stands, by a closer look at those that ``span`` leaves open."""
        low, high = span[0].copy(), span[1].copy()
        open_ = np.flatnonzero(low < high)
        left = doubts.only(open_)
        near, off = self._distinct(block, left, value), radius[left.query]
        low[open_] = place(low[open_], high[open_], lambda i, line: near[i] > self.scaled_score[line] + off[i])
        high[open_] = place(low[open_], high[open_], lambda i, line: near[i] >= self.scaled_score[line] - off[i])
        return low, high

    def _itself(self, block: Block, clusters: Clusters, doubts: Doubts) -> BoolArray:
        """Return which doubts are the cluster's only judged image."""
        first, end = clusters.first[doubts.cluster], clusters.end[doubts.cluster]
        return np.asarray((end - first == 1) & (self._lines.image[first] == block.start + doubts.column))

    def _single(self, block: Block, query: IndexArray, column: IndexArray) -> FloatArray:
        """Return products of pairs in float32."""
        products = np.empty(len(query))
        for part, left, right in single_pairs(self._queries.scaled, block.scaled, query, column):
            products[part] = np.einsum("ij,ij->i", left, right)
        return products

    def _double(self, block: Block, query: IndexArray, column: IndexArray) -> FloatArray:
        """Return products of pairs in float64, in any order."""
        products = np.empty(len(query))
        for part, left, right in double_pairs(self._queries.scaled, block.scaled, query, column):
            products[part] = np.einsum("ij,ij->i", left, right)
        return products

    def _exact(self, block: Block, query: IndexArray, column: IndexArray) -> FloatArray:
        return pair_scores(self._queries.rows, block.rows, query, column)

    @staticmethod
    def _distinct(block: Block, doubts: Doubts, value: Value) -> FloatArray:
        """Return the value of each pair; where many are in doubt, equal vectors are looked at once."""
        size = len(block.rows)
        if len(doubts) < _DENSE * size:
            return value(block, doubts.query, doubts.column)
        keys, inverse = np.unique(doubts.query * size + block.leaders[doubts.column], return_inverse=True)
        return value(block, keys // size, keys % size)[inverse]
