"""The digest of a file that arrives in pieces: SHA-256 over the SHA-256 of each block of 8 MiB.

Its state between two pieces is a list of digests and less than a block of bytes, so a server can go on where a
connection broke, and a browser can compute it without holding the file. It is the same whichever way a file came.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

BLOCK = 8 * 2**20
"""Bytes of a block; the last may be shorter."""


class BlockDigest:
    """The digest of bytes given one after the other; goes on from the whole blocks of an earlier one."""

    def __init__(self, blocks: Sequence[str] = ()) -> None:
        self._blocks = list(blocks)
        self._open = hashlib.sha256()
        self._held = 0

    def update(self, piece: bytes | memoryview) -> None:
        """Take the next bytes, however many."""
        view = memoryview(piece)
        while view:
            taken = view[: BLOCK - self._held]
            self._open.update(taken)
            self._held += len(taken)
            view = view[len(taken) :]
            if self._held == BLOCK:
                self._close()

    def _close(self) -> None:
        self._blocks.append(self._open.hexdigest())
        self._open = hashlib.sha256()
        self._held = 0

    @property
    def blocks(self) -> list[str]:
        """The digests of the whole blocks so far, in hexadecimal."""
        return list(self._blocks)

    def hexdigest(self) -> str:
        """Return the digest of everything so far."""
        last = [self._open.digest()] if self._held else []
        return hashlib.sha256(b"".join([*map(bytes.fromhex, self._blocks), *last])).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the digest of a file. Raises OSError."""
    digest = BlockDigest()
    with path.open("rb") as opened:
        while piece := opened.read(BLOCK):
            digest.update(piece)
    return digest.hexdigest()
