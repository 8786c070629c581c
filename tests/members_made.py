"""Members of pools written as lists, and the labels again in a few lines of plain Python: the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from evaluator.audit.labels import FrozenPool, Member
from evaluator.types import Condition

BOTH, TEXT, IMAGE = Condition.MULTIMODAL, Condition.TEXT_ONLY, Condition.IMAGE_ONLY
Ranks = Sequence[tuple[int, int, int]]
"""(multimodal, text-only, image-only) of each query; 0 where no positive is ranked."""


def member(name: str, ranks: Ranks) -> Member:
    """Return one model that ranked the queries so."""
    columns = np.array(ranks, dtype=np.int32).reshape(-1, 3).T
    return Member(name, dict(zip(Condition, columns, strict=True)))


def frozen(name: str, pool: Mapping[str, Ranks], k: int) -> Member:
    """Return what would be published of a pool: best ranks, how many solve each query at ``k``, who was best."""
    said = [plain([ranks[query] for ranks in pool.values()], k) for query in range(len(next(iter(pool.values()))))]
    names = [*pool, ""]  # -1 is nobody
    support = {
        condition: np.array([one.support[n] for one in said], dtype=np.int32) for n, condition in enumerate(Condition)
    }
    best = {condition: tuple(names[one.best[n]] for one in said) for n, condition in enumerate(Condition)}
    either = np.array([one.either for one in said], dtype=np.int32)
    return Member(name, member(name, [one.rank for one in said]).ranks, FrozenPool(len(pool), k, support, either, best))


@dataclass(frozen=True)
class Plain:
    """What a pool says of one query."""

    words: str
    rank: tuple[int, int, int]
    best: tuple[int, int, int]
    support: tuple[int, int, int]
    either: int


def plain(ranks: Ranks, k: int) -> Plain:
    """Label one query by the ranks that each model gave it."""
    solved = [[0 < rank <= k for rank in row] for row in ranks]
    rank, best, support = [], [], []
    for n in range(3):
        known = [(row[n], number) for number, row in enumerate(ranks) if row[n]]
        rank.append(min(known)[0] if known else 0)
        best.append(min(known)[1] if known else -1)
        support.append(sum(row[n] for row in solved))
    either = sum(row[1] or row[2] for row in solved)
    if support[1] and support[2]:
        words = "shortcut (both)"
    elif support[1]:
        words = "shortcut (text)"
    elif support[2]:
        words = "shortcut (image)"
    else:
        words = "composition-required" if support[0] else "unresolved"
    return Plain(
        words, (rank[0], rank[1], rank[2]), (best[0], best[1], best[2]), (support[0], support[1], support[2]), either
    )


_RANK = st.one_of(st.just(0), st.integers(1, 13), st.integers(1, 200))


@st.composite
def pools(draw: st.DrawFn, least: int = 1) -> dict[str, Ranks]:
    """Draw a pool of up to five models over up to twelve queries, many ranks near K."""
    models, queries = draw(st.integers(least, 5)), draw(st.integers(1, 12))
    row = st.lists(st.tuples(_RANK, _RANK, _RANK), min_size=queries, max_size=queries)
    return {f"model {number}": draw(row) for number in range(models)}
