"""The second pass over a gallery: how many images stand above each judged image.

Every query is multiplied with every image, block by block. What lies above a cluster (see :mod:`evaluator.search.plan`)
is counted, what lies inside is settled (:mod:`evaluator.search.settle`). Counts add up, so blocks can be taken in any
order, by any number of workers on any number of devices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.search import bounds
from evaluator.search.devices import over_blocks
from evaluator.search.kernels import Handle, Kernel, Tile
from evaluator.search.keys import column_of
from evaluator.search.plan import Clusters, Lines, Sample, TilePlan, plan_tiles
from evaluator.search.scores import Vectors, pair_scores
from evaluator.search.settle import Block, Doubts, Judge, add_spans
from evaluator.search.survey import Queries, Survey, power_of_two
from evaluator.types import BoolArray, IndexArray, VectorArray

_MANY = 8
"""Judged images a query from which narrower bands are worth slicing the products."""
_PAIR_COST = 100.0
"""Cost of looking at one pair again, in float32 products of one query and one image (measured)."""
_SAVED = 0.7
"""What a bfloat16 product saves of a float32 product where it is fast (measured)."""


@dataclass(frozen=True, eq=False)
class Part:
    """How some of the queries are multiplied, and what was counted."""

    rounded: bool
    clusters: Clusters
    tiles: list[TilePlan]
    above: IndexArray  # (C,) images above each cluster
    handles: dict[tuple[int, int], Handle] = field(default_factory=dict)
    """What each kernel made of the queries of each tile."""


class Scan:
    """One pass. ``screen`` is ``float32``, ``bfloat16`` or ``auto``: whichever is faster, for each query."""

    def __init__(self, queries: Queries, gallery: Vectors, lines: Lines, survey: Survey, screen: str) -> None:
        self._queries = queries
        self._gallery = gallery
        self._lines = lines
        self._survey = survey
        self._screen = screen
        self._scale = float(power_of_two(np.array([survey.longest]))[0])
        self._longest = survey.longest * self._scale
        self._judge = Judge(queries, lines, self._scale, self._longest)
        dimension = queries.rows.shape[1]
        many = len(lines) > _MANY * len(np.unique(lines.query))
        self._slice = min(bounds.SLICE, dimension) if many else dimension
        self._radius = bounds.float32_radius(queries.lengths, self._longest, dimension, slice_=self._slice)
        self._differences = np.zeros(len(lines) + 1, dtype=np.intp)
        self._lock = threading.Lock()

    def counts(self, kernels: list[Kernel], block: int, told: Callable[[int], None]) -> IndexArray:
        """Return how many images of the gallery stand above each line (L,); ``told`` hears how many are done."""
        whole = self._plan(kernels[0], block)
        over_blocks(kernels, len(self._gallery), block, lambda kernel, images: self._count(kernel, images, whole), told)
        counts = np.cumsum(self._differences)[:-1]
        for part in whole:
            counts += np.repeat(part.above, part.clusters.end - part.clusters.first)
        return counts

    def _plan(self, kernel: Kernel, block: int) -> list[Part]:
        sample = Sample.of(self._sample_products(kernel))
        judged = np.unique(self._lines.query)
        wide = self._clusters(rounded=True)
        coarse = self._coarse(kernel, wide, sample)[judged]
        chosen = ((False, self._clusters(rounded=False), judged[~coarse]), (True, wide, judged[coarse]))
        rows = max(1, kernel.cells // block)
        return [
            Part(rounded, clusters, plan_tiles(clusters, mine, sample, rows), np.zeros(len(clusters), dtype=np.intp))
            for rounded, clusters, mine in chosen
            if len(mine)
        ]

    def _clusters(self, *, rounded: bool) -> Clusters:
        queries, dimension = self._queries, self._queries.rows.shape[1]
        radius = self._radius
        if rounded:
            worst = self._survey.worst * self._scale
            radius = bounds.bfloat16_radius(queries.lengths, queries.errors, self._longest, worst, dimension)
        query = self._lines.query
        return Clusters.merge(query, self._judge.scaled_score, radius[query], rounded=rounded)

    def _coarse(self, kernel: Kernel, clusters: Clusters, sample: Sample) -> BoolArray:
        """Return which queries (n,) are multiplied in bfloat16 first."""
        if self._screen != "auto" or not kernel.fast_bfloat16:
            return np.full(len(self._queries), self._screen == "bfloat16")
        query = clusters.query
        inside = sample.share_above(query, clusters.low) - sample.share_above(query, clusters.high)
        share = np.bincount(query, weights=inside, minlength=len(self._queries))
        return np.asarray(share * _PAIR_COST < _SAVED)

    def _sample_products(self, kernel: Kernel) -> VectorArray:
        """Return products with the sample (n, sample), once they are seen to be as exact as the bounds assume."""
        queries, sample = self._queries, self._survey.sample
        products = np.empty((len(queries), len(sample)), dtype=np.float32)

        def multiply(kernel: Kernel, part: slice) -> None:
            left, right = (kernel.put(rows, rounded=False) for rows in (queries.scaled[part], self._scaled(sample)))
            products[part] = kernel.fetch(kernel.product(left, right, self._slice))

        over_blocks([kernel], len(queries), 1024, multiply)
        row = np.arange(len(queries))
        column = row % len(sample)
        scores = pair_scores(queries.rows, sample, row, column) * queries.scale * self._scale
        if (np.abs(products[row, column] - scores) > self._radius).any():
            raise EvaluatorError("products on this device are less exact than float32: ranks would not be proven")
        return products

    def _scaled(self, rows: VectorArray) -> VectorArray:
        return rows if self._scale == 1.0 else (rows * self._scale).astype(np.float32)

    def _count(self, kernel: Kernel, images: slice, whole: list[Part]) -> None:
        raw = self._gallery.raw(images)
        rows = self._gallery.normalised(raw, self._survey.lengths[images], kernel.room(*raw.shape))
        block = Block(rows, self._scaled(rows), images.start)
        for part in whole:
            right = kernel.put(block.scaled, rounded=part.rounded)
            for number, tile in enumerate(part.tiles):
                product = kernel.product(self._left(kernel, part, number), right, self._slice)
                doubts = _gather(
                    [*self._compare(kernel, product, part, tile), *self._list(kernel, product, part, tile)]
                )
                if len(doubts):
                    first, end = self._judge.settle(block, part.clusters, doubts, rounded=part.rounded)
                    with self._lock:
                        add_spans(self._differences, first, end)

    def _compare(self, kernel: Kernel, product: Tile, part: Part, tile: TilePlan) -> Iterator[Doubts]:
        """Count what is above the clusters that are compared one by one; yield what is inside."""
        for layer in tile.layers:
            counts, cells = kernel.between(product, layer.low, layer.high)
            with self._lock:
                part.above[layer.cluster] += counts
            row, column = np.divmod(cells, product.shape[1])
            yield Doubts(tile.query[row], column, layer.cluster[row])

    def _list(self, kernel: Kernel, product: Tile, part: Part, tile: TilePlan) -> Iterator[Doubts]:
        """Count what is above the clusters that are listed; yield what is inside."""
        if not len(tile.listed):
            return
        keys = kernel.listed(product, tile.floor)
        begin, end = kernel.find(keys, tile.edges).reshape(-1, 2).T
        above = kernel.find(keys, tile.row_end) - end
        with self._lock:
            part.above[tile.listed] += above
        inside = np.flatnonzero(end > begin)
        found, owner = spread(begin[inside], end[inside])
        cells = kernel.pick(keys, found)
        cluster = tile.listed[inside][owner]
        yield Doubts(part.clusters.query[cluster], column_of(cells), cluster)

    def _left(self, kernel: Kernel, part: Part, number: int) -> Handle:
        key = (id(kernel), number)
        if key not in part.handles:
            rows = self._queries.scaled[part.tiles[number].query]
            part.handles[key] = kernel.put(rows, rounded=part.rounded)
        return part.handles[key]


def _gather(doubts: list[Doubts]) -> Doubts:
    if len(doubts) == 1:
        return doubts[0]
    nothing = np.zeros(0, dtype=np.intp)
    columns = zip(*((some.query, some.column, some.cluster) for some in doubts), strict=True)
    return Doubts(*(np.concatenate(column) for column in columns)) if doubts else Doubts(nothing, nothing, nothing)


def spread(begin: IndexArray, end: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the numbers of all ranges one after the other, and which range each is of."""
    length = end - begin
    owner = np.repeat(np.arange(len(begin)), length)
    return np.arange(len(owner)) + (begin - np.cumsum(length) + length)[owner], owner
