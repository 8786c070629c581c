"""The values everything else is written in: a frozen split, a ranking, judged ranks, a score.

Arrays are NumPy; ``n`` is the number of queries, ``J`` the number of judgments, ``G`` the number of known images.
All are immutable by convention: nobody writes into an array of a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evaluator.id_table import IdTable

IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
VectorArray = NDArray[np.float32]
IndexArray = NDArray[np.intp]


class Condition(StrEnum):
    """What a run may look at (CIRCUS, section 3)."""

    MULTIMODAL = "multimodal"
    TEXT_ONLY = "text-only"
    IMAGE_ONLY = "image-only"


class Subset(StrEnum):
    """A named selection of a split's queries: Full ⊇ SF ⊇ V (CIRCUS), All ⊇ Original (PinPoint).

    SF′ and V′ are what a later audit leaves of SF and V (decision 39).
    """

    FULL = "Full"
    SF = "SF"
    V = "V"
    SF_ROLLED = "SF′"
    V_ROLLED = "V′"
    ALL = "All"
    ORIGINAL = "Original"


@dataclass(frozen=True)
class Breakdown:
    """Measures to repeat for each value of one group dimension, for example every skin-tone group."""

    dimension: str
    measures: tuple[str, ...]
    main: bool = False
    """Part of the main table (single/multi image) rather than of the break-down pages."""


@dataclass(frozen=True)
class Protocol:
    """How a split is evaluated. It is part of the split's digest."""

    key: str
    """Family name: ``cirr``, ``fashioniq``, ``circo``, ``circus``, ``pinpoint``."""
    first_measure: str
    first_subset: Subset
    subsets: tuple[Subset, ...]
    """Subsets the board has columns for, widest first; a split may lack some (see ``Split.absent``)."""
    measures: tuple[str, ...]
    """Names of measures computed for every subset and every condition that was submitted."""
    joint_measures: tuple[str, ...] = ()
    """Names of measures that need several conditions at once."""
    breakdowns: tuple[Breakdown, ...] = ()
    list_length: int = 50
    """Images a ranking must hold for each query, once the reference is dropped (or the whole gallery)."""
    member_list_length: int = 0
    """Images CIRR's second file, the subset ranking, must hold; 0 where there is none."""
    remove_reference: bool = False
    """Whether the reference images are deleted by id from a query's ranking."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """The candidates of some queries: indices into ``Split.images``, ascending.

    An **open** gallery (decision 42) has a ``pattern``: its list is not at hand, so every id that matches is accepted
    unseen.
    """

    name: str
    images: IntArray
    pattern: str | None = None

    @property
    def is_open(self) -> bool:
        return self.pattern is not None

    @property
    def size(self) -> int | None:
        """Number of candidates, or None where the gallery is open."""
        return None if self.is_open else len(self.images)


@dataclass(frozen=True, eq=False)
class Judgments:
    """One line per distinct (query, image) that is judged or a member of the query's image set.

    Sorted by (query, image). ``positives_released`` and ``negatives_released`` (n,) are the counts **as released**,
    repeats and nulls included; wherever a count is a divisor it is one of these (decision 8).
    """

    query: IntArray  # (J,) position of the query
    image: IntArray  # (J,) index into Split.images
    positive: BoolArray  # (J,)
    negative: BoolArray  # (J,) an image can be both: 310 PinPoint rows
    target: BoolArray  # (J,) the single annotated target: CIRCO's target_img_id, CIRR's target_hard
    member: BoolArray  # (J,) belongs to CIRR's image set (the reference is left out)
    positives_released: IntArray  # (n,)
    negatives_released: IntArray  # (n,)

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Lookalike:
    """Another split that files for this one are confused with, and what to say then (decision 3, public report A28)."""

    name: str
    query_ids: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()
    sentence: str = ""


@dataclass(frozen=True, eq=False)
class Split:
    """One closed set of queries, one gallery (FashionIQ: one per category), judgments and a protocol; frozen."""

    name: str
    version: int
    protocol: Protocol
    query_ids: tuple[str, ...]
    texts: tuple[str, ...]
    references: tuple[tuple[int, ...], ...]
    """One or two indices into ``images`` for each query."""
    images: tuple[str, ...]
    """Every known image id in byte order: that order is the gallery order of the tie rule (decision 19)."""
    galleries: tuple[Gallery, ...]
    gallery_of: IntArray  # (n,) index into galleries
    judgments: Judgments
    subsets: Mapping[Subset, BoolArray]  # each (n,)
    clusters: IntArray  # (n,) what intervals resample (decision 17), numbered from 0
    cluster_name: str = "query"
    strata: Mapping[Subset, IntArray] = field(default_factory=dict)  # each (n,), only read inside the subset
    groups: Mapping[str, Mapping[str, BoolArray]] = field(default_factory=dict)
    """dimension -> value -> (n,) mask; values may overlap (CIRCO's semantic aspects)."""
    paraphrase_groups: Mapping[Subset, IntArray] = field(default_factory=dict)  # each (n,), -1 where in no group
    absent: Mapping[Subset, str] = field(default_factory=dict)
    """Subsets of the protocol that this copy lacks, with the reason (decision 43)."""
    hidden_truth: bool = False
    query_aliases: Mapping[str, int] = field(default_factory=dict)
    """Other official spellings of a query id -> its position: ``00001`` for ``query_00001``."""
    image_prefix: str = ""
    """An official prefix that may stand before an image id: ``circo_img_``."""
    lookalikes: tuple[Lookalike, ...] = ()
    licence: str = ""

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def query_index(self) -> dict[str, int]:
        """Query id, or one of its official aliases -> position."""
        return {**self.query_aliases, **{name: position for position, name in enumerate(self.query_ids)}}

    @cached_property
    def image_index(self) -> dict[str, int]:
        """Image id -> index into ``images``."""
        return {name: index for index, name in enumerate(self.images)}

    @cached_property
    def image_table(self) -> IdTable:
        """The same for many ids at once."""
        return IdTable(self.images)


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a ranking file says, checked: distinct gallery images, best first, the reference already dropped.

    ``images`` is (n, width), rows parallel to ``Split.query_ids``, padded with -1 after ``length``. An index at or
    above ``len(split.images)`` is an id of an open gallery that the split does not know; its text is
    ``unknown[index - G]``.
    """

    images: IntArray
    length: IntArray  # (n,)
    unknown: tuple[str, ...] = ()
    members: IntArray | None = None  # (n, 3) CIRR's subset file; None where it was not given
    format: str = ""


class Similarity(StrEnum):
    """How two vectors are compared."""

    COSINE = "cosine"
    INNER_PRODUCT = "inner product"


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors of one run, parallel to the split: ``queries`` (n, d) to its queries, ``gallery`` (G, d) to its images.

    Any floating dtype, byte order and memory order; the gallery may be a memory-mapped file. Rows of images that are in
    no gallery are never read.
    """

    queries: NDArray[np.floating]
    gallery: NDArray[np.floating]
    similarity: Similarity = Similarity.COSINE


@dataclass(frozen=True, eq=False)
class JudgedRanks:
    """The rank of every judged image (architecture.md, section 4), parallel to ``Split.judgments``.

    ``rank`` is 1-based, in the gallery without the removed reference; 0 means "below the end of the list".
    """

    rank: IntArray  # (J,)
    depth: IntArray  # (n,) how many images of the gallery the run orders
    complete: bool
    """Whether it orders the whole gallery, which full nDCG and the Composition Gap need."""
    member_rank: IntArray | None = None
    """(J,) rank among the query's image set, for lines with ``member``; 0 below the end. None: not available."""
    pairs: JudgedPairs | None = None
    """What the ranks belong to, where an author wrote them; None where that is ``Split.judgments``, line by line."""
    format: str = ""


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """The (query, image) of each rank of an author's file, sorted by both.

    Splits that one upload fits have the same queries and images, but not the same judgments (decision 3).
    """

    query: IntArray  # (J,)
    image: IntArray  # (J,)


Run = Ranking | JudgedRanks


@dataclass(frozen=True)
class Score:
    """One number: (subset, condition, group, measure) -> value with its 95 % interval.

    ``condition`` is None for joint measures; ``group`` is "" or ``dimension=value``. Where ``value`` is None,
    ``reason`` says why.
    ``n`` counts what the mean is over: queries, or paraphrase groups.
    """

    subset: Subset
    condition: Condition | None
    group: str
    measure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Everything one evaluation says: the scores and, for tests and explorers, each query's values."""

    scores: tuple[Score, ...]
    ranks: Mapping[Condition, JudgedRanks]
    evaluator_version: str

    def find(
        self, measure: str, subset: Subset, condition: Condition | None = Condition.MULTIMODAL, group: str = ""
    ) -> Score:
        """Return the one score with this key. Raises KeyError when the protocol has no such score."""
        key = (measure, subset, condition, group)
        for score in self.scores:
            if (score.measure, score.subset, score.condition, score.group) == key:
                return score
        raise KeyError(key)
