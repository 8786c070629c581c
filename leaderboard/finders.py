"""Serves Plotly's own script from the installed package as a static file: nothing of it is in the repository."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

PLOTLY = "plotly/plotly.min.js"
"""Its name among the static files."""


class PlotlyFinder(BaseFinder):
    """Finds :data:`PLOTLY` and nothing else: the package holds data sets and templates too."""

    def find(  # type: ignore[override]  # the stubs tell two answers apart by a literal
        self, path: str, find_all: bool = False, **options: Any
    ) -> list[str] | str:
        """Return the file's place on disk, or an empty list; a list of it where ``find_all`` is asked."""
        file = _folder() / Path(PLOTLY).name
        if path != PLOTLY or not file.exists():
            return []  # None would be taken for a match
        return [str(file)] if find_all else str(file)

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[tuple[str, Storage]]:
        """Yield the one file for ``collectstatic``."""
        if (_folder() / Path(PLOTLY).name).exists():
            storage = FileSystemStorage(location=_folder())
            storage.prefix = "plotly"  # type: ignore[attr-defined]  # how finders say where a file goes
            yield Path(PLOTLY).name, storage


def _folder() -> Path:
    """Return where the package keeps it, without importing the package."""
    spec = find_spec("plotly")
    return Path(str(spec.origin)).parent / "package_data" if spec and spec.origin else Path("/nonexistent")
