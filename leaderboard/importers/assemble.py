"""From names to arrays: image tables in byte order, dense numbers, judgment lines, masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.types import BoolArray, Gallery, IntArray, Judgments
from leaderboard.importers.refusal import require_none

Pairs = Sequence[tuple[int, int]]
"""(position of the query, index of the image)."""

_Keys = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Images:
    """Every known image id in byte order, the order of the tie rule (decision 19)."""

    names: tuple[str, ...]
    index: dict[str, int]

    @classmethod
    def of(cls, *collections: Iterable[str]) -> Images:
        """Return the table of the distinct ids in ``collections``."""
        names = tuple(sorted({name for collection in collections for name in collection}, key=str.encode))
        return cls(names, {name: position for position, name in enumerate(names)})

    def find(self, names: Iterable[str]) -> IntArray:
        """Return the indices of ``names``, in their order."""
        return np.array([self.index[name] for name in names], dtype=np.int32)

    def gallery(self, name: str, members: Collection[str], pattern: str | None = None) -> Gallery:
        """Return the gallery of ``members``, indices ascending; with a ``pattern`` an open one (decision 42)."""
        return Gallery(name, np.sort(self.find(members)), pattern)


def require_known(what: str, names: Iterable[str], gallery: Collection[str], file: str) -> None:
    """Raise ImportRefused where an image is not in its gallery."""
    require_none(f"{what} missing from the gallery", sorted(set(names) - set(gallery)), file)


def require_distinct(what: str, names: Sequence[str], file: str) -> None:
    """Raise ImportRefused where a name comes twice."""
    require_none(f"repeated {what}", [name for name, times in Counter(names).items() if times > 1], file)


def dense_numbers(keys: Iterable[Hashable]) -> IntArray:
    """Number equal keys alike, from 0, in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)


def groups_of_several(keys: Sequence[Hashable], inside: BoolArray) -> IntArray:
    """Number the keys that two or more queries ``inside`` share, from 0; -1 for queries in no such group."""
    numbers = dense_numbers(key for key, counted in zip(keys, inside, strict=True) if counted)
    several = np.bincount(numbers) > 1
    result = np.full(len(keys), -1, dtype=np.int32)
    result[inside] = np.where(several, np.cumsum(several) - 1, -1)[numbers]
    return result


def mask(queries: int, positions: Iterable[int]) -> BoolArray:
    """Return the (queries,) mask that is true at ``positions``."""
    result = np.zeros(queries, dtype=np.bool_)
    result[list(positions)] = True
    return result


def every(queries: int) -> BoolArray:
    """Return the mask of all queries."""
    return np.ones(queries, dtype=np.bool_)


def value_masks(values: Sequence[str]) -> dict[str, BoolArray]:
    """Return value -> mask of the queries that have it, values in byte order."""
    column = np.array(values, dtype=np.str_)
    return {value: column == value for value in sorted(set(values), key=str.encode)}


@dataclass(frozen=True)
class Judged:
    """The judgments of a split as pairs, repeats allowed; each pair belongs to one or more of the four kinds."""

    positive: Pairs = ()
    negative: Pairs = ()
    target: Pairs = ()
    member: Pairs = ()

    def lines(self, queries: int, positives: IntArray | None = None, negatives: IntArray | None = None) -> Judgments:
        """Return one line per distinct pair, sorted by query and image.

        ``positives`` and ``negatives`` (queries,) are the released counts; where not given, those of distinct pairs.
        """
        keys = {kind: _keys(getattr(self, kind)) for kind in ("positive", "negative", "target", "member")}
        lines = np.unique(np.concatenate(list(keys.values())))
        query = (lines >> 32).astype(np.int32)
        flags = {kind: np.isin(lines, wanted) for kind, wanted in keys.items()}
        return Judgments(
            query=query,
            image=(lines & 0xFFFFFFFF).astype(np.int32),
            **flags,
            positives_released=_counts(query[flags["positive"]], queries) if positives is None else positives,
            negatives_released=_counts(query[flags["negative"]], queries) if negatives is None else negatives,
        )


def _keys(pairs: Pairs) -> _Keys:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return (both[:, 0] << 32) | both[:, 1]


def _counts(query: IntArray, queries: int) -> IntArray:
    return np.bincount(query, minlength=queries).astype(np.int32)
