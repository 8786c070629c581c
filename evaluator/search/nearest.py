"""The k nearest images of each query, by the score and the tie rule of the judged ranks.

Any library may propose images; none decides. Whatever a query was not proposed has a product of at most a, the lowest
that was; if products are off by at most r, it scores at most a + r. So once k proposals score above that, the nearest k
are among them; until then the query asks for more, up to the whole gallery. Proposals are scored as
:mod:`evaluator.search.scores` says and ordered: higher first, then earlier in the gallery.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from evaluator.errors import FaultList
from evaluator.search import bounds
from evaluator.search.devices import open_finders, over_blocks
from evaluator.search.kernels import Kernel
from evaluator.search.scores import Vectors, pair_scores, parts
from evaluator.search.steps import READ, Progress, Steps
from evaluator.search.survey import Pairs, Queries, power_of_two, survey
from evaluator.search.vectors import check_dimensions, note, sound_queries
from evaluator.types import Embeddings, FloatArray, IndexArray, VectorArray

_MORE = 30
"""Proposals beyond k: the few whose products could be mistaken, and some ties."""
_GROWTH = 8
_CELLS = 1 << 22
"""Proposals held at once; fewer queries are asked together when each needs many."""
_SCORED = 4096
"""Proposals scored at a time."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest images of each query, best first: rows of the gallery, and their scores."""

    images: IndexArray  # (n, min(k, G))
    scores: FloatArray  # (n, min(k, G))


def top_k(
    embeddings: Embeddings,
    k: int,
    *,
    block: int = 0,
    device: str = "auto",
    threads: int = 0,
    progress: Progress | None = None,
) -> Nearest:
    """Return the ``k`` nearest images of each query, or all of them where the gallery is smaller.

    The same whatever ``block`` (images at a time; 0: what suits the device), ``device`` (as for ``judged_ranks``, or
    ``faiss``) and ``threads``. ``auto`` takes faiss on a GPU where it is installed, and torch before NumPy otherwise:
    faiss is the slowest of the three on a CPU (benchmarks/README.md). ``progress`` is as for ``judged_ranks``. Raises
    SubmissionError with a fault for each vector that cannot be scored.
    """
    check_dimensions(embeddings.queries, embeddings.gallery)
    finders = open_finders(device, threads)
    queries = sound_queries(embeddings.queries, embeddings.similarity)
    gallery = Vectors(embeddings.gallery, embeddings.similarity)
    steps = Steps(progress, len(gallery) * (READ + len(queries)))
    search = _Search(queries, gallery, finders, block or finders[0].block, steps)
    count = min(max(k, 0), len(embeddings.gallery))
    images = np.empty((len(queries), count), dtype=np.intp)
    scores = np.empty((len(queries), count))
    if images.size:
        search.fill(images, scores)
    steps.end()
    return Nearest(images, scores)


class _Search:
    """The nearest images in one gallery."""

    def __init__(self, queries: Queries, gallery: Vectors, finders: list[Kernel], block: int, steps: Steps) -> None:
        self._queries = queries
        self._gallery = gallery
        self._finders = finders
        self._block = block
        self._steps = steps
        nothing = np.zeros(0, dtype=np.intp)
        none = Pairs(nothing, nothing)
        found = survey(queries.rows, gallery, none, finders, block, rounded=False, told=steps.of(READ))
        faults = FaultList()
        for row in sorted(found.bad):
            note(faults, found.lengths[row], f"gallery vector {row}")
        faults.raise_if_any()
        self._lengths = found.lengths
        self._scale = float(power_of_two(np.array([found.longest]))[0])
        dimension = queries.rows.shape[1]
        self._radius = bounds.float32_radius(queries.lengths, found.longest * self._scale, dimension, slice_=dimension)

    def fill(self, images: IndexArray, scores: FloatArray) -> None:
        """Write the nearest images of every query and their scores."""
        count, size = images.shape[1], len(self._gallery)
        asked, many = np.arange(len(images)), min(size, count + _MORE)
        while len(asked):
            open_ = [self._settle(asked[part], many, images, scores) for part in parts(len(asked), _CELLS // many or 1)]
            asked, many = np.concatenate(open_), min(size, many * _GROWTH)

    def _settle(self, asked: IndexArray, many: int, images: IndexArray, scores: FloatArray) -> IndexArray:
        """Write what ``many`` proposals decide; return the queries that need more."""
        products, proposed = self._propose(asked, many)
        found = self._score(asked, proposed)
        order = np.lexsort((proposed, -found), axis=1)[:, : images.shape[1]]
        images[asked] = np.take_along_axis(proposed, order, axis=1)
        scores[asked] = found = np.take_along_axis(found, order, axis=1)
        if many == len(self._gallery):
            return asked[:0]
        worst = found[:, -1] * self._queries.scale[asked] * self._scale
        return np.asarray(asked[worst <= products.min(axis=1) + self._radius[asked]])

    def _propose(self, asked: IndexArray, many: int) -> tuple[VectorArray, IndexArray]:
        """Return the largest products (queries, many) over the gallery, and their images."""
        kept = _Kept(self._queries.scaled[asked], many)

        def look(finder: Kernel, part: slice) -> None:
            rows = self._gallery.normalised(self._gallery.raw(part), self._lengths[part])
            scaled = rows if self._scale == 1.0 else (rows * self._scale).astype(np.float32)
            kept.look(finder, scaled, part.start)

        told = self._steps.of(len(asked))  # what is asked again tells no more than that it still runs
        over_blocks(self._finders, len(self._gallery), self._block, look, told)
        return kept.products, kept.images

    def _score(self, asked: IndexArray, proposed: IndexArray) -> FloatArray:
        scores = np.empty(proposed.size)
        query = np.repeat(asked, proposed.shape[1])
        for part in parts(proposed.size, _SCORED):
            image = proposed.ravel()[part]
            rows = self._gallery.normalised(self._gallery.raw(image), self._lengths[image])
            scores[part] = pair_scores(self._queries.rows, rows, query[part], np.arange(len(rows)))
        return scores.reshape(proposed.shape)


class _Kept:
    """The largest products of some queries so far."""

    def __init__(self, queries: VectorArray, many: int) -> None:
        self._queries = queries
        self.products = np.full((len(queries), many), -np.inf, dtype=np.float32)
        self.images = np.full((len(queries), many), -1, dtype=np.intp)
        self._lock = threading.Lock()

    def look(self, finder: Kernel, rows: VectorArray, start: int) -> None:
        """Take in the products with a block of images."""
        many = min(self.products.shape[1], len(rows))
        right = finder.put(rows, rounded=False)
        for part in parts(len(self._queries), max(1, finder.cells // len(rows))):
            products, columns = finder.nearest(finder.put(self._queries[part], rounded=False), right, many)
            with self._lock:
                self._merge(part, products, columns + start)

    def _merge(self, part: slice, products: VectorArray, images: IndexArray) -> None:
        width = self.products.shape[1]
        products = np.concatenate((self.products[part], products), axis=1)
        images = np.concatenate((self.images[part], images), axis=1)
        kept = np.argpartition(-products, width - 1, axis=1)[:, :width]
        self.products[part] = np.take_along_axis(products, kept, axis=1)
        self.images[part] = np.take_along_axis(images, kept, axis=1)
