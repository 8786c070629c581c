"""Resumable uploads on this machine's disk: one file each, private, never trusted beyond the offset in its row."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from evaluator.digests import BLOCK

PREFIX = "resumable"
PIECE = 2**20


class DiskStore:
    """Files below ``root / "resumable"``."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, name: str) -> Path:
        """Return where a file lies."""
        return self._root / name

    def begin(self, name: str) -> dict[str, Any]:
        path = self.path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _sync_folder(path.parent)
        return {}

    @contextmanager
    def write(
        self, name: str, parts: Mapping[str, Any], offset: int, fence: Callable[[], None]
    ) -> Iterator[DiskWriting]:
        with self.path(name).open("r+b", buffering=0) as file:
            yield DiskWriting(file, offset, fence)

    def overtake(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        return dict(parts)

    def finish(self, name: str, parts: Mapping[str, Any]) -> None:
        """Nothing is left to do."""

    def remove(self, name: str, parts: Mapping[str, Any]) -> None:
        self.path(name).unlink(missing_ok=True)

    def exists(self, name: str) -> bool:
        return self.path(name).is_file()

    def head(self, name: str, size: int) -> bytes:
        with self.path(name).open("rb") as file:
            return file.read(size)

    def fetch(self, name: str, folder: Path) -> Path:
        path = self.path(name)
        if not path.is_file():
            raise FileNotFoundError(f"{name} is not stored")
        return path

    def older(self, limit: datetime) -> Iterator[str]:
        folder = self._root / PREFIX
        for path in folder.iterdir() if folder.is_dir() else ():
            try:
                if path.stat().st_mtime < limit.timestamp():
                    yield f"{PREFIX}/{path.name}"
            except FileNotFoundError:  # somebody else removed it meanwhile
                continue


class DiskWriting:
    """An open file. A lock on it makes asking the fence and writing one act: a request that was overtaken between
    the two would else write over what its successor has committed.
    """

    def __init__(self, file: IO[bytes], offset: int, fence: Callable[[], None]) -> None:
        self._file = file
        self._settled = offset
        self._fence = fence
        with self._alone():
            file.truncate(offset)
        file.seek(offset)

    def rest(self) -> Iterator[bytes]:
        at, end = self._settled - self._settled % BLOCK, self._settled
        while at < end and (piece := os.pread(self._file.fileno(), min(PIECE, end - at), at)):
            at += len(piece)
            yield piece
        if at < end:
            raise OSError(f"{end - at} settled bytes are gone")

    def append(self, piece: bytes) -> None:
        with self._alone():
            left = memoryview(piece)
            while left:
                left = left[self._file.write(left) :]

    def settle(self, *, last: bool) -> dict[str, Any]:
        os.fsync(self._file.fileno())
        return {}

    @contextmanager
    def _alone(self) -> Iterator[None]:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            self._fence()
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
