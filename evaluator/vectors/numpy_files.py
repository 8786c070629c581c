"""``.npy`` and ``.npz``: the header first, then the array as it lies in the file. Objects are refused, never read."""

from __future__ import annotations

import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from evaluator.formats.source import UnreadableError
from evaluator.vectors.source import VectorLimits, VectorTable, check_ids, check_matrix, mapped

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_UNSOUND = (ValueError, TypeError, KeyError, SyntaxError, EOFError, struct.error, tokenize.TokenError, RecursionError)
"""What reading a damaged header raises; NumPy promises no common base."""
_DAMAGED = (*_UNSOUND, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, OSError)
_PIECE = 1 << 20

Check = Callable[[tuple[int, ...], "np.dtype[np.generic]", VectorLimits], None]


@dataclass(frozen=True)
class _Header:
    """What an array is, before any of it is read."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    order: Literal["C", "F"]
    offset: int
    """Where its data begins, counted from where the header began."""

    @property
    def size(self) -> int:
        """Bytes of data."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy(path: Path, limits: VectorLimits) -> VectorTable:
    """Map the matrix of a ``.npy`` file; its ids are elsewhere. Raises UnreadableError."""
    with path.open("rb") as opened:
        header = _header(opened, check_matrix, limits)
    _refuse_size(path.stat().st_size, header)
    return VectorTable(_mapped(path, header, header.offset), None)


def read_npz(path: Path, limits: VectorLimits) -> VectorTable:
    """Read the arrays ``vectors`` and, if it is there, ``ids`` of a ``.npz`` file. Raises UnreadableError."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _entries(archive, limits)
            matrix = _member(archive, entries["vectors.npy"], path, check_matrix, limits)
            ids = entries.get("ids.npy")
            texts = None if ids is None else _texts(_member(archive, ids, path, check_ids, limits))
    except _DAMAGED as error:
        raise UnreadableError("vector-damaged", found=str(error) or type(error).__name__) from error
    return VectorTable(matrix, texts)


def _header(opened: IO[bytes], check: Check, limits: VectorLimits) -> _Header:
    """Read and check a header. Raises UnreadableError."""
    try:
        version = npy.read_magic(opened)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the .npy format")
        shape, fortran, dtype = _HEADERS[version](opened)
    except _UNSOUND as error:
        found = (str(error) or type(error).__name__).partition("\n")[0]
        raise UnreadableError("vector-damaged", found=found, expected="a .npy header") from error
    check(shape, dtype, limits)
    return _Header(shape, dtype, "F" if fortran else "C", opened.tell())


def _refuse_size(size: int, header: _Header) -> None:
    expected = header.offset + header.size
    if size != expected:
        raise UnreadableError("vector-damaged", found=f"{size:,} bytes", expected=f"{expected:,}, as its header says")


def _mapped(path: Path, header: _Header, offset: int) -> NDArray[Any]:
    if not header.size:
        return np.empty(header.shape, header.dtype)
    return mapped(path, header.dtype, offset, header.shape, header.order)


def _entries(archive: zipfile.ZipFile, limits: VectorLimits) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name. Raises UnreadableError: a pickle among them, too many, no vectors."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    pickled = next((name for name in entries if name.endswith((".pkl", ".pickle"))), "")
    if pickled:
        raise UnreadableError("vector-objects", f"entry {pickled}", found="a Python pickle, which is never opened")
    if len(entries) > limits.entries:
        raise UnreadableError("zip-entries", found=f"{len(entries):,} entries", expected="the arrays ids and vectors")
    if "vectors.npy" not in entries:
        found = ", ".join(list(entries)[:8]) or "no entry"
        raise UnreadableError("vector-format", found=found, expected="the arrays ids and vectors")
    return entries


def _member(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, check: Check, limits: VectorLimits
) -> NDArray[Any]:
    """Return an array of the archive: mapped where it is stored as it is, else unpacked up to its stated size."""
    with archive.open(entry) as opened:
        header = _header(opened, check, limits)
        _refuse_size(entry.file_size, header)
        if entry.compress_type == zipfile.ZIP_STORED:
            return _mapped(path, header, _data_offset(path, entry) + header.offset)
        return _unpacked(opened, header)


def _unpacked(opened: IO[bytes], header: _Header) -> NDArray[Any]:
    raw = np.empty(header.size, dtype=np.uint8)
    filled = 0
    while piece := opened.read(min(_PIECE, header.size - filled)):
        raw[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        filled += len(piece)
    if filled < header.size:
        raise UnreadableError("vector-damaged", found=f"{filled:,} bytes", expected=f"{header.size:,}")
    return np.ndarray(header.shape, header.dtype, raw, order=header.order)


def _data_offset(path: Path, entry: zipfile.ZipInfo) -> int:
    """Return where the content of an entry begins: behind its local header, whose length only it knows."""
    with path.open("rb") as opened:
        opened.seek(entry.header_offset)
        name, extra = struct.unpack("<26x2H", opened.read(30))
    return entry.header_offset + 30 + int(name) + int(extra)


def _texts(ids: NDArray[Any]) -> Sequence[object]:
    """Return ids as text or whole numbers. Raises UnreadableError where they are not Unicode."""
    try:
        found: list[object] = (np.char.decode(ids, "utf-8") if ids.dtype.kind == "S" else ids).tolist()
    except ValueError as error:  # bytes that are no UTF-8, code points beyond Unicode
        raise UnreadableError("wrong-encoding", "ids", found=str(error), expected="UTF-8") from error
    return found
