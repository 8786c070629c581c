"""Where the bytes of resumable uploads lie: on disk, or in S3-compatible storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings

from uploads.stores.disk import DiskStore

Parts = dict[str, Any]
"""What a store must remember between two requests, as JSON."""
Fence = Callable[[], None]
"""Raises where another request has taken over; a store calls it right before it writes."""


class Writing(Protocol):
    """A file that is being written from some offset on. Nothing written counts before ``settle`` gave its parts."""

    def rest(self) -> Iterator[bytes]:
        """Yield the settled bytes after the last whole block, in pieces of at most a MiB."""

    def append(self, piece: bytes) -> None:
        """Write the next bytes, at most a MiB. Raises OSError, and what the fence raises."""

    def settle(self, *, last: bool) -> Parts:
        """Make everything so far outlive a crash; ``last`` where the file is whole. Raises OSError."""


class Store(Protocol):
    """One place for stored files, each under a name that begins with ``resumable/``. Every failure is an OSError."""

    def begin(self, name: str) -> Parts:
        """Make an empty file."""

    def write(self, name: str, parts: Mapping[str, Any], offset: int, fence: Fence) -> AbstractContextManager[Writing]:
        """Go on at ``offset``; whatever lies beyond never came."""

    def overtake(self, parts: Mapping[str, Any]) -> Parts:
        """Return what to remember where a request was taken over from that may still be writing."""

    def finish(self, name: str, parts: Mapping[str, Any]) -> None:
        """Make a file whole whose last part is settled. Doing it twice does no harm."""

    def remove(self, name: str, parts: Mapping[str, Any]) -> None:
        """Delete a file, whole or not; one that is not there is fine."""

    def exists(self, name: str) -> bool:
        """Whether a whole file is there."""

    def head(self, name: str, size: int) -> bytes:
        """Return the first bytes of a whole file."""

    def fetch(self, name: str, folder: Path) -> Path:
        """Return a local file with the same bytes: the file itself, or a copy in ``folder``."""

    def older(self, limit: datetime) -> Iterator[str]:
        """Yield the names of everything here, whole or not, that was last written before ``limit``."""


@lru_cache(maxsize=4)
def _store(where: str, endpoint: str, folder: Path) -> Store:
    if where == "disk":
        return DiskStore(folder)
    from uploads.stores.s3 import S3Store  # noqa: PLC0415 (boto3 is an extra)

    return S3Store(where, endpoint, folder)


def current() -> Store:
    """Return the store that the settings name."""
    return _store(settings.UPLOAD_STORE, settings.UPLOAD_ENDPOINT, settings.VAR)
