"""Writes vectors in every format, as the field's own tools do; ``.safetensors`` by its published description."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.vectors import VectorFile

Matrix = NDArray[np.floating]
Writer = Callable[[Path, Matrix, Sequence[str]], VectorFile]


def npz(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    with path.open("wb") as opened:
        np.savez(opened, vectors=matrix, ids=np.array(ids))
    return VectorFile(path)


def npz_compressed(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    with path.open("wb") as opened:
        np.savez_compressed(opened, vectors=matrix, ids=np.array([name.encode() for name in ids]))
    return VectorFile(path)


def npy(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    with path.open("wb") as opened:
        np.save(opened, matrix)
    beside = path.with_name(f"{path.name}.ids.txt")
    beside.write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")
    return VectorFile(path, beside)


def npy_json(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    npy(path, matrix, ids)
    beside = path.with_name(f"{path.name}.ids.json")
    beside.write_text(json.dumps(list(ids)), encoding="utf-8")
    return VectorFile(path, beside)


def safetensors(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    """Little-endian rows, with the ids in the metadata."""
    name = {2: "F16", 4: "F32", 8: "F64"}[matrix.dtype.itemsize]
    raw = np.ascontiguousarray(matrix, dtype=matrix.dtype.newbyteorder("<")).tobytes()
    return _tensors(path, name, matrix.shape, raw, ids)


def bfloat16(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    """The upper halves of float32 numbers."""
    halves = (matrix.astype("<f4").view("<u4") >> 16).astype("<u2")
    return _tensors(path, "BF16", matrix.shape, halves.tobytes(), ids)


def _tensors(path: Path, dtype: str, shape: tuple[int, ...], raw: bytes, ids: Sequence[str]) -> VectorFile:
    tensor = {"dtype": dtype, "shape": list(shape), "data_offsets": [0, len(raw)]}
    header = json.dumps({"__metadata__": {"ids": json.dumps(list(ids))}, "vectors": tensor}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + raw)
    return VectorFile(path)


def parquet(path: Path, matrix: Matrix, ids: Sequence[str]) -> VectorFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [row.astype(row.dtype.newbyteorder("=")) for row in matrix]
    vectors = pa.array(rows, pa.list_(pa.from_numpy_dtype(matrix.dtype.newbyteorder("="))))
    pq.write_table(pa.table({"id": pa.array(list(ids)), "vector": vectors}), path)
    return VectorFile(path)


WRITERS: dict[str, Writer] = {
    writer.__name__: writer for writer in (npz, npz_compressed, npy, npy_json, safetensors, parquet)
}
