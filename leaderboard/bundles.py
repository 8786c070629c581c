"""Reads the bundle of a version, keeping the last few in memory: a worker scores many files on one split."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.core.files.storage import default_storage

from evaluator import bundle
from evaluator.types import Split
from leaderboard.models import SplitVersion


def load(version: SplitVersion) -> Split:
    """Return the frozen split of a version. Cached by content digest, which can never go stale."""
    return _load(version.digest, version.bundle)


def load_named(digest: str, name: str) -> Split:
    """The same for a version's two columns, for those who remember what they computed by them."""
    return _load(digest, name)


@lru_cache(maxsize=4)
def _load(digest: str, name: str) -> Split:
    return bundle.load(Path(default_storage.path(name)))
