"""How far a search is, for people who wait and for whoever may stop it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Told (done, in all), in the thread that searches. What it raises ends the search."""
READ = 100
"""Work of reading one image of the gallery, in products of one query with one image (measured, roughly)."""


class Steps:
    """Counts work over several passes and tells it; the total is known before the first."""

    def __init__(self, told: Progress | None, total: int) -> None:
        self._told, self._total, self._done = told, total, 0
        self._tell(0)

    def of(self, weight: int) -> Callable[[int], None]:
        """Return what a pass tells its number of images to, each ``weight`` of work."""
        before = self._done
        return lambda images: self._tell(before + weight * images)

    def end(self) -> None:
        """Tell that all is done."""
        self._tell(self._total)

    def _tell(self, done: int) -> None:
        self._done = max(self._done, min(done, self._total))
        if self._told:
            self._told(self._done, self._total)
