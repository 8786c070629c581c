"""Removes files whose time is over: vectors, uploads that nobody goes on with, and what a killed process left."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from submissions import liveness
from submissions.models import SentFile
from submissions.services.deletion import delete_old_vectors, is_needed
from uploads.services import sweep_expired

log = logging.getLogger(__name__)

READING = "reading"
UPLOADS = "uploads"
DAY = 24 * 3600


def reading_folder() -> Path:
    """Return where files are read; beside what is stored, so that a result is moved and not copied."""
    folder = Path(default_storage.path(READING))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_leftovers() -> int:
    """Remove what is older than anything that may still be in use, and vectors that were kept long enough.

    Returns how many folders and files that was.
    """
    readings = list(_older(reading_folder(), 3 * settings.EVALUATION_SECONDS))
    for folder in readings:
        shutil.rmtree(folder, ignore_errors=True)
    uploads = _unknown(_older(Path(default_storage.path(UPLOADS)), DAY))
    beats = list(_older(liveness.folder(), DAY))
    for path in (*uploads, *beats):
        path.unlink(missing_ok=True)
    if readings or uploads:
        log.info("removed %d readings and %d uploads that were left over", len(readings), len(uploads))
    return len(readings) + len(uploads) + len(beats) + delete_old_vectors() + sweep_expired(is_needed)


def _older(folder: Path, seconds: float) -> Iterator[Path]:
    limit = time.time() - seconds
    for path in folder.iterdir() if folder.is_dir() else ():
        try:
            if path.stat().st_mtime < limit:
                yield path
        except FileNotFoundError:  # somebody else removed it meanwhile
            continue


def _unknown(paths: Iterable[Path]) -> list[Path]:
    """Return the uploads that no row refers to, in one query."""
    known = set(SentFile.objects.filter(removed_at=None).values_list("stored", flat=True))
    return [path for path in paths if f"{UPLOADS}/{path.name}" not in known]
