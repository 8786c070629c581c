"""The first pass over a gallery: are its vectors sound, how do judged images score, what does a sample look like."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from evaluator.search import bounds
from evaluator.search.devices import over_blocks
from evaluator.search.kernels import Kernel
from evaluator.search.scores import Vectors, pair_scores
from evaluator.types import BoolArray, FloatArray, IndexArray, Similarity, VectorArray

SAMPLE = 512
"""Images whose products tell how to plan the second pass."""
_UNIT = 1 + 2.0**-20
"""No normalised vector is longer."""


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries as they are scored, and scaled by a power of two to lengths in [1, 2) as they are multiplied."""

    rows: VectorArray
    scaled: VectorArray
    scale: FloatArray  # (n,)
    lengths: FloatArray  # (n,) of the scaled ones
    errors: FloatArray  # (n,) distance of a scaled one from its bfloat16

    @classmethod
    def of(cls, rows: VectorArray) -> Queries:
        """Take rows as they are scored."""
        lengths = row_lengths(rows)
        scale = power_of_two(lengths)
        scaled = (rows * scale[:, np.newaxis]).astype(np.float32)
        return cls(rows, scaled, scale, lengths * scale, bounds.rounding_errors(scaled))

    def __len__(self) -> int:
        return len(self.rows)


def power_of_two(lengths: FloatArray) -> FloatArray:
    """Return the powers of two that bring lengths into [1, 2); 1 for a length of 0."""
    exponents = np.frexp(lengths)[1]
    return np.asarray(np.where(lengths > 0, np.ldexp(1.0, 1 - exponents), 1.0))


def row_lengths(rows: VectorArray) -> FloatArray:
    """Return lengths for a bound: in any order of summation."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Queries and positions in the gallery."""

    query: IndexArray
    image: IndexArray

    def __len__(self) -> int:
        return len(self.query)


@dataclass(eq=False)
class Survey:
    """What the first pass learns."""

    lengths: FloatArray  # (G,) as given
    scores: FloatArray  # (pairs,)
    sample: VectorArray  # (sample, d)
    bad: list[int] = field(default_factory=list)
    """Positions of vectors that are not finite, or zero where a direction is needed: then all else is void."""
    longest: float = 0.0
    worst: float = 0.0
    """The largest distance of a vector from its bfloat16; 0 where it was not asked for."""


def unsound(lengths: FloatArray, similarity: Similarity) -> BoolArray:
    """Return which vectors of these lengths cannot be scored."""
    wrong = ~np.isfinite(lengths)
    return wrong | (lengths == 0) if similarity == Similarity.COSINE else wrong


def survey(
    queries: VectorArray,
    gallery: Vectors,
    pairs: Pairs,
    kernels: list[Kernel],
    block: int,
    *,
    rounded: bool,
    told: Callable[[int], None],
) -> Survey:
    """Read the gallery once, in blocks, and tell how many are read. ``rounded``: find out what bfloat16 would lose."""
    size = len(gallery)
    chosen = np.unique(np.linspace(0, size - 1, min(size, SAMPLE)).astype(np.intp))
    sample = np.empty((len(chosen), queries.shape[1]), dtype=np.float32)
    found = Survey(np.empty(size), np.empty(len(pairs)), sample)
    by_image = np.argsort(pairs.image, kind="stable")
    images = pairs.image[by_image]
    lock = threading.Lock()

    def read(kernel: Kernel, part: slice) -> None:
        raw = gallery.raw(part)
        found.lengths[part] = lengths = gallery.lengths(raw)
        if (wrong := unsound(lengths, gallery.similarity)).any():
            found.bad.extend((np.flatnonzero(wrong) + part.start).tolist())
            return
        rows = gallery.normalised(raw, lengths, kernel.room(*raw.shape))
        mine = by_image[slice(*np.searchsorted(images, (part.start, part.stop)))]
        found.scores[mine] = pair_scores(queries, rows, pairs.query[mine], pairs.image[mine] - part.start)
        here = slice(*np.searchsorted(chosen, (part.start, part.stop)))
        sample[here] = rows[chosen[here] - part.start]
        cosine = gallery.similarity == Similarity.COSINE
        longest = _UNIT if cosine else float(lengths.max()) * _UNIT
        worst = float(bounds.rounding_errors(rows).max()) if rounded else 0.0
        with lock:
            found.longest, found.worst = max(found.longest, longest), max(found.worst, worst)

    over_blocks(kernels, size, block, read, told)
    return found
