"""One run as measures look at it: who stands where, up to any depth, and whether the list reaches that far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluator.ranks import candidates
from evaluator.types import BoolArray, FloatArray, IntArray, JudgedRanks, Judgments, Split

Places = NDArray[np.intp]

TOP = 50
"""Where a list is cut before images are taken out of it (decision 10): lists and whole rankings are measured alike."""


class UnavailableError(Exception):
    """A measure that cannot be computed, with the reason in plain words (decision 18)."""


@dataclass(frozen=True, eq=False)
class RunView:
    """The judged ranks of one run beside the judgments they belong to."""

    split: Split
    ranks: JudgedRanks

    @property
    def judgments(self) -> Judgments:
        return self.split.judgments

    def require_depth(self, k: int) -> None:
        """Raise UnavailableError when some list ends before ``k`` although its gallery goes on."""
        shortest = self._shortest
        if shortest is not None and shortest < k:
            raise UnavailableError(f"not available: needs lists of {k} images, the shortest here has {shortest}")

    def require_complete(self) -> None:
        """Raise UnavailableError unless the run orders the whole gallery."""
        if not self.ranks.complete:
            raise UnavailableError("not available: needs the full gallery")

    @cached_property
    def _shortest(self) -> int | None:
        """The depth of the shortest list that does not hold its whole gallery; None where every list does."""
        if self.ranks.complete or not len(self.split):
            return None
        cut_off = self.ranks.depth < candidates(self.split)
        return int(self.ranks.depth[cut_off].min()) if cut_off.any() else None

    def places(self, flags: BoolArray, k: int) -> BoolArray:
        """Return (n, k): whether the image at each rank is one of the flagged judgments (J,)."""
        rank = self.ranks.rank
        lines = np.flatnonzero(flags & (rank > 0) & (rank <= k))
        table = np.zeros((len(self.split), k), dtype=np.bool_)
        table[self.judgments.query[lines], rank[lines] - 1] = True
        return table

    def positives(self, k: int) -> BoolArray:
        """Return (n, k): whether the image at each rank is a positive."""
        return self._top_positives[:, :k] if k <= TOP else self.places(self.judgments.positive, k)

    def negatives(self, k: int) -> BoolArray:
        """Return (n, k): whether the image at each rank is an explicit negative."""
        return self._top_negatives[:, :k] if k <= TOP else self.places(self.judgments.negative, k)

    def count_by_query(self, flags: BoolArray) -> IntArray:
        """Return (n,) how many of the flagged judgments (J,) each query has."""
        return np.bincount(self.judgments.query[flags], minlength=len(self.split)).astype(np.int32)

    @cached_property
    def _top_positives(self) -> BoolArray:
        return self.places(self.judgments.positive, TOP)

    @cached_property
    def _top_negatives(self) -> BoolArray:
        return self.places(self.judgments.negative, TOP)

    def hits(self, k: int) -> Hits:
        """Return the places of the positives in the first ``k`` or more."""
        return self._top_hits if k <= TOP else Hits.of(self.positives(k))

    @cached_property
    def _top_hits(self) -> Hits:
        return Hits.of(self._top_positives)

    @cached_property
    def hits_without_negatives(self) -> Hits:
        """The positives' places after every negative is taken out of the first 50 (decision 10)."""
        return self._top_hits.without(self._top_negatives)

    @cached_property
    def hits_among_judged(self) -> Hits:
        """The positives' places after every unjudged image is taken out of the first 50 (decision 15)."""
        return self._top_hits.without(~(self._top_positives | self._top_negatives))


@dataclass(frozen=True, eq=False)
class Hits:
    """Where the positives stand in some lists: query by query, each from the top."""

    query: Places  # (h,) ascending
    place: Places  # (h,) 0-based
    queries: int

    @classmethod
    def of(cls, table: BoolArray) -> Hits:
        """Return the hits of a table (n, k) of which places hold a positive."""
        query, place = np.nonzero(table)
        return cls(query, place, len(table))

    def without(self, removed: BoolArray) -> Hits:
        """Return the hits after the ``removed`` places (n, k) are taken out of the lists and the rest has moved up.

        A hit that is itself removed (an image that is positive and negative) is gone.
        """
        removed_above = np.cumsum(removed, axis=1, dtype=np.int32)[self.query, self.place]
        stays = ~removed[self.query, self.place]
        return Hits(self.query[stays], (self.place - removed_above)[stays], self.queries)

    @cached_property
    def precision(self) -> FloatArray:
        """(h,) the precision of the list down to each hit."""
        hits_of_query = np.bincount(self.query, minlength=self.queries)
        hits_before_query = np.cumsum(hits_of_query) - hits_of_query
        hits_so_far = np.arange(1, len(self.query) + 1) - hits_before_query[self.query]
        return hits_so_far / (self.place + 1)
