"""Counts of first positives: by hand, again in plain Python, and that no query is ever lost or told twice.

A page draws these counts; a query that falls between two bins, or a list's end taken for the gallery's, would draw a
better method than there is.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from formats.format_splits import make_split
from hypothesis import given, settings
from hypothesis import strategies as st

from demo.tiny import tiny_split
from evaluator import protocols
from evaluator.errors import EvaluatorError
from evaluator.rank_counts import SOLVED_BY, bin_edges, rank_counts
from evaluator.ranks import candidates
from evaluator.types import Condition, JudgedRanks, Split, Subset

IMAGES = [f"i{number:03d}" for number in range(120)]


def split_of(positives: dict[int, list[str]]) -> Split:
    split = make_split(
        [f"q{n}" for n in range(len(positives))],
        IMAGES,
        positives={query: images for query, images in positives.items() if images},
        protocol=replace(protocols.CIRCUS_SINGLE, first_subset=Subset.FULL, subsets=(Subset.FULL, Subset.SF)),
    )
    odd = np.arange(len(split)) % 2 == 1
    return replace(split, subsets={Subset.FULL: np.ones(len(split), dtype=np.bool_), Subset.SF: odd})


def run(ranks: list[int], depth: list[int], *, complete: bool) -> JudgedRanks:
    return JudgedRanks(np.array(ranks, dtype=np.int32), np.array(depth, dtype=np.int32), complete)


def test_bins_grow_by_powers_and_end_with_the_gallery() -> None:
    assert bin_edges(21_551) == [1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 21551]
    assert bin_edges(50) == [1, 5, 10, 50]
    assert bin_edges(3) == [1, 3]
    assert bin_edges(1) == [1]
    assert bin_edges(0) == [1]


def test_by_hand() -> None:
    """Four queries over 120 images; the third has two positives, the second of which stands first."""
    split = split_of({0: ["i000"], 1: ["i001"], 2: ["i002", "i003"], 3: ["i004"]})
    depth = [120] * 4
    counts = rank_counts(
        split,
        {
            Condition.MULTIMODAL: run([1, 10, 80, 6, 120], depth, complete=True),
            Condition.TEXT_ONLY: run([10, 11, 5, 90, 7], depth, complete=True),
            Condition.IMAGE_ONLY: run([2, 3, 100, 101, 119], depth, complete=True),
        },
    )
    assert counts["bins"] == [[1, 1], [2, 5], [6, 10], [11, 50], [51, 100], [101, 120]]
    full, half = counts["subsets"]["Full"], counts["subsets"]["SF"]
    found = {name: column["counts"] for name, column in full["conditions"].items()}
    assert found == {
        "multimodal": [1, 0, 2, 0, 0, 1],
        "text-only": [0, 1, 2, 1, 0, 0],
        "image-only": [0, 2, 0, 0, 1, 1],
    }
    assert [column["n"] for column in full["conditions"].values()] == [4, 4, 4]
    assert full["solved"] == {
        "k": 10,
        "n": 4,
        "both": {"queries": 1, "multimodal": 1},
        "text-only": {"queries": 2, "multimodal": 1},
        "image-only": {"queries": 1, "multimodal": 1},
        "neither": {"queries": 0, "multimodal": 0},
    }
    assert half["conditions"]["multimodal"] == {"n": 2, "counts": [0, 0, 1, 0, 0, 1], "below": 0, "outside": 0}
    assert json.loads(json.dumps(counts, allow_nan=False)) == counts


def test_the_end_of_a_list_is_not_the_end_of_the_gallery() -> None:
    """A miss of a list of 50 is "below", a positive that no list of the whole gallery has is "outside"."""
    split = split_of({0: ["i000"], 1: ["i001"]})
    short = rank_counts(split, {Condition.MULTIMODAL: run([0, 50], [50, 50], complete=False)})
    assert short["bins"][-1] == [11, 50]
    column = short["subsets"]["Full"]["conditions"]["multimodal"]
    assert (column["below"], column["outside"], sum(column["counts"])) == (1, 0, 1)
    assert short["subsets"]["Full"]["solved"] is None, "it needs both single modalities"
    whole = rank_counts(split, {Condition.MULTIMODAL: run([0, 50], [120, 120], complete=True)})
    column = whole["subsets"]["Full"]["conditions"]["multimodal"]
    assert (column["below"], column["outside"]) == (0, 1)


def test_lists_too_short_say_nothing_of_what_is_solved() -> None:
    split = split_of({0: ["i000"]})
    lists = {condition: run([0], [9], complete=False) for condition in Condition}
    assert rank_counts(split, lists)["subsets"]["Full"]["solved"] is None


def test_hidden_truth_is_never_counted() -> None:
    """Decision 33: a histogram of ranks is told of truth that is elsewhere."""
    split = tiny_split("circo", hidden_truth=True)
    with pytest.raises(EvaluatorError, match="hidden"):
        rank_counts(split, {})


@st.composite
def cases(draw: st.DrawFn) -> tuple[Split, dict[Condition, JudgedRanks], dict[Condition, list[list[int]]]]:
    """Queries with no to three positives, lists of ten to all 120 images, one to three conditions."""
    count = draw(st.integers(1, 8))
    held = {n: sorted(draw(st.sets(st.sampled_from(IMAGES), max_size=3))) for n in range(count)}
    split = split_of(held)
    depth = draw(st.sampled_from([10, 50, 120]))
    others = draw(st.sets(st.sampled_from([Condition.TEXT_ONLY, Condition.IMAGE_ONLY])))
    runs, lists = {}, {}
    for condition in [Condition.MULTIMODAL, *sorted(others)]:
        ranks = [
            draw(st.lists(st.integers(1, 120), min_size=len(p), max_size=len(p), unique=True)) for p in held.values()
        ]
        lists[condition] = [[rank if rank <= depth else 0 for rank in row] for row in ranks]
        flat = [rank for row in lists[condition] for rank in row]
        runs[condition] = run(flat, [depth] * count, complete=depth == 120)
    return split, runs, lists


def again(split: Split, lists: dict[Condition, list[list[int]]], bins: list[list[int]], mask: list[bool]) -> Any:
    """The counts once more, query by query."""
    table: dict[str, Any] = {str(condition): [0] * len(bins) for condition in lists}
    missed = dict.fromkeys(table, 0)
    solved = dict.fromkeys(SOLVED_BY, 0)
    for query, chosen in enumerate(mask):
        if not chosen or not split.judgments.positives_released[query]:
            continue
        best = {str(condition): min([rank for rank in rows[query] if rank] or [0]) for condition, rows in lists.items()}
        for name, rank in best.items():
            for place, (low, high) in enumerate(bins):
                table[name][place] += low <= rank <= high
            missed[name] += rank == 0
        text, image = (1 <= best.get(name, 0) <= 10 for name in ("text-only", "image-only"))
        solved["both" if text and image else "text-only" if text else "image-only" if image else "neither"] += 1
    return table, missed, solved


@given(cases())
@settings(max_examples=150, deadline=None)
def test_again_in_plain_python_and_nothing_is_lost(case: Any) -> None:
    split, runs, lists = case
    counts = rank_counts(split, runs)
    assert counts["bins"][0][0] == 1
    assert [low for low, _ in counts["bins"][1:]] == [high + 1 for _, high in counts["bins"][:-1]], "no gap, no overlap"
    for subset, mask in split.subsets.items():
        table, missed, solved = again(split, lists, counts["bins"], mask.tolist())
        found = counts["subsets"][str(subset)]
        for name, column in found["conditions"].items():
            assert column["counts"] == table[name]
            assert column["below"] + column["outside"] == missed[name]
            assert sum(column["counts"]) + column["below"] + column["outside"] == column["n"]
        if len(runs) == 3:
            assert {name: found["solved"][name]["queries"] for name in SOLVED_BY} == solved
            assert sum(solved.values()) == found["solved"]["n"]


@pytest.mark.parametrize("kind", ["cirr", "fashioniq", "circo", "circus-single", "circus-multi", "pinpoint"])
def test_every_kind_of_split_is_counted_whole(kind: str) -> None:
    split = tiny_split(kind)
    ranks = np.arange(len(split.judgments), dtype=np.int32) % 20 + 1
    counts = rank_counts(split, {Condition.MULTIMODAL: JudgedRanks(ranks, candidates(split), complete=True)})
    assert set(counts["subsets"]) == {str(subset) for subset in split.subsets}
    for found in counts["subsets"].values():
        column = found["conditions"]["multimodal"]
        assert sum(column["counts"]) + column["below"] + column["outside"] == column["n"] > 0


def test_an_open_gallery_ends_with_the_longest_list() -> None:
    split = tiny_split("circo", open_gallery=True)
    ranks = JudgedRanks(np.ones(len(split.judgments), np.int32), np.full(len(split), 50, np.int32), complete=False)
    assert rank_counts(split, {Condition.MULTIMODAL: ranks})["bins"][-1] == [11, 50]
