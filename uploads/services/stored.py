"""Files by the name they are stored under: those of resumable uploads, and those of Django's default storage."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from django.core.files.storage import default_storage

from uploads import stores

PREFIX = "resumable/"


def stored_name(public_id: UUID) -> str:
    """Return the name of an upload's bytes in storage: who took it over still finds it by the upload's id."""
    return PREFIX + public_id.hex


def fetch(stored: str, folder: Path) -> Path:
    """Return a local file to read, never to change: the stored one, or a copy in ``folder``. Raises OSError."""
    if stored.startswith(PREFIX):
        return stores.current().fetch(stored, folder)
    path = Path(default_storage.path(stored))
    if not path.is_file():
        raise FileNotFoundError(f"{stored} is not stored")
    return path


def head(stored: str, size: int) -> bytes:
    """Return the first ``size`` bytes, or fewer where there are no more. Raises OSError."""
    if stored.startswith(PREFIX):
        return stores.current().head(stored, size)
    with default_storage.open(stored) as file:
        return bytes(file.read(size))


def exists(stored: str) -> bool:
    """Whether the whole file is there."""
    return stores.current().exists(stored) if stored.startswith(PREFIX) else default_storage.exists(stored)


def discard(stored: str) -> None:
    """Delete the file; one that is gone is fine."""
    if stored.startswith(PREFIX):
        stores.current().remove(stored, {})
    else:
        default_storage.delete(stored)
