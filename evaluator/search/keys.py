"""Cells of a tile as whole numbers that sort by row, then by product, then by column."""

from __future__ import annotations

import numpy as np

from evaluator.types import IndexArray, VectorArray

COLUMN_BITS = 14
MOST_COLUMNS = 1 << COLUMN_BITS
VALUE_BITS = 32
VALUE_SCALE = 2.0**27
VALUE_ZERO = 1 << 30
"""Vectors are shorter than 2, so products lie between -4 and 4: they are told apart to 2^-27."""


def key(row: IndexArray, value: VectorArray, column: IndexArray | int) -> IndexArray:
    """Return the keys of cells with these products: of two in a row, the larger product has no smaller key."""
    whole = np.floor(value * np.float32(VALUE_SCALE)).astype(np.int64) + VALUE_ZERO
    return np.asarray(((row << VALUE_BITS) + whole << COLUMN_BITS) + column)


def column_of(keys: IndexArray) -> IndexArray:
    """Return the columns that keys were made with."""
    return keys & (MOST_COLUMNS - 1)
