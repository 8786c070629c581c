"""Parquet: a column ``id`` and a column ``vector``, where pyarrow is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.formats.source import UnreadableError
from evaluator.vectors.source import Matrix, VectorLimits, VectorTable, check_matrix

_NAMES = ("id", "vector")


def read_parquet(path: Path, limits: VectorLimits) -> VectorTable:
    """Read the columns ``id`` (text or whole numbers) and ``vector`` (lists of one length).

    The footer is checked before any column is read. Raises UnreadableError, and EvaluatorError without pyarrow.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise EvaluatorError("Parquet files need pyarrow, which is not installed; .npz needs nothing more") from error
    try:
        with pq.ParquetFile(path) as opened:
            _check_footer(opened, limits)
            table = opened.read(columns=list(_NAMES), use_threads=False)  # a stack each would count as memory
    except MemoryError:  # Arrow's own is one of its errors as well
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableError("vector-damaged", found=str(error).partition("\n")[0]) from error
    ids, vectors = (table.column(name).combine_chunks() for name in _NAMES)
    return VectorTable(_matrix(vectors, limits), _texts(ids))


def _texts(ids: Any) -> list[object]:
    """Return ids as text or numbers. Raises UnreadableError where text is not UTF-8, which Parquet only claims."""
    try:
        found: list[object] = ids.to_pylist()
    except UnicodeDecodeError as error:
        raise UnreadableError("wrong-encoding", "column id", found=str(error), expected="UTF-8") from error
    return found


def _check_footer(opened: Any, limits: VectorLimits) -> None:
    names = opened.schema_arrow.names
    missing = [name for name in _NAMES if name not in names]
    if missing:
        raise UnreadableError("vector-format", found=", ".join(names[:8]), expected="the columns id and vector")
    rows = opened.metadata.num_rows
    size = sum(opened.metadata.row_group(group).total_byte_size for group in range(opened.metadata.num_row_groups))
    if rows > limits.rows or size > limits.array_bytes:
        found, expected = f"{rows:,} rows, {size:,} bytes", f"at most {limits.rows:,}, {limits.array_bytes:,} bytes"
        raise UnreadableError("vector-too-large", found=found, expected=expected)


def _matrix(vectors: Any, limits: VectorLimits) -> Matrix:
    """Return lists of numbers as a matrix. Raises UnreadableError: another type, a null, lists of several lengths."""
    if not hasattr(vectors, "flatten") or not hasattr(vectors.type, "value_type"):
        raise UnreadableError("vector-type", found=str(vectors.type), expected="lists of floating numbers")
    flat = vectors.flatten()
    if vectors.null_count or flat.null_count:
        raise UnreadableError("vector-not-finite", "column vector", found="null", expected="a number")
    try:
        dtype = np.dtype(flat.type.to_pandas_dtype())
    except NotImplementedError as error:
        raise UnreadableError("vector-type", found=str(flat.type), expected="floating numbers") from error
    lengths = set(vectors.value_lengths().unique().to_pylist())
    if len(lengths) > 1:
        found = f"lists of {min(lengths)} to {max(lengths)} numbers"
        raise UnreadableError("vector-dimension", "column vector", found=found, expected="rows of one length")
    shape = (len(vectors), *lengths)
    check_matrix(shape, dtype, limits)
    matrix: Matrix = flat.to_numpy(zero_copy_only=False).reshape(shape)
    return matrix
