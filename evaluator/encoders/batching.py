"""Batches that shrink where memory runs out, so that a device too small for the usual size still finishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from evaluator.encoders.problems import EncoderError
from evaluator.types import VectorArray

Item = TypeVar("Item")

_NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "alloc_failed", "cannot allocate memory")


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that there is too little memory, on a device or on the host."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and any(part in said for part in _NO_MEMORY)
    )


class Batches:
    """Inputs in batches that halve where memory runs out, and stay that small: the next batch would fail as well."""

    def __init__(self, size: int, release: Callable[[], None] = lambda: None) -> None:
        self.size = size
        self._release = release

    def run(self, items: Sequence[Item], compute: Callable[[Sequence[Item]], VectorArray]) -> VectorArray:
        """Return what ``compute`` gives for all items, a row each. Raises EncoderError where even one is too much."""
        rows: list[VectorArray] = []
        done = 0
        while done < len(items):
            part = items[done : done + self.size]
            found = self._try(part, compute)
            if found is not None:
                rows.append(found)
                done += len(part)
            elif len(part) == 1:
                raise EncoderError("out-of-memory", "a single input does not fit")
            else:
                self.size = max(1, len(part) // 2)
                self._release()
        return np.concatenate(rows) if rows else np.empty((0, 0), dtype=np.float32)

    @staticmethod
    def _try(part: Sequence[Item], compute: Callable[[Sequence[Item]], VectorArray]) -> VectorArray | None:
        """Return the rows; None without memory for them, and nothing left that holds on to any."""
        try:
            return compute(part)
        except (MemoryError, RuntimeError) as error:
            if lacks_memory(error):
                return None
            raise
