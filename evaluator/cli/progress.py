"""A progress bar for people who wait: only on a terminal, and only after a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

_WIDTH = 30


class ProgressBar:
    """A bar on one line of a terminal. Call it with (steps done, steps in all); leaving the context wipes it out."""

    def __init__(
        self, stream: TextIO, label: str, *, patience: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._label, self._clock = stream, label, clock
        self._visible_from = clock() + patience
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, unless nobody would see it or it is too early to bother anyone."""
        if not self._stream.isatty() or self._clock() < self._visible_from:
            return
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._stream.write(f"\r{self._label} [{bar}] {done}/{total}")
        self._stream.flush()
        self._drawn = True
