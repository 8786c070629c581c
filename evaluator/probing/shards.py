"""Vectors of one list of inputs on disk, a shard at a time: what is finished once is never encoded again.

A folder holds one ``.npy`` for each shard, named after its first input, and ``done.log``, a line of JSON for each
finished one with the SHA-256 of its file. A shard is written beside its place, synchronised, renamed, and only then
noted, so whenever the process is killed a noted shard is whole. What a power cut or a hand has damaged does not have
the noted digest and is encoded again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from evaluator.encoders.problems import EncoderError
from evaluator.probing.lock import writing
from evaluator.types import IndexArray, VectorArray

_LOG = "done.log"


@dataclass(frozen=True)
class _Line:
    """What is noted of one finished shard."""

    start: int
    rows: int
    size: int
    """Inputs of a shard in this folder; the last one has what is left."""
    dimension: int
    seconds: float
    """What encoding it took."""
    sha256: str

    def fits(self, count: int) -> bool:
        """Whether this can be a shard of ``count`` inputs."""
        fine = self.size > 0 and 0 <= self.start < count and self.start % self.size == 0 and self.dimension > 0
        return fine and self.rows == min(self.size, count - self.start)


class Shards:
    """The vectors of ``count`` inputs in ``folder``. A folder keeps the shard size it was begun with.

    Opening it reads every finished shard once, to see that it is whole. Raises EncoderError where the folder cannot be
    used.
    """

    def __init__(self, folder: Path, count: int, size: int) -> None:
        if size < 1:
            raise ValueError(f"a shard holds at least one input, not {size}")
        self._folder, self._count = folder, count
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            noted = list(_noted(folder / _LOG, count))
        self._size = noted[0].size if noted else size
        whole = [line for line in noted if line.size == self._size and self._is_whole(line)]
        self._dimension = whole[0].dimension if whole else 0
        self._done = {line.start: line for line in whole if line.dimension == self._dimension}
        self._rewrite_log()

    @property
    def done(self) -> int:
        """How many inputs are encoded."""
        return sum(line.rows for line in self._done.values())

    @property
    def dimension(self) -> int:
        """Of the vectors; 0 while there are none."""
        return self._dimension

    def missing(self) -> Iterator[slice]:
        """Yield the inputs of each shard that is not there, in order."""
        for start in range(0, self._count, self._size):
            if start not in self._done:
                yield slice(start, min(start + self._size, self._count))

    @property
    def seconds(self) -> float:
        """What encoding the finished shards took, in whichever run."""
        return sum(line.seconds for line in self._done.values())

    def save(self, part: slice, vectors: VectorArray, seconds: float = 0.0) -> None:
        """Keep the vectors of a missing shard. Raises EncoderError where the disk does not take it."""
        packed = io.BytesIO()  # written as bytes: NumPy's own way to a file loses why a disk refuses
        np.save(packed, vectors, allow_pickle=False)
        content = packed.getbuffer()
        digest = hashlib.sha256(content).hexdigest()
        line = _Line(part.start, len(vectors), self._size, int(vectors.shape[1]), round(seconds, 3), digest)
        with writing(self._folder):
            replace_file(self._path(part.start), content)
            with (self._folder / _LOG).open("ab") as log:
                log.write(_packed(line))
                log.flush()
                os.fsync(log.fileno())
        self._done[part.start] = line
        self._dimension = line.dimension

    def matrix(self, rows: IndexArray | None = None, total: int = 0) -> VectorArray:
        """Return all vectors (count, d), memory-mapped; every shard must be there.

        With ``rows``, ascending, input i is row ``rows[i]`` of ``total``, and the others are zero and take no room. The
        file that is mapped has no name: it goes with the process.
        """
        total = self._count if rows is None else total
        width = self._dimension * 4
        with writing(self._folder), tempfile.TemporaryFile(dir=self._folder) as file:
            for start in sorted(self._done):
                vectors = np.load(self._path(start), allow_pickle=False)
                for first, some in _runs(start, vectors, rows):
                    file.seek(first * width)
                    file.write(np.ascontiguousarray(some).data)
            file.truncate(total * width)
            file.flush()
            if not total * width:
                return np.zeros((total, self._dimension), dtype=np.float32)
            return np.memmap(file, dtype="<f4", mode="r", shape=(total, self._dimension))

    def _path(self, start: int) -> Path:
        return self._folder / f"{start:08}.npy"

    def _is_whole(self, line: _Line) -> bool:
        try:
            content = self._path(line.start).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(content).hexdigest() == line.sha256

    def _rewrite_log(self) -> None:
        """Leave nothing in the log but what is true, so that the next line does not follow half of one."""
        lines = b"".join(_packed(self._done[start]) for start in sorted(self._done))
        with writing(self._folder):
            replace_file(self._folder / _LOG, lines)


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file that is whole whenever it is there, even after a power cut. Raises OSError.

    The folder is not synchronised: a power cut may take the new name back, and then the shard is missing.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def check(vectors: VectorArray, inputs: int, dimension: int, *, what: str, zero: bool) -> VectorArray:
    """Return vectors as they are kept: float32, row by row. Raises EncoderError where they are not those of ``inputs``.

    ``dimension`` is what it must be, 0 where it is not known yet; ``zero`` says whether a zero vector may be.
    """
    array = np.asarray(vectors)
    if array.ndim != 2 or len(array) != inputs or not array.shape[1] or array.dtype.kind != "f":
        raise EncoderError("vectors-shape", f"{what}: {array.dtype} {array.shape} for {inputs} inputs")
    if dimension and array.shape[1] != dimension:
        raise EncoderError("vectors-shape", f"{what}: dimension {array.shape[1]} instead of {dimension}")
    with np.errstate(over="ignore"):
        kept = np.ascontiguousarray(array, dtype="<f4")
    if not np.isfinite(kept).all():
        raise EncoderError("vectors-not-finite", what)
    if not zero and not kept.any(axis=1).all():
        raise EncoderError("vectors-zero", what)
    return kept


def _noted(log: Path, count: int) -> Iterator[_Line]:
    """Yield what the log says; a line that was cut short, or that cannot be, is none."""
    if not log.exists():
        return
    for text in log.read_bytes().splitlines():
        try:
            line = _Line(**json.loads(text))
            if line.fits(count):
                yield line
        except (ValueError, TypeError):
            continue


def _packed(line: _Line) -> bytes:
    return json.dumps(asdict(line)).encode() + b"\n"


def _runs(start: int, vectors: VectorArray, rows: IndexArray | None) -> Iterator[tuple[int, VectorArray]]:
    """Yield the rows of a matrix that a shard fills, those that follow each other together."""
    if rows is None:
        yield start, vectors
        return
    mine = rows[start : start + len(vectors)]
    cuts = np.flatnonzero(np.diff(mine) != 1) + 1
    for first, some in zip(np.split(mine, cuts), np.split(vectors, cuts), strict=True):
        yield int(first[0]), some
