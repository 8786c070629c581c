"""Finds many ids at once: for a large gallery, a dictionary's cache misses cost more than parsing the file does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Slots = NDArray[np.int64]
_Words = NDArray[np.uint64]
_ODD = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio: multiplicative hashing."""
_LONGEST = 128
_ROOM = 4
"""Slots for each id; a quarter full, most ids are found at the first look."""


class IdTable:
    """Positions of distinct ids in a hash table of arrays: open addressing with linear probing.

    It answers for lists of known ids only, and says None otherwise; the caller then asks a dictionary, one by one.
    """

    def __init__(self, names: Sequence[str]) -> None:
        width = max(map(len, names), default=0)
        self._usable = bool(names) and width <= _LONGEST and all(name.isascii() and "\0" not in name for name in names)
        if not self._usable:
            return
        self._type = np.dtype(f"S{-(-max(width, 1) // 8) * 8}")
        texts = np.array(names, dtype=self._type)
        self._columns = [np.ascontiguousarray(column) for column in _words(texts).T]
        self._lengths = np.fromiter(map(len, names), np.int32, len(names))
        self._bits = max(len(names) * _ROOM, 2).bit_length()
        self._slots = self._filled(_words(texts))

    def find(self, ids: Sequence[object]) -> NDArray[np.int32] | None:
        """Return the position of each id; None where one is unknown, or no ASCII text."""
        if not (self._usable and ids):
            return None
        try:
            characters = len("".join(ids))  # type: ignore[arg-type]  # a TypeError here is an answer
            texts = np.array(ids, dtype=self._type)
        except (TypeError, UnicodeEncodeError):
            return None
        found = self._probe(_words(texts))
        if (found < 0).any() or int(self._lengths[found].sum()) != characters:
            return None  # an unknown id, or one that ends in NUL or was longer than its column and only looks known
        return found

    def _filled(self, names: _Words) -> NDArray[np.int32]:
        slots = np.full(1 << self._bits, -1, dtype=np.int32)
        waiting, wanted = np.arange(len(names), dtype=np.int32), self._hash(names)
        while len(waiting):
            free = slots[wanted] < 0
            slots[wanted[free]] = waiting[free]
            lost = slots[wanted] != waiting
            waiting, wanted = waiting[lost], self._next(wanted[lost])
        return slots

    def _probe(self, words: _Words) -> NDArray[np.int32]:
        wanted = self._hash(words)
        found = self._slots[wanted]
        open_ = np.flatnonzero(self._differs(found, words))
        wanted = wanted[open_]
        while len(open_):
            wanted = self._next(wanted)
            found[open_] = self._slots[wanted]
            still = self._differs(found[open_], words[open_])
            open_, wanted = open_[still], wanted[still]
        return found

    def _differs(self, found: NDArray[np.int32], words: _Words) -> NDArray[np.bool_]:
        """Whether a slot is taken by another id than the one looked for."""
        differs = np.zeros(len(found), dtype=np.bool_)
        for mine, theirs in zip(self._columns, words.T, strict=True):
            differs |= mine[found] != theirs
        return differs & (found >= 0)

    def _hash(self, words: _Words) -> _Slots:
        mixed = np.zeros(len(words), dtype=np.uint64)
        for column in words.T:
            mixed = (mixed ^ column) * np.uint64(_ODD)
        return (mixed >> np.uint64(64 - self._bits)).astype(np.int64)

    def _next(self, slots: _Slots) -> _Slots:
        return (slots + 1) & ((1 << self._bits) - 1)


def _words(texts: NDArray[np.bytes_]) -> _Words:
    """Return the same bytes as (n, width / 8) numbers."""
    return texts.view(np.uint64).reshape(len(texts), -1)
