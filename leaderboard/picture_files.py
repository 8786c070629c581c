"""Image id of a split → file on this machine, for pages. Found once, and again when a folder changed.

The rule is that of the audit (:func:`evaluator.probing.pictures.find_pictures`). One thing is stricter: a file that a
link leads out of the board's folder to is not shown.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from evaluator.probing.pictures import find_pictures
from leaderboard import bundles, pictures
from leaderboard.models import SplitVersion

CHECKED_FOR_SECONDS = 10.0
"""How long a found folder is taken for unchanged without a look."""
_KEPT = 6
"""Splits whose files are remembered."""

States = tuple[tuple[str, int], ...]
"""(folder, when an entry was last added or removed, in nanoseconds)"""


@dataclass
class Found:
    """The files of one split."""

    root: Path
    """The board's folder, links resolved."""
    files: dict[str, str]
    """Image id -> path."""
    states: States
    checked: float


_found: dict[tuple[str, str], Found] = {}
_lock = threading.Lock()


def files_of(version: SplitVersion) -> Found | None:
    """Return the files of a version's images; None where there are none or the board's may not be shown.

    Hidden truth shows none: its pages have no queries to show them with.
    """
    split = version.split
    folder = pictures.folder_of(split.slug)
    if folder is None or split.hidden_truth or not pictures.may_show(split.slug):
        return None
    key = (version.digest, str(folder))
    with _lock:
        known = _found.get(key)
        if known is None or not _still_holds(known, folder):
            known = _find(version, folder)
            _found.pop(key, None)
            _found[key] = known
            while len(_found) > _KEPT:
                del _found[next(iter(_found))]
        return known


def file_of(version: SplitVersion, image: str) -> Path | None:
    """Return the file of one image, links resolved; None where there is none inside the board's folder."""
    found = files_of(version)
    if found is None or image not in found.files:
        return None
    try:
        real = Path(found.files[image]).resolve(strict=True)
    except (OSError, RuntimeError):  # gone meanwhile, or links in a circle
        return None
    return real if real.is_relative_to(found.root) and real.is_file() else None


def _still_holds(known: Found, folder: Path) -> bool:
    now = time.monotonic()
    if now - known.checked < CHECKED_FOR_SECONDS:
        return True
    known.checked = now
    return known.root == folder.resolve() and known.states == _states(folder)


def _find(version: SplitVersion, folder: Path) -> Found:
    states = _states(folder)  # before the search: what changes during it is seen by the next look
    found = find_pictures(folder, bundles.load(version))
    root = folder.resolve()
    inside: dict[Path, bool] = {}
    files = {}
    for name, path in zip(found.names, found.paths, strict=True):
        if path is None:
            continue
        if path.parent not in inside:
            inside[path.parent] = path.parent.resolve().is_relative_to(root)
        if inside[path.parent] and (not path.is_symlink() or path.resolve().is_relative_to(root)):
            files[name] = str(path)
    return Found(root, files, states, time.monotonic())


def _states(folder: Path) -> States:
    seen: dict[str, int] = {}
    for where, folders, _ in os.walk(folder, followlinks=True):
        real = os.path.realpath(where)
        if real in seen:
            folders.clear()
            continue
        seen[real] = Path(real).stat().st_mtime_ns
    return tuple(sorted(seen.items()))
