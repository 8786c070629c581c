"""Which format a vector file is in, told from its content, and its list of ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluator.formats.json_text import JsonReader
from evaluator.formats.source import UnreadableError
from evaluator.formats.text import decode
from evaluator.formats.written import described
from evaluator.vectors.columns import read_parquet
from evaluator.vectors.numpy_files import read_npy, read_npz
from evaluator.vectors.source import VectorLimits, VectorTable
from evaluator.vectors.tensors import is_safetensors, read_safetensors

_READERS = {b"\x93NUMPY": read_npy, b"PK\x03\x04": read_npz, b"PAR1": read_parquet}
_PICKLE = b"\x80"


def read_table(path: Path, ids: Path | None, limits: VectorLimits) -> VectorTable:
    """Read a vector file; a list of ids beside it counts before its own. Raises UnreadableError, OSError."""
    with path.open("rb") as opened:
        beginning = opened.read(16)
    table = _read(path, beginning, limits)
    return table if ids is None else VectorTable(table.matrix, read_ids(ids, limits))


def is_vectors(beginning: bytes, size: int) -> bool:
    """Whether a file of ``size`` bytes with this beginning, 16 bytes of it, is in a format that vectors come in."""
    return beginning.startswith(tuple(_READERS)) or is_safetensors(beginning, size)


def _read(path: Path, beginning: bytes, limits: VectorLimits) -> VectorTable:
    for magic, reader in _READERS.items():
        if beginning.startswith(magic):
            return reader(path, limits)
    if is_safetensors(beginning, path.stat().st_size):
        return read_safetensors(path, limits)
    if beginning.startswith(_PICKLE):
        raise UnreadableError("vector-objects", found="a Python pickle, which is never opened")
    if not beginning:
        raise UnreadableError("empty-file", found="no content", expected="vectors")
    raise UnreadableError("vector-format", found="another kind of file", expected=".npz, .npy, .safetensors or Parquet")


def read_ids(path: Path, limits: VectorLimits) -> Sequence[object]:
    """Return a list of ids, one a line or a JSON list. Raises UnreadableError, OSError."""
    with path.open("rb") as opened:
        content = opened.read(limits.list_bytes + 1)
    if len(content) > limits.list_bytes:
        raise UnreadableError("too-large", path.name, found="a longer list", expected=f"{limits.list_bytes:,} bytes")
    text = decode(content)
    if not text.lstrip().startswith("["):
        return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    ids = JsonReader().read(text)
    if not isinstance(ids, list):
        raise UnreadableError("vector-ids", path.name, found=described(ids), expected="a list of ids")
    return ids
