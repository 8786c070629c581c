"""Choices that look random and never change: each is a hash of its own name.

Unlike a seeded generator, a choice depends on nothing drawn before it and on no library's version, so adding a query
moves no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def draw(*key: object) -> int:
    """Return a number in [0, 2**64) that ``key``, by its parts' text, determines."""
    name = "|".join(str(part) for part in key)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])


def pick(options: Sequence[T], *key: object) -> T:
    """Return the one of ``options`` that ``key`` determines."""
    return options[draw(*key) % len(options)]


def shuffled(options: Iterable[T], *key: object) -> list[T]:
    """Return ``options``, whose texts must differ, in an order that ``key`` determines."""
    return sorted(options, key=lambda option: draw(*key, option))


def between(low: int, high: int, *key: object) -> int:
    """Return an integer in [low, high] that ``key`` determines."""
    return low + draw(*key) % (high - low + 1)
