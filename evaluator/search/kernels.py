"""Fast products and what is read off them.

A kernel multiplies a tile of queries with a block of the gallery and answers two questions about the tile. Its numbers
only screen (see :mod:`evaluator.search.bounds`), so a kernel can be any library on any device. Each kernel belongs to
one thread: it keeps its tile from call to call.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluator.search.bounds import to_bfloat16
from evaluator.search.keys import key
from evaluator.search.scores import parts
from evaluator.types import IndexArray, VectorArray

Handle = Any
"""Vectors where the kernel wants them."""
Tile = Any
"""A matrix of fast products, (queries, images), where the kernel keeps it."""
Keys = Any
"""Cells of a tile as ascending numbers, where the kernel keeps them."""
_CACHED = 1 << 17
"""Cells looked at at a time: half a megabyte, which stays in a processor's second cache between two looks."""


class Kernel(Protocol):
    """One worker's products."""

    fast_bfloat16: bool
    """Whether bfloat16 products are much faster here than float32 products."""
    block: int
    """Images of the gallery to multiply with at a time, unless the caller says otherwise."""
    cells: int
    """Cells of a tile that suit the device."""

    def enter(self) -> None:
        """Begin to work in the calling thread."""

    def room(self, rows: int, width: int) -> VectorArray:
        """Return memory of the host for a block of vectors, the same at every call: giving it back costs time."""

    def put(self, rows: VectorArray, *, rounded: bool) -> Handle:
        """Take vectors in, rounded to bfloat16 if so asked."""

    def product(self, left: Handle, right: Handle, slice_: int) -> Tile:
        """Return left times right transposed, ``slice_`` coordinates at a time; valid until the next call."""

    def fetch(self, tile: Tile) -> VectorArray:
        """Return a tile as an array of the host."""

    def between(self, tile: Tile, low: VectorArray, high: VectorArray) -> tuple[IndexArray, IndexArray]:
        """Compare the first ``len(low)`` rows with a low and a high end each.

        Returns how many cells of each row are above the high end, and the positions in the flattened tile of the cells
        from the low to the high end.
        """

    def listed(self, tile: Tile, floor: VectorArray) -> Keys:
        """Return the keys (:func:`evaluator.search.keys.key`) of the cells at or above their row's floor, ascending."""

    def find(self, keys: Keys, edges: IndexArray) -> IndexArray:
        """Return how many keys are below each of some ascending edges."""

    def pick(self, keys: Keys, which: IndexArray) -> IndexArray:
        """Return some of the keys."""

    def nearest(self, left: Handle, right: Handle, count: int) -> tuple[VectorArray, IndexArray]:
        """Return the ``count`` largest products of each row and their columns, in any order."""


class NumpyKernel:
    """Products and questions in NumPy; bfloat16 is imitated, for the sake of the same tests."""

    fast_bfloat16 = False
    block = 4096
    cells = 1 << 20

    def __init__(self) -> None:
        self._buffers: tuple[VectorArray, VectorArray] | None = None
        self._room = np.empty(0, dtype=np.float32)
        self._mask_buffers = np.empty((2, 0), dtype=bool)

    def enter(self) -> None:
        """NumPy needs nothing."""

    def room(self, rows: int, width: int) -> VectorArray:
        if self._room.size < rows * width:
            self._room = np.empty(rows * width, dtype=np.float32)
        return self._room[: rows * width].reshape(rows, width)

    def put(self, rows: VectorArray, *, rounded: bool) -> Handle:
        return to_bfloat16(rows) if rounded else rows

    def product(self, left: Handle, right: Handle, slice_: int) -> Tile:
        tile, more = self._tiles(len(left), len(right))
        for part in parts(left.shape[1], slice_):
            into = more if part.start else tile
            np.matmul(left[:, part], right[:, part].T, out=into)
            if part.start:
                tile += more
        return tile

    def _tiles(self, rows: int, columns: int) -> tuple[VectorArray, VectorArray]:
        size = rows * columns
        if self._buffers is None or len(self._buffers[0]) < size:
            self._buffers = np.empty(size, dtype=np.float32), np.empty(size, dtype=np.float32)
        tile, more = (buffer[:size].reshape(rows, columns) for buffer in self._buffers)
        return tile, more

    def _masks(self, rows: int, columns: int) -> NDArray[np.bool_]:
        """Return two masks (2, rows, columns) in memory that is used again."""
        if self._mask_buffers.shape[1] < rows * columns:
            self._mask_buffers = np.empty((2, rows * columns), dtype=bool)
        return self._mask_buffers[:, : rows * columns].reshape(2, rows, columns)

    def fetch(self, tile: VectorArray) -> VectorArray:
        return tile

    def between(self, tile: VectorArray, low: VectorArray, high: VectorArray) -> tuple[IndexArray, IndexArray]:
        columns = tile.shape[1]
        counts, found = np.empty(len(low), dtype=np.int64), []
        for part in parts(len(low), max(1, _CACHED // columns)):
            above, inside = self._masks(part.stop - part.start, columns)
            np.greater(tile[part], high[part, np.newaxis], out=above)
            np.greater_equal(tile[part], low[part, np.newaxis], out=inside)
            np.bitwise_xor(inside, above, out=inside)
            counts[part] = count_true(above)
            found.append(true_cells(inside) + part.start * columns)
        return counts, np.concatenate(found)

    def listed(self, tile: VectorArray, floor: VectorArray) -> Keys:
        columns, keys = tile.shape[1], []
        for part in parts(len(floor), max(1, _CACHED // columns)):
            passing, _ = self._masks(part.stop - part.start, columns)
            np.greater_equal(tile[part], floor[part, np.newaxis], out=passing)
            cells = true_cells(passing)
            row, column = np.divmod(cells, columns)
            keys.append(key(row + part.start, tile[part].ravel()[cells], column))
        return np.sort(np.concatenate(keys))

    def find(self, keys: IndexArray, edges: IndexArray) -> IndexArray:
        return np.searchsorted(keys, edges)

    def pick(self, keys: IndexArray, which: IndexArray) -> IndexArray:
        return keys[which]

    def nearest(self, left: Handle, right: Handle, count: int) -> tuple[VectorArray, IndexArray]:
        tile = self.product(left, right, left.shape[1])
        columns = np.argpartition(tile, tile.shape[1] - count, axis=1)[:, tile.shape[1] - count :]
        return np.take_along_axis(tile, columns, axis=1), columns


def count_true(mask: NDArray[np.bool_]) -> IndexArray:
    """Return how many cells of each row are true: eight bytes at a time where the width allows it."""
    rows, columns = mask.shape
    if columns % 1024:
        return np.asarray(np.count_nonzero(mask, axis=1))
    lanes = mask.view(np.uint64).reshape(rows, -1, 128).sum(axis=2)  # a byte holds at most 128
    return np.asarray(lanes.view(np.uint8).reshape(rows, -1).sum(axis=1, dtype=np.int64))


def true_cells(mask: NDArray[np.bool_]) -> IndexArray:
    """Return the positions of true cells in the flattened mask: words of eight are skipped together."""
    if mask.shape[1] % 8:
        return np.asarray(np.flatnonzero(mask))
    words = np.flatnonzero(mask.view(np.uint64))
    found = np.flatnonzero(mask.reshape(-1, 8)[words])
    return np.asarray((words[found >> 3] << 3) + (found & 7))
