"""Who hears how far an audit is: a person at a terminal, or a program that reads lines of JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self, TextIO

from evaluator.probing import Reached
from evaluator.probing.session import Outcome
from evaluator.types import Condition

_WIDTH = 24
_EVERY = 0.25
"""Seconds between two words of one phase."""


class _Seldom:
    """Lets a word pass when another phase begins, when all is done, and otherwise a few times a second."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._phase, self._last = "", 0.0

    def __call__(self, reached: Reached) -> bool:
        now = self._clock()
        due = reached.phase != self._phase or now - self._last >= _EVERY
        if due or reached.seconds_left == 0:
            self._phase, self._last = reached.phase, now
            return True
        return False


class AuditBar:
    """One line on a terminal; nothing where nobody would see it."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._due = _Seldom(clock)
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn = False

    def __call__(self, reached: Reached) -> None:
        """Draw how far one encoder is."""
        if self._stream.isatty() and self._due(reached):
            self._stream.write(f"\r\x1b[K{line(reached)}")
            self._stream.flush()
            self._drawn = True

    def finished(self, outcome: Outcome) -> None:
        """Say on a line of its own that an encoder was not allowed its dtype, or was."""
        said = (outcome.record.get("precision") or {}).get("said")
        if said:
            self._stream.write(f"{outcome.job.spec.name}: {said}\n")
            self._stream.flush()


class Events:
    """Lines of JSON, each written whole and at once."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._due = _Seldom(clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to wipe out."""

    def __call__(self, reached: Reached) -> None:
        """Tell how far one encoder is."""
        if self._due(reached):
            self._say(asdict(reached))

    def finished(self, outcome: Outcome) -> None:
        """Tell what an encoder gave, and where."""
        job, record = outcome.job, outcome.record
        self._say(
            {
                "finished": True,
                "encoder": job.spec.name,
                "card": record.get("card"),
                "ranks": {str(condition): str(job.ranks_path(condition)) for condition in Condition},
                "dtype": job.dtype,
                "device": record.get("device", ""),
                "seconds": record.get("seconds"),
                "precision": record.get("precision"),
            }
        )

    def labelled(self, report: dict[str, Any]) -> None:
        """Tell what the labels are."""
        self._say({"report": report})

    def error(self, code: str, message: str) -> None:
        """Tell why it ends."""
        self._say({"error": {"code": code, "message": message}})

    def _say(self, word: dict[str, Any]) -> None:
        self._stream.write(json.dumps(word) + "\n")
        self._stream.flush()


def line(reached: Reached) -> str:
    """Return one line: phase, bar, inputs, rate, time left."""
    filled = _WIDTH * reached.done // max(reached.total, 1)
    bar = "#" * filled + "." * (_WIDTH - filled)
    parts = [f"{reached.phase:10} [{bar}] {reached.done:,}/{reached.total:,}"]
    if reached.rate:
        parts.append(f"{reached.rate:,.1f}/s")
    if reached.seconds_left is not None:
        parts.append(f"{duration(reached.seconds_left)} left")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """Return a time to wait in words: ``45 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
