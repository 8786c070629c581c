"""From a list of queries to the arrays of a frozen split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.types import BoolArray, IntArray, Judgments

LICENCE = "CC0"


@dataclass(frozen=True)
class Row:
    """One query with its judgments; images are indices into the split's images."""

    text: str
    references: tuple[int, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...] = ()
    target: int | None = None
    """The single annotated target, one of the positives; None where the protocol knows none."""
    members: tuple[int, ...] = ()
    """CIRR's image set without the reference."""
    repeats: int = 0
    """How often the release repeats a positive and a negative: added to the counts that are divisors (decision 8)."""


def judgments(rows: Sequence[Row]) -> Judgments:
    """Return the judgments of ``rows``, one line for each judged image or member."""
    lines = [(query, image) for query, row in enumerate(rows) for image in sorted(_judged(row))]

    def mark(kind: str) -> BoolArray:
        return np.array([image in _images(rows[query], kind) for query, image in lines], dtype=np.bool_)

    return Judgments(
        query=_integers(query for query, _ in lines),
        image=_integers(image for _, image in lines),
        positive=mark("positives"),
        negative=mark("negatives"),
        target=mark("target"),
        member=mark("members"),
        positives_released=_integers(len(row.positives) + row.repeats for row in rows),
        negatives_released=_integers(len(row.negatives) + row.repeats for row in rows),
    )


def numbered(keys: Iterable[object]) -> IntArray:
    """Return a number from 0 for each of ``keys``, the same for equal ones, in order of first appearance."""
    seen: dict[object, int] = {}
    return _integers(seen.setdefault(key, len(seen)) for key in keys)


def mask(flags: Iterable[bool]) -> BoolArray:
    """Return ``flags`` as an array."""
    return np.fromiter(flags, dtype=np.bool_)


def everything(number: int) -> IntArray:
    """Return the indices of all of ``number`` images: a gallery without exceptions."""
    return np.arange(number, dtype=np.int32)


def _judged(row: Row) -> set[int]:
    return {image for kind in ("positives", "negatives", "target", "members") for image in _images(row, kind)}


def _images(row: Row, kind: str) -> tuple[int, ...]:
    if kind == "target":
        return () if row.target is None else (row.target,)
    images: tuple[int, ...] = getattr(row, kind)
    return images


def _integers(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int32)
