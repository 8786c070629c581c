"""How many queries have their first positive at which ranks, and which of them a single modality solves.

What the page of an entry draws: counts by subset and condition, small enough to be stored beside the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.measures.view import RunView, UnavailableError
from evaluator.ranks import UNBOUNDED, candidates
from evaluator.types import BoolArray, Condition, IntArray, JudgedRanks, Split

SOLVED_AT = 10
"""A query is solved under a condition when a positive is among the first so many images (decision 38)."""
SOLVED_BY = ("both", str(Condition.TEXT_ONLY), str(Condition.IMAGE_ONLY), "neither")
"""What a query can be to the two single modalities, in the order of pages."""
_STEPS = (5, 10)
"""The upper ends of bins in each power of ten: 1, 5, 10, 50, 100, ..."""


def rank_counts(split: Split, ranks: Mapping[Condition, JudgedRanks]) -> dict[str, Any]:
    """Return the counts of an entry, ready for JSON.

    * ``bins``: ``[first rank, last rank]`` of each bin, shared by all conditions; the last one ends with the longest
      list, which is the gallery for runs that order all of it.
    * ``subsets``: by name, with ``conditions`` and ``solved``.
    * ``conditions``: by name, ``n`` (queries with a positive), ``counts`` of their first positives, one a bin,
      ``below`` (no positive in a list that ends before the gallery does) and ``outside`` (none in the gallery).
      ``counts``, ``below`` and ``outside`` add up to ``n``.
    * ``solved``: None without both single modalities, or where a list is shorter than :data:`SOLVED_AT`; else ``k``,
      ``n`` and, for each of :data:`SOLVED_BY`, the number of ``queries`` and how many of them are solved
      ``multimodal`` (None without such a run).

    A query without positives counts nowhere. Raises EvaluatorError where the truth is hidden: counts would tell of it.
    """
    if split.hidden_truth:
        raise EvaluatorError(f"the truth of {split.name} is hidden: no rank of it may be told")
    best = {condition: best_ranks(split, of_run) for condition, of_run in ranks.items()}
    edges = bin_edges(max((_deepest(split, of_run) for of_run in ranks.values()), default=1))
    solved = _solved_by(split, ranks, best)
    masks = {subset: mask & has_positives(split) for subset, mask in split.subsets.items()}
    return {
        "bins": [[low + 1, high] for low, high in zip([0, *edges[:-1]], edges, strict=True)],
        "subsets": {
            str(subset): {
                "conditions": {
                    str(condition): _counted(split, ranks[condition], best[condition], edges, mask)
                    for condition in ranks
                },
                "solved": None if solved is None else _table(solved, best.get(Condition.MULTIMODAL), mask),
            }
            for subset, mask in masks.items()
        },
    }


def best_ranks(split: Split, ranks: JudgedRanks) -> IntArray:
    """Return the rank (n,) of each query's first positive; 0 where none is listed."""
    lines = np.flatnonzero(split.judgments.positive & (ranks.rank > 0))
    best = np.full(len(split), UNBOUNDED, dtype=np.int32)
    np.minimum.at(best, split.judgments.query[lines], ranks.rank[lines])
    best[best == UNBOUNDED] = 0
    return best


def has_positives(split: Split) -> BoolArray:
    """Return which queries (n,) have a positive at all."""
    return split.judgments.positives_released > 0


def is_solved(best: IntArray) -> BoolArray:
    """Return which queries (n,) are solved, from the ranks (n,) of their first positives."""
    return (best > 0) & (best <= SOLVED_AT)


def solved_by(text: BoolArray, image: BoolArray) -> IntArray:
    """Return for each query (n,) the place in :data:`SOLVED_BY` that says which single modalities solve it."""
    return np.select([text & image, text, image], [0, 1, 2], default=3).astype(np.int32)


def can_be_solved(split: Split, ranks: Mapping[Condition, JudgedRanks]) -> bool:
    """Whether both single modalities are there and every list reaches :data:`SOLVED_AT`."""
    if not {Condition.TEXT_ONLY, Condition.IMAGE_ONLY} <= set(ranks):
        return False
    try:
        for of_run in ranks.values():
            RunView(split, of_run).require_depth(SOLVED_AT)
    except UnavailableError:
        return False
    return True


def bin_edges(deepest: int) -> list[int]:
    """Return the last ranks of the bins 1, 2–5, 6–10, 11–50, ... of which the last ends at ``deepest``, at least 1."""
    edges = [1]
    scale = 1
    while edges[-1] < deepest:
        edges += [min(step * scale, deepest) for step in _STEPS]
        scale *= 10
    return sorted(set(edges))


def _deepest(split: Split, ranks: JudgedRanks) -> int:
    """Return the last rank that any query of a run can have: its list's end, or the end of its gallery."""
    return int(np.minimum(ranks.depth, candidates(split)).max(initial=1))


def _counted(
    split: Split, ranks: JudgedRanks, best: IntArray, edges: list[int], mask: BoolArray
) -> dict[str, int | list[int]]:
    found = best[mask & (best > 0)]
    counts = np.bincount(np.searchsorted(edges, found), minlength=len(edges))
    nowhere = mask & (best == 0)
    whole = ranks.complete | (ranks.depth >= candidates(split))
    return {
        "n": int(mask.sum()),
        "counts": counts.tolist(),
        "below": int((nowhere & ~whole).sum()),
        "outside": int((nowhere & whole).sum()),
    }


def _solved_by(
    split: Split, ranks: Mapping[Condition, JudgedRanks], best: Mapping[Condition, IntArray]
) -> IntArray | None:
    if not can_be_solved(split, ranks):
        return None
    return solved_by(*(is_solved(best[single]) for single in (Condition.TEXT_ONLY, Condition.IMAGE_ONLY)))


def _table(solved: IntArray, multimodal: IntArray | None, mask: BoolArray) -> dict[str, Any]:
    kept = np.zeros_like(mask) if multimodal is None else is_solved(multimodal)
    rows = {
        name: {
            "queries": int((mask & (solved == place)).sum()),
            "multimodal": None if multimodal is None else int((mask & (solved == place) & kept).sum()),
        }
        for place, name in enumerate(SOLVED_BY)
    }
    return {"k": SOLVED_AT, "n": int(mask.sum()), **rows}
