"""How far a probing is, how fast it goes, and how long it will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

WINDOW = 60.0
"""Seconds over which the rate is taken: what a model does now, not what loading it cost."""
RANKING = "ranking"
GALLERY = "gallery"


@dataclass(frozen=True)
class Reached:
    """One word on the progress of an encoder's probing."""

    phase: str
    """``gallery``, a condition, or ``ranking``."""
    done: int
    """Inputs that are encoded, those of earlier runs among them."""
    total: int
    """Pictures of the gallery, and each query once for each condition."""
    rate: float
    """Inputs per second over the last minute, 0.0 while nothing was encoded in it."""
    seconds_left: float | None
    """None where nothing is known of it yet."""


Told = Callable[[Reached], None]


class Pace:
    """Counts inputs and tells how it goes. ``clock`` is in seconds."""

    def __init__(self, total: int, told: Told | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._told, self._clock = total, told, clock
        self._done = 0
        self._marks: deque[tuple[float, int]] = deque()
        self._ranking_since = 0.0

    def found(self, phase: str, inputs: int) -> None:
        """Count inputs that an earlier run encoded: they say nothing of the rate."""
        self._done += inputs
        self._marks = deque((when, done + inputs) for when, done in self._marks)
        self._tell(phase)

    def start(self) -> None:
        """Begin to measure: what comes now is time of encoding."""
        self._marks.append((self._clock(), self._done))

    def encoded(self, phase: str, inputs: int) -> None:
        """Count inputs that were encoded now."""
        self._done += inputs
        self._marks.append((self._clock(), self._done))
        while len(self._marks) > 2 and self._marks[1][0] <= self._marks[-1][0] - WINDOW:
            self._marks.popleft()
        self._tell(phase)

    def ranked(self, done: int, total: int) -> None:
        """Tell how far the ranking is; its seconds are guessed from its own first part."""
        now = self._clock()
        if not done:
            self._ranking_since = now
        left = (now - self._ranking_since) * (total - done) / done if done else None
        if self._told:
            self._told(Reached(RANKING, self._done, self._total, 0.0, left))

    def _tell(self, phase: str) -> None:
        if self._told:
            rate = self._rate()
            left = (self._total - self._done) / rate if rate else None
            self._told(Reached(phase, self._done, self._total, rate, left))

    def _rate(self) -> float:
        if len(self._marks) < 2:
            return 0.0
        (began, before), (ended, after) = self._marks[0], self._marks[-1]
        return (after - before) / (ended - began) if ended > began else 0.0
