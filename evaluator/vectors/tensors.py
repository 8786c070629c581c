"""``.safetensors``: eight bytes of length, a header in JSON, then raw numbers. Nothing in it can be executed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.formats.source import UnreadableError
from evaluator.vectors.source import Matrix, VectorLimits, VectorTable, check_matrix, mapped

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
_BFLOAT16 = "BF16"
_METADATA = "__metadata__"
_LENGTH = 8


def is_safetensors(beginning: bytes, size: int) -> bool:
    """Whether a file of ``size`` bytes begins with a length that fits it and the brace of a header."""
    length = int.from_bytes(beginning[:_LENGTH], "little")
    return beginning[_LENGTH : _LENGTH + 1] == b"{" and _LENGTH + length <= size


def read_safetensors(path: Path, limits: VectorLimits) -> VectorTable:
    """Map the tensor ``vectors``, or the only one; ids may be a JSON list in the metadata. Raises UnreadableError."""
    with path.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH), "little")
        if length > limits.header_bytes + limits.list_bytes:
            raise UnreadableError("vector-too-large", found=f"a header of {length:,} bytes")
        header = _parsed(opened.read(length))
    metadata = header.pop(_METADATA, None) or {}
    tensor = header.get("vectors") or (next(iter(header.values())) if len(header) == 1 else None)
    if not isinstance(tensor, dict) or not isinstance(metadata, dict):
        found = ", ".join(list(header)[:8]) or "no tensor"
        raise UnreadableError("vector-format", found=found, expected="a tensor called vectors")
    return VectorTable(_matrix(path, tensor, _LENGTH + length, limits), _ids(metadata))


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError("vector-damaged", found=str(error), expected="a header in JSON") from error
    if not isinstance(header, dict):
        raise UnreadableError("vector-damaged", found="a header that is no object", expected="an object")
    return header


def _ids(metadata: Mapping[str, Any]) -> list[object] | None:
    if "ids" not in metadata:
        return None
    try:
        ids = json.loads(metadata["ids"])
    except (ValueError, TypeError, RecursionError) as error:
        raise UnreadableError("vector-ids", "metadata ids", found=str(error), expected="a JSON list") from error
    if not isinstance(ids, list):
        raise UnreadableError("vector-ids", "metadata ids", found="no list", expected="a JSON list")
    return ids


def _matrix(path: Path, tensor: Mapping[str, Any], start: int, limits: VectorLimits) -> Matrix:
    """Return the tensor: mapped, but for bfloat16, which NumPy lacks and which is widened to float32 without loss."""
    try:
        name, shape = str(tensor["dtype"]), tuple(map(int, tensor["shape"]))
        first, end = map(int, tensor["data_offsets"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableError("vector-damaged", found=repr(error), expected="dtype, shape, data_offsets") from error
    if name not in (*_TYPES, _BFLOAT16):
        raise UnreadableError("vector-type", found=name, expected="F16, BF16, F32 or F64")
    stored = np.dtype("<u2" if name == _BFLOAT16 else _TYPES[name])
    check_matrix(shape, np.dtype(np.float32) if name == _BFLOAT16 else stored, limits)
    size = math.prod(shape) * stored.itemsize
    if min(first, *shape) < 0 or end - first != size or start + end > path.stat().st_size:
        found = f"bytes {first:,} to {end:,} of {path.stat().st_size - start:,}"
        raise UnreadableError("vector-damaged", found=found, expected=f"{size:,} bytes within the file")
    if not size:
        return np.empty(shape, dtype=np.float32)
    matrix: Matrix = mapped(path, stored, start + first, shape)
    return _widened(matrix) if name == _BFLOAT16 else matrix


def _widened(halves: Matrix) -> Matrix:
    """Return bfloat16 numbers, given as their bits, as float32, in one copy."""
    wide = halves.astype("<u4")
    wide <<= 16
    return wide.view("<f4")
