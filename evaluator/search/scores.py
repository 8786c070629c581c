"""What a score is: the float64 dot product of two float32 vectors, summed in one fixed order.

Vectors are cast to float32. Under cosine each is then divided by its length: ``float32(x * (1 / |x|))``, the length and
the product taken in float64. Vectors are padded with zeros to a multiple of :data:`LANES`. The score of a pair is the
sum of the products of its coordinates in float64, **folded**: the second half is added to the first until one number
is left (:func:`fold`). A product of two float32 numbers has at most 48 significant bits, so it is exact in float64,
and a processor that fuses multiply and add gets the same sums as one that does not. The order is spelled out here in
additions of whole arrays, which every machine rounds alike, and left neither to a BLAS library nor to ``numpy.sum``,
whose orders change with the processor, the number of threads and the version. Equal vectors therefore have equal
scores, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.types import FloatArray, IndexArray, Similarity, VectorArray

LANES = 64
"""Vectors are padded to a multiple of this many coordinates."""
_ROWS = 64
"""Rows worked on at a time: their float64 copies stay in a processor's second cache."""


def fold(products: FloatArray, spare: FloatArray | None = None) -> FloatArray:
    """Return the sums (m,) of the rows of (m, d): the second half is added to the first until one column is left.

    With an odd number of columns the middle one waits for the next turn. ``products`` is overwritten; so is ``spare``,
    memory of (m, half of d) that a caller may lend.
    """
    width = products.shape[1]
    into = np.empty((len(products), (width + 1) // 2)) if spare is None else spare
    while width > 1:
        half = (width + 1) // 2
        np.add(products[:, : width - half], products[:, half:width], out=into[:, : width - half])
        if width % 2:
            into[:, half - 1] = products[:, half - 1]
        products, into, width = into, products, half
    return products[:, 0]


def pair_scores(queries: VectorArray, gallery: VectorArray, rows: IndexArray, columns: IndexArray) -> FloatArray:
    """Return the scores (m,) of the pairs ``queries[rows[i]]`` and ``gallery[columns[i]]``."""
    scores = np.empty(len(rows))
    spare = np.empty((_ROWS, (queries.shape[1] + 1) // 2))
    for part, left, right in double_pairs(queries, gallery, rows, columns):
        np.multiply(left, right, out=left)
        scores[part] = fold(left, spare[: len(left)])
    return scores


def double_pairs(
    queries: VectorArray, gallery: VectorArray, rows: IndexArray, columns: IndexArray
) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Yield pairs of vectors in float64, some at a time and always in the same memory."""
    size = min(len(rows), _ROWS)
    double = np.empty((2, size, queries.shape[1]))
    for part, *singles in single_pairs(queries, gallery, rows, columns):
        left, right = double[:, : part.stop - part.start]
        left[...], right[...] = singles
        yield part, left, right


def single_pairs(
    queries: VectorArray, gallery: VectorArray, rows: IndexArray, columns: IndexArray
) -> Iterator[tuple[slice, VectorArray, VectorArray]]:
    """Yield the same in float32."""
    size = min(len(rows), _ROWS)
    single = np.empty((2, size, queries.shape[1]), dtype=np.float32)
    for part in parts(len(rows), _ROWS):
        left, right = single[:, : part.stop - part.start]
        np.take(queries, rows[part], axis=0, out=left, mode="clip")
        np.take(gallery, columns[part], axis=0, out=right, mode="clip")
        yield part, left, right


def parts(count: int, size: int) -> Iterator[slice]:
    """Yield slices of at most ``size`` that cover ``count`` things."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows of a matrix as the search reads them: float32, padded, normalised where the similarity is cosine.

    ``matrix`` (m, d) may have any floating dtype, byte order and memory order, and may be a memory-mapped file: only
    the rows asked for are read. ``chosen`` are its rows that count, ascending; None is all of them.
    """

    matrix: NDArray[np.floating]
    similarity: Similarity
    chosen: IndexArray | None = None

    def __len__(self) -> int:
        return len(self.matrix) if self.chosen is None else len(self.chosen)

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    def row(self, position: int) -> int:
        """Return the row of ``matrix`` at a position of this selection."""
        return position if self.chosen is None else int(self.chosen[position])

    def raw(self, part: slice | IndexArray) -> VectorArray:
        """Return rows, by slice or by number, as float32, padded; a number that float32 cannot hold becomes
        infinite."""
        found = self.matrix[part] if self.chosen is None else self.matrix[self.chosen[part]]
        width = -(-self.dimension // LANES) * LANES
        native = found.dtype == np.float32 and found.dtype.isnative and found.flags.c_contiguous
        if native and width == self.dimension:
            return np.asarray(found)
        padded = np.zeros((len(found), width), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            padded[:, : self.dimension] = found
        return padded

    def lengths(self, raw: VectorArray) -> FloatArray:
        """Return the lengths (m,) of raw rows; not finite where a coordinate is not."""
        squared = np.empty(len(raw))
        spare = np.empty((_ROWS, (raw.shape[1] + 1) // 2))
        with np.errstate(invalid="ignore"):
            for part, rows in _doubled(raw):
                np.multiply(rows, rows, out=rows)
                squared[part] = fold(rows, spare[: len(rows)])
        return np.sqrt(squared)

    def normalised(self, raw: VectorArray, lengths: FloatArray, room: VectorArray | None = None) -> VectorArray:
        """Return raw rows as they are scored: divided by their lengths under cosine, untouched otherwise.

        The former are written into ``room`` where it is given.
        """
        if self.similarity != Similarity.COSINE:
            return raw
        inverse = 1.0 / lengths
        scaled = np.empty_like(raw) if room is None else room
        for part, rows in _doubled(raw):
            np.multiply(rows, inverse[part, np.newaxis], out=rows)
            scaled[part] = rows
        return scaled


def _doubled(rows: VectorArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield rows in float64, some at a time and always in the same memory."""
    memory = np.empty((min(len(rows), _ROWS), rows.shape[1]))
    for part in parts(len(rows), _ROWS):
        double = memory[: part.stop - part.start]
        double[...] = rows[part]
        yield part, double
