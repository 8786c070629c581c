"""Takes the bytes of one request: each whole block counts as soon as it is safe, the rest when the request ends."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evaluator.digests import BLOCK, BlockDigest
from uploads import stores
from uploads.models import Upload
from uploads.refusals import ChecksumDiffers, ConnectionBroke, DigestDiffers, TooLarge
from uploads.services.failures import storing
from uploads.services.finishing import end, finish
from uploads.services.hold import Hold, holding

PIECE = 2**20
"""The most that is held in memory; a block is a whole number of pieces."""


@dataclass(frozen=True)
class Checksum:
    """What the sender says of the bytes of one request."""

    algorithm: str
    expected: bytes


def receive(
    upload: Upload, offset: int, pieces: Iterable[bytes], length: int, checksum: Checksum | None = None
) -> None:
    """Append the ``length`` bytes of a request to an upload that ends at ``offset``.

    ``pieces`` raises ConnectionBroke where fewer come: what is here by then is kept, unless there is a checksum, which
    nobody can confirm. Raises that, WrongOffset, Busy, NoSuchUpload, TooLarge, ChecksumDiffers, DigestDiffers, and
    NotStored; whatever was settled before stays.
    """
    with holding(upload, offset) as hold:
        if offset + length > upload.size:
            raise TooLarge(
                f"The upload was announced with {upload.size} bytes; this part would end at {offset + length}."
            )
        if offset < upload.size:
            with storing(), stores.current().write(upload.stored, upload.parts, offset, hold.fence) as writing:
                _Receiving(hold, writing, checksum).run(pieces)
        if upload.digest:
            finish(upload)


class _Receiving:
    """One request's bytes on their way into the store."""

    def __init__(self, hold: Hold, writing: stores.Writing, checksum: Checksum | None) -> None:
        self._hold = hold
        self._upload = hold.upload
        self._offset = hold.upload.offset
        self._writing = writing
        self._digest = BlockDigest(hold.upload.blocks)
        self._checksum = checksum
        self._sum = hashlib.new(checksum.algorithm, usedforsecurity=False) if checksum else None

    def run(self, pieces: Iterable[bytes]) -> None:
        for piece in self._writing.rest():
            self._digest.update(piece)
        try:
            for piece in _gathered(pieces, self._offset, self._hold.renew):
                self._append(piece)
        except ConnectionBroke:
            if self._checksum is None:
                self._settle()
            raise
        if self._checksum and self._sum and not hmac.compare_digest(self._sum.digest(), self._checksum.expected):
            raise ChecksumDiffers
        self._settle()

    def _append(self, piece: bytes) -> None:
        self._writing.append(piece)
        self._digest.update(piece)
        self._offset += len(piece)
        if self._sum is not None:
            self._sum.update(piece)
        elif self._offset % BLOCK == 0:
            self._settle()

    def _settle(self) -> None:
        """Make what was written count."""
        if self._offset == self._upload.offset:
            return
        last = self._offset == self._upload.size
        digest = self._digest.hexdigest() if last else ""
        if last and self._upload.announced not in ("", digest):
            self._hold.fence()
            end(self._upload)
            raise DigestDiffers(self._upload.announced, digest)
        parts = self._writing.settle(last=last)
        self._hold.commit(offset=self._offset, blocks=self._digest.blocks, digest=digest, parts=parts)


def _gathered(pieces: Iterable[bytes], offset: int, renew: Callable[[], None]) -> Iterator[bytes]:
    """Yield the bytes in pieces that end at whole MiB of the file; those before a break too, then raise it."""
    held = bytearray()
    try:
        for piece in pieces:
            renew()
            held += piece
            while len(held) >= (room := PIECE - offset % PIECE):
                yield bytes(held[:room])
                del held[:room]
                offset += room
    except ConnectionBroke:
        if held:
            yield bytes(held)
        raise
    if held:
        yield bytes(held)
