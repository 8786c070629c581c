"""Best ranks of a pool of models -> the label of every query (CIRCUS, section 3; decisions 36 to 39).

With r*_m the best rank of a query's positives over the pool under condition m, and K = 10 unless said otherwise:

* shortcut: r*_text ≤ K or r*_image ≤ K; its kind says which;
* composition-required: neither, and r*_multimodal ≤ K;
* unresolved: none of the three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.types import BoolArray, Condition, IntArray, JudgedRanks, Split

K = 10
NOT_RANKED = int(np.iinfo(np.int32).max)
"""Stands for a rank that is not known; larger than any."""
UNIMODAL = (Condition.TEXT_ONLY, Condition.IMAGE_ONLY)


class Label(StrEnum):
    """What a pool says of a query."""

    SHORTCUT = "shortcut"
    COMPOSITION_REQUIRED = "composition-required"
    UNRESOLVED = "unresolved"


class Kind(StrEnum):
    """Which modality alone solves a shortcut."""

    TEXT = "text"
    IMAGE = "image"
    BOTH = "both"


LABELS, KINDS = tuple(Label), tuple(Kind)
"""The order of the codes in :class:`Labelling`."""


@dataclass(frozen=True, eq=False)
class FrozenPool:
    """What is known of a pool of which only the best ranks were published. All arrays are (n,)."""

    models: int
    k: int
    """Where its support was counted."""
    support: Mapping[Condition, IntArray]
    """How many of its models solve a query under a condition."""
    either: IntArray
    """How many solve it from the text or from the image alone."""
    best: Mapping[Condition, tuple[str, ...]]
    """The model that reached the best rank; empty where it was not named."""


@dataclass(frozen=True, eq=False)
class Member:
    """One member of a pool: a model, or a frozen pool that stands for several."""

    name: str
    ranks: Mapping[Condition, IntArray]
    """Condition -> (n,) best rank over each query's positives, 1-based; 0 where none is ranked."""
    frozen: FrozenPool | None = None

    @property
    def models(self) -> int:
        return self.frozen.models if self.frozen else 1

    def support(self, condition: Condition, k: int) -> IntArray:
        """Return (n,) how many of its models solve a query; of a frozen pool at another K, at least how many."""
        if self.frozen is not None and self.frozen.k == k:
            return self.frozen.support[condition]
        return solved(self.ranks[condition], k).astype(np.int32)

    def either(self, k: int) -> IntArray:
        """Return (n,) how many of its models solve a query from one modality; the same caution."""
        if self.frozen is not None and self.frozen.k == k:
            return self.frozen.either
        alone = [solved(self.ranks[condition], k) for condition in UNIMODAL]
        return (alone[0] | alone[1]).astype(np.int32)

    def best_name(self, condition: Condition, query: int) -> str:
        """Return the name of the model that reached the member's rank; empty where a frozen pool does not name it."""
        return self.frozen.best[condition][query] if self.frozen else self.name


@dataclass(frozen=True, eq=False)
class Labelling:
    """The labels of all n queries by one pool at one K."""

    k: int
    members: tuple[Member, ...]
    label: IntArray
    """(n,) index into :data:`LABELS`."""
    kind: IntArray
    """(n,) index into :data:`KINDS`; -1 where the query is no shortcut."""
    rank: Mapping[Condition, IntArray]
    """(n,) best rank over the pool; 0 where no member ranks a positive."""
    best: Mapping[Condition, IntArray]
    """(n,) index of the first member that reaches it; -1 where none does."""
    support: Mapping[Condition, IntArray]
    """(n,) how many models have a positive among their first K."""
    either: IntArray
    """(n,) how many do so from the text or from the image alone."""

    def __len__(self) -> int:
        return len(self.label)

    @property
    def models(self) -> int:
        """How many models the pool has, those of frozen pools among them."""
        return sum(member.models for member in self.members)

    def has(self, label: Label) -> BoolArray:
        """Return the mask of the queries with ``label``."""
        return np.asarray(self.label == LABELS.index(label))

    def of_kind(self, kind: Kind) -> BoolArray:
        """Return the mask of the shortcuts of one kind."""
        return np.asarray(self.kind == KINDS.index(kind))

    @property
    def shortcut_free(self) -> BoolArray:
        """Return the mask of SF: composition-required and unresolved queries."""
        return ~self.has(Label.SHORTCUT)

    def best_name(self, condition: Condition, query: int) -> str:
        """Return the model that reached the best rank of a query; empty where none did or none is named."""
        member = int(self.best[condition][query])
        return self.members[member].best_name(condition, query) if member >= 0 else ""

    def words(self, query: int) -> str:
        """Return a query's label in words: ``shortcut (text)``, ``unresolved``."""
        label = LABELS[self.label[query]]
        return f"{label} ({KINDS[self.kind[query]]})" if label is Label.SHORTCUT else str(label)

    def counts(self) -> dict[str, int]:
        """Return how many queries have each label and, of shortcuts, each kind."""
        return {str(label): int(self.has(label).sum()) for label in LABELS} | {
            str(kind): int(self.of_kind(kind).sum()) for kind in KINDS
        }


def best_ranks(judged: JudgedRanks, split: Split) -> IntArray:
    """Return (n,) the best rank of any positive of each query of ``split``, 0 where none is ranked.

    CIRCO's rank is the best over its ground truths (decision 38). Raises EvaluatorError where ``judged`` belongs to
    other judgments.
    """
    if judged.rank.shape != (len(split.judgments),):
        raise EvaluatorError(f"the judged ranks are not parallel to the judgments of {split.name}")
    counted = split.judgments.positive & (judged.rank > 0)
    best = np.full(len(split), NOT_RANKED, dtype=np.int32)
    np.minimum.at(best, split.judgments.query[counted], judged.rank[counted])
    return np.where(best == NOT_RANKED, 0, best).astype(np.int32)


def label(members: Sequence[Member], k: int = K) -> Labelling:
    """Return the labels that a pool gives. Raises EvaluatorError for an empty pool, K < 1, or members of other size."""
    _check(members, k)
    table = {condition: _known(members, condition) for condition in Condition}
    rank = {condition: ranks.min(axis=0) for condition, ranks in table.items()}
    found = {condition: best <= k for condition, best in rank.items()}
    text, image = (found[condition] for condition in UNIMODAL)
    code = np.where(text | image, 0, np.where(found[Condition.MULTIMODAL], 1, 2)).astype(np.int32)
    kind = np.where(text & image, 2, np.where(image, 1, np.where(text, 0, -1))).astype(np.int32)
    return Labelling(
        k=k,
        members=tuple(members),
        label=code,
        kind=kind,
        rank={condition: _shown(best) for condition, best in rank.items()},
        best={
            condition: np.where(rank[condition] == NOT_RANKED, -1, ranks.argmin(axis=0)).astype(np.int32)
            for condition, ranks in table.items()
        },
        support={condition: _total([member.support(condition, k) for member in members]) for condition in Condition},
        either=_total([member.either(k) for member in members]),
    )


def solved(ranks: IntArray, k: int) -> BoolArray:
    """Return which of ``ranks``, in which 0 is "not ranked", are among the first ``k``."""
    return np.asarray((ranks > 0) & (ranks <= k))


def _check(members: Sequence[Member], k: int) -> None:
    if not members:
        raise EvaluatorError("a pool without members labels nothing")
    if k < 1:
        raise EvaluatorError(f"K must be at least 1, not {k}")
    names = [member.name for member in members]
    if len(set(names)) < len(names):
        raise EvaluatorError(f"a pool holds a model twice: {', '.join(names)}")
    shapes = {ranks.shape for member in members for ranks in member.ranks.values()}
    if len(shapes) != 1 or any(set(member.ranks) != set(Condition) for member in members):
        raise EvaluatorError("every member needs the ranks of all queries under all three conditions")


def _known(members: Sequence[Member], condition: Condition) -> IntArray:
    """Return (members, n) ranks with a number larger than any where one is not known."""
    ranks = np.stack([member.ranks[condition] for member in members])
    return np.where(ranks > 0, ranks, NOT_RANKED).astype(np.int32)


def _shown(best: IntArray) -> IntArray:
    return np.where(best == NOT_RANKED, 0, best).astype(np.int32)


def _total(counts: Sequence[IntArray]) -> IntArray:
    return np.asarray(np.sum(np.stack(counts), axis=0), dtype=np.int32)
