"""Remembers which work was done for which content, so that a second start does not do it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


class Stamps:
    """One small file for each piece of work, in ``folder``: the digest of what it was done for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, work: str, digest: str) -> bool:
        """Return whether ``work`` was done for this digest."""
        file = self.folder / work
        return file.is_file() and file.read_text() == digest

    def set(self, work: str, digest: str) -> None:
        """Remember that it was."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / work).write_text(digest)

    def forget(self) -> None:
        """Forget everything: what the work had made is gone."""
        for file in self.folder.glob("*"):
            file.unlink()


def digest(files: Iterable[Path], *facts: object) -> str:
    """Return the SHA-256 of the names and contents of ``files``, and of ``facts``."""
    whole = hashlib.sha256(repr(facts).encode())
    for file in sorted(files):
        whole.update(f"\n{file}\n".encode())
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()
