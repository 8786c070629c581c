"""Where the bytes of a file are when a submission is received: in the request, in a finished resumable upload, or
here already. Each has a size and a digest, and can be kept.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile

from evaluator.digests import BlockDigest
from submissions.models import SentFile
from submissions.services.leftovers import UPLOADS
from submissions.services.refusals import NotStored
from uploads import services as resumable
from uploads.models import Upload

Posted: TypeAlias = "UploadedFile[bytes]"
"""A file as a request holds it."""


class Content(Protocol):
    """The bytes of one file, wherever they are."""

    @property
    def name(self) -> str:
        """The author's name for it, which is only ever shown: without folders, printable, short."""

    @property
    def size(self) -> int: ...

    @property
    def digest(self) -> str: ...


class Readable(Content, Protocol):
    """Bytes that came just now and were not looked at yet."""

    def beginning(self, size: int) -> bytes:
        """Return the first ``size`` bytes, or all there are."""


@dataclass(frozen=True)
class InRequest:
    """A file that came with the request."""

    file: Posted

    @property
    def name(self) -> str:
        return resumable.shown_name(str(self.file.name or ""))

    @property
    def size(self) -> int:
        return self.file.size or 0

    @cached_property
    def digest(self) -> str:
        whole = BlockDigest()
        self.file.seek(0)
        for chunk in self.file.chunks():
            whole.update(chunk)
        return whole.hexdigest()

    def beginning(self, size: int) -> bytes:
        self.file.seek(0)
        return bytes(self.file.read(size))


@dataclass(frozen=True)
class Resumed:
    """A file that came in parts and is whole. It becomes the submission's when that is created."""

    upload: Upload

    @property
    def name(self) -> str:
        return self.upload.name

    @property
    def size(self) -> int:
        return self.upload.size

    @property
    def digest(self) -> str:
        return self.upload.digest

    def beginning(self, size: int) -> bytes:
        return resumable.head(self.upload.stored, size)


@dataclass(frozen=True)
class SentBefore:
    """A file of an earlier submission of the same team, used again: two rows, one content."""

    file: SentFile

    @property
    def name(self) -> str:
        return self.file.name

    @property
    def size(self) -> int:
        return self.file.size

    @property
    def digest(self) -> str:
        return self.file.digest


def store(contents: Iterable[Content]) -> dict[Content, str]:
    """Write what came with the request to storage, in pieces, under names that say nothing.

    Returns content -> name, for those alone. Raises NotStored when there is no place for them; then nothing is kept,
    half a file neither.
    """
    names: dict[Content, str] = {}
    with storing():
        try:
            for content in contents:
                if isinstance(content, InRequest):
                    names[content] = f"{UPLOADS}/{uuid.uuid4().hex}"
                    content.file.seek(0)
                    default_storage.save(names[content], content.file)
        except OSError:
            with suppress(OSError):
                discard(names.values())
            raise
    return names


@contextmanager
def storing() -> Iterator[None]:
    """Turn what storage or the store of resumable uploads cannot do into NotStored, with a reference and a log."""
    try:
        with resumable.storing():
            yield
    except resumable.NotStored as failure:
        raise NotStored(failure.reference) from failure  # it has its log already


def discard(names: Iterable[str]) -> None:
    """Delete stored files that nothing refers to."""
    for name in names:
        default_storage.delete(name)
