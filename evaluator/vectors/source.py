"""What a vector file holds and may cost, and the checks that every header passes."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluator.formats.source import UnreadableError

Matrix = NDArray[np.floating]


@dataclass(frozen=True)
class VectorLimits:
    """What one file of vectors may hold."""

    rows: int = 2_000_000
    dimensions: int = 16_384
    array_bytes: int = 16 * 2**30
    """4,096 float16 dimensions of CIRCO's 123,403 images are 1 GB."""
    id_bytes: int = 2**30
    header_bytes: int = 100_000
    """Of the header of a ``.safetensors`` file, without the ids that may stand in it."""
    list_bytes: int = 200_000_000
    """Of a list of ids."""
    entries: int = 100
    """In a ``.npz``."""


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors as a file has them: a row each, and their ids where the file or a list beside it names them."""

    matrix: Matrix  # (rows, d)
    ids: Sequence[object] | None


def mapped(
    path: Path, dtype: np.dtype[np.generic], offset: int, shape: tuple[int, ...], order: Literal["C", "F"] = "C"
) -> NDArray[Any]:
    """Return an array as it lies in a file. Raises OSError, and MemoryError where there is no room to map it, which
    readers must not take for a damaged file.
    """
    try:
        return np.memmap(path, dtype, "r", offset, shape, order)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError from error
        raise


def check_matrix(shape: tuple[int, ...], dtype: np.dtype[np.generic], limits: VectorLimits) -> None:
    """Refuse an array that is no matrix of floating numbers within the limits. Raises UnreadableError."""
    refuse_objects(dtype)
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise UnreadableError("vector-type", found=str(dtype), expected="float16, bfloat16, float32 or float64")
    if len(shape) != 2 or not shape[1]:
        raise UnreadableError("vector-dimension", found=f"shape {shape}", expected="rows of one length")
    rows, dimensions = shape
    size = rows * dimensions * dtype.itemsize
    for number, most, unit in (
        (rows, limits.rows, "rows"),
        (dimensions, limits.dimensions, "coordinates"),
        (size, limits.array_bytes, "bytes"),
    ):
        if number > most:
            raise UnreadableError("vector-too-large", found=f"{number:,} {unit}", expected=f"at most {most:,}")


def check_ids(shape: tuple[int, ...], dtype: np.dtype[np.generic], limits: VectorLimits) -> None:
    """Refuse an array that is no list of text or whole numbers within the limits. Raises UnreadableError."""
    refuse_objects(dtype)
    if dtype.kind not in "USiu" or len(shape) != 1:
        found = f"{dtype} of shape {shape}"
        raise UnreadableError("vector-ids", "ids", found=found, expected="a list of text (U or S) or whole numbers")
    if shape[0] > limits.rows or shape[0] * dtype.itemsize > limits.id_bytes:
        found, expected = f"{shape[0]:,} ids of {dtype.itemsize:,} bytes", f"at most {limits.id_bytes:,} bytes"
        raise UnreadableError("vector-too-large", "ids", found=found, expected=expected)


def refuse_objects(dtype: np.dtype[np.generic]) -> None:
    """Refuse an array of Python objects, which only unpickling could read."""
    if dtype.hasobject:
        raise UnreadableError("vector-objects", found="an array of Python objects", expected="numbers, or text for ids")
