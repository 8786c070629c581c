"""The measures again, as a few lines of plain Python over lists of image numbers, and generated cases to try them on.

Nothing here uses the evaluator but to build its inputs: this is the oracle.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

import numpy as np
from hypothesis import strategies as st

from evaluator.protocols import PINPOINT
from evaluator.types import Gallery, Judgments, Protocol, Ranking, Split, Subset


@dataclass
class Query:
    """One query of a case: what is released about it and what a run lists."""

    listing: list[int]
    positives: list[int]  # as released: may repeat
    negatives: list[int | None]  # as released: may repeat, hold nulls and positives
    target: int | None
    members: list[int]
    cluster: int
    group: int
    category: str
    images: str


@dataclass
class Case:
    """Some queries over one gallery of images 0 to ``gallery`` - 1."""

    gallery: int
    queries: list[Query]

    @property
    def shortest(self) -> int:
        return min(len(query.listing) for query in self.queries)

    @property
    def complete(self) -> bool:
        return self.shortest == self.gallery


@st.composite
def cases(draw: st.DrawFn, *, repeats: bool = True) -> Case:
    """Cases with lists of one image up to the whole gallery; with ``repeats``, judgments as untidy as PinPoint's."""
    gallery = draw(st.sampled_from([6, 15, 70]))
    lengths = draw(st.sampled_from(["one", "half", "whole"]))
    shuffle = random.Random(draw(st.integers(0, 2**32 - 1)))
    return Case(gallery, [_query(shuffle, gallery, lengths, repeats) for _ in range(draw(st.integers(1, 7)))])


def _query(chance: random.Random, gallery: int, lengths: str, repeats: bool) -> Query:
    images = list(range(gallery))
    length = {"one": 1, "half": gallery // 2 + chance.randrange(3), "whole": gallery}[lengths]
    positives = chance.sample(images, chance.randint(0, min(gallery, 12)))
    negatives: list[int | None] = list(chance.sample(images, chance.randint(0, min(gallery, 30))))
    target = positives[0] if positives else None
    if repeats:
        positives += chance.choices(positives, k=chance.randrange(3)) if positives else []
        negatives += [*chance.choices(negatives, k=2), None] if negatives else []
    return Query(
        listing=chance.sample(images, length),
        positives=positives,
        negatives=negatives,
        target=target,
        members=sorted({*chance.sample(images, min(4, gallery)), *([] if target is None else [target])}),
        cluster=chance.randrange(4),
        group=chance.randrange(-1, 3),
        category=chance.choice(["dress", "shirt"]),
        images=chance.choice(["single", "multi"]),
    )


def split_of(case: Case, protocol: Protocol = PINPOINT, *, measures: tuple[str, ...] | None = None) -> Split:
    """Return the case's split, with all queries in All and those of even position in Original."""
    if measures is not None:
        protocol = replace(protocol, measures=measures, subsets=(Subset.ALL, Subset.ORIGINAL), breakdowns=())
    queries = case.queries
    n = len(queries)
    even = np.arange(n) % 2 == 0
    groups = np.array([query.group for query in queries], dtype=np.int32)
    return Split(
        name="generated",
        version=1,
        protocol=protocol,
        query_ids=tuple(f"q{position}" for position in range(n)),
        texts=("",) * n,
        references=((0,),) * n,
        images=tuple(f"i{image:03}" for image in range(case.gallery)),
        galleries=(Gallery("generated", np.arange(case.gallery, dtype=np.int32)),),
        gallery_of=np.zeros(n, dtype=np.int32),
        judgments=judgments_of(case),
        subsets={Subset.ALL: np.ones(n, dtype=np.bool_), Subset.ORIGINAL: even},
        clusters=np.array([query.cluster for query in queries], dtype=np.int32),
        groups={
            "category": {name: _mask(query.category == name for query in queries) for name in ("dress", "shirt")},
            "images": {name: _mask(query.images == name for query in queries) for name in ("single", "multi")},
        },
        paraphrase_groups={Subset.ALL: groups, Subset.ORIGINAL: groups},
    )


def judgments_of(case: Case) -> Judgments:
    """Return one line for each distinct (query, image)."""
    lines = [
        (q, image, image in query.positives, image in query.negatives, image == query.target, image in query.members)
        for q, query in enumerate(case.queries)
        for image in sorted(
            {image for image in [*query.positives, *query.negatives, *query.members] if image is not None}
        )
    ]
    columns = np.array(lines, dtype=np.int32).reshape(len(lines), 6).T
    return Judgments(
        *columns[:2].copy(),
        *(columns[2:] == 1),
        np.array([len(query.positives) for query in case.queries], dtype=np.int32),
        np.array([len(query.negatives) for query in case.queries], dtype=np.int32),
    )


def ranking_of(case: Case) -> Ranking:
    """Return the case's lists as a reader would, padded with -1."""
    width = max(len(query.listing) for query in case.queries)
    padded = [query.listing + [-1] * (width - len(query.listing)) for query in case.queries]
    lengths = [len(query.listing) for query in case.queries]
    return Ranking(np.array(padded, dtype=np.int32), np.array(lengths, dtype=np.int32))


def _mask(flags: object) -> np.ndarray:
    return np.array(list(flags), dtype=np.bool_)  # type: ignore[call-overload]


def average_precision(listing: list[int], positives: list[int], k: int) -> float | None:
    """AP@k / min(positives as released, k), written as protocols.md 5.3 does."""
    hits, total = 0, 0.0
    for place, image in enumerate(listing[:k], start=1):
        if image in positives:
            hits += 1
            total += hits / place
    return total / min(len(positives), k) if positives else None


def without_negatives(query: Query, k: int) -> float | None:
    kept = [image for image in query.listing[:50] if image not in query.negatives]
    return average_precision(kept, query.positives, k)


def among_judged(query: Query, k: int) -> float | None:
    kept = [image for image in query.listing[:50] if image in query.positives or image in query.negatives]
    return average_precision(kept, query.positives, k)


def found(query: Query, wanted: list[int] | list[int | None], k: int) -> int:
    return len(set(query.listing[:k]) & set(wanted))


def discounted_gain(query: Query, k: int) -> float | None:
    if not query.positives:
        return None
    gain = sum(1 / math.log2(1 + place) for place, image in enumerate(query.listing[:k], 1) if image in query.positives)
    return gain / sum(1 / math.log2(1 + place) for place in range(1, min(len(query.positives), k) + 1))


def negative_recall(query: Query, k: int) -> float | None:
    return found(query, query.negatives, k) / min(len(query.negatives), k) if query.negatives else None


PER_QUERY: dict[str, Callable[[Query, int], float | None]] = {
    "Recall": lambda query, k: found(query, query.positives, k) / len(query.positives) if query.positives else None,
    "Recall_any": lambda query, k: float(found(query, query.positives, k) > 0) if query.positives else None,
    "Recall_target": lambda query, k: None if query.target is None else float(query.target in query.listing[:k]),
    "Precision": lambda query, k: found(query, query.positives, k) / k,
    "mAP": lambda query, k: average_precision(query.listing, query.positives, k),
    "nDCG": discounted_gain,
    "NegRecall": negative_recall,
    "mAP_noNeg": without_negatives,
    "mAP_judged": among_judged,
    "Judged": lambda query, k: found(query, [*query.positives, *query.negatives], k) / k,
}
"""Label -> value of one query at a cut-off; None where the query is left out of the mean."""


def mean(case: Case, label: str, k: int, chosen: Callable[[Query], bool] = lambda _: True) -> float | None:
    """Return the mean over the chosen queries that have a value."""
    values = [PER_QUERY[label](query, k) for query in case.queries if chosen(query)]
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def spread(case: Case, label: str, k: int, statistic: Callable[[list[float]], float]) -> float | None:
    """Return the mean of a statistic over the paraphrase groups that have two values or more."""
    groups: dict[int, list[float]] = {}
    for query in case.queries:
        value = PER_QUERY[label](query, k)
        if query.group >= 0 and value is not None:
            groups.setdefault(query.group, []).append(value)
    spreads = [statistic(values) for values in groups.values() if len(values) > 1]
    return fmean(spreads) if spreads else None


def value_range(values: list[float]) -> float:
    return max(values) - min(values)


deviation = pstdev
