"""Labels of hand-made tables: who solves what, at which K, with several ground truths, with ranks that nobody knows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from members_made import BOTH, IMAGE, TEXT, frozen, member

import demo
from evaluator.audit.labels import Kind, Label, Member, best_ranks, label
from evaluator.errors import EvaluatorError
from evaluator.types import Condition, JudgedRanks, Split

# Ranks of models A, B and C of one query, then what the pool says: label, best ranks, supports, either, best models.
TABLE = [
    # neither modality alone, both together: the query needs composition
    ([(3, 40, 30), (20, 11, 12), (50, 99, 77)], "composition-required", (3, 11, 12), (1, 0, 0), 0, "ABB"),
    # nobody, though close
    ([(11, 40, 30), (20, 11, 12), (50, 99, 77)], "unresolved", (11, 11, 12), (0, 0, 0), 0, "ABB"),
    # one model reads it from the text, at exactly K
    ([(1, 10, 11), (1, 50, 12), (1, 60, 13)], "shortcut (text)", (1, 10, 11), (3, 1, 0), 1, "AAA"),
    # one model sees it in the image; that nobody solves it with both changes nothing
    ([(90, 80, 70), (91, 81, 71), (92, 82, 10)], "shortcut (image)", (90, 80, 10), (0, 0, 1), 1, "AAC"),
    # two models, one modality each
    ([(5, 2, 70), (5, 81, 4), (5, 82, 90)], "shortcut (both)", (5, 2, 4), (3, 1, 1), 2, "AAB"),
    # one model, each modality: it counts once in "either"
    ([(40, 41, 42), (20, 7, 8), (50, 51, 52)], "shortcut (both)", (20, 7, 8), (0, 1, 1), 1, "BBB"),
    # equal best ranks: the first in the pool is named
    ([(9, 30, 30), (4, 20, 30), (4, 20, 30)], "composition-required", (4, 20, 30), (3, 0, 0), 0, "BBA"),
    # a rank that is not known is none, however small the number is
    ([(0, 0, 0), (0, 60, 0), (8, 0, 25)], "composition-required", (8, 60, 25), (1, 0, 0), 0, "CBC"),
    # nobody ranks a positive
    ([(0, 0, 0), (0, 0, 0), (0, 0, 0)], "unresolved", (0, 0, 0), (0, 0, 0), 0, "---"),
    # all solve everything
    ([(1, 1, 1), (1, 1, 1), (1, 1, 1)], "shortcut (both)", (1, 1, 1), (3, 3, 3), 3, "AAA"),
]


def _pool(*queries: list[tuple[int, int, int]]) -> list[Member]:
    return [member(name, [query[number] for query in queries]) for number, name in enumerate("ABC")]


@pytest.mark.parametrize(("ranks", "words", "best", "support", "either", "names"), TABLE)
def test_one_query(
    ranks: list[tuple[int, int, int]],
    words: str,
    best: tuple[int, int, int],
    support: tuple[int, int, int],
    either: int,
    names: str,
) -> None:
    labelling = label(_pool(ranks))
    assert labelling.words(0) == words
    assert tuple(int(labelling.rank[each][0]) for each in Condition) == best
    assert tuple(int(labelling.support[each][0]) for each in Condition) == support
    assert int(labelling.either[0]) == either
    assert [labelling.best_name(each, 0) or "-" for each in Condition] == list(names)


def test_the_whole_table_at_once_is_counted() -> None:
    """Queries must not leak into each other."""
    labelling = label(_pool(*(case[0] for case in TABLE)))
    assert [labelling.words(query) for query in range(len(TABLE))] == [case[1] for case in TABLE]
    assert labelling.counts() == {
        "shortcut": 5,
        "composition-required": 3,
        "unresolved": 2,
        "text": 1,
        "image": 1,
        "both": 3,
    }
    assert labelling.shortcut_free.tolist() == [not case[1].startswith("shortcut") for case in TABLE]
    assert labelling.of_kind(Kind.IMAGE).nonzero()[0].tolist() == [3]
    assert labelling.has(Label.UNRESOLVED).nonzero()[0].tolist() == [1, 8]
    assert (len(labelling), labelling.models) == (10, 3)


EDGES = [
    # (multimodal, text, image) of one model, K, label
    ((7, 7, 20), 7, "shortcut (text)"),
    ((7, 8, 20), 7, "composition-required"),
    ((8, 8, 20), 7, "unresolved"),
    ((1, 2, 2), 1, "composition-required"),
    ((2, 1, 2), 1, "shortcut (text)"),
    ((2, 2, 2), 1, "unresolved"),
    ((60, 60, 60), 1_000, "shortcut (both)"),
    ((60, 0, 0), 1_000, "composition-required"),
    ((0, 0, 60), 1_000, "shortcut (image)"),
    ((0, 0, 0), 1_000, "unresolved"),
]


@pytest.mark.parametrize(("ranks", "k", "words"), EDGES)
def test_edges_of_k(ranks: tuple[int, int, int], k: int, words: str) -> None:
    """Rank K counts, K + 1 does not; a K beyond the gallery takes every rank that is known and no other."""
    assert label([member("A", [ranks])], k).words(0) == words


def test_k_is_ten_where_nothing_else_is_said() -> None:
    assert label([member("A", [(1, 1, 1)])]).k == 10


def _with_truths(*truths: int) -> Split:
    """Return a split of 12 queries, of which query q has ``truths[q]`` right images."""
    split = demo.tiny_split("circo")
    query = np.repeat(np.arange(12, dtype=np.int32), truths)
    image = np.concatenate([np.arange(count, dtype=np.int32) for count in truths])
    yes, no = np.ones(len(query), dtype=np.bool_), np.zeros(len(query), dtype=np.bool_)
    counts = np.array(truths, dtype=np.int32)
    judged = replace(
        split.judgments,
        **{"query": query, "image": image, "positive": yes, "negative": no, "target": image == 0, "member": no},
        positives_released=counts,
        negatives_released=0 * counts,
    )
    return replace(split, judgments=judged)


def _judged(ranks: list[int]) -> JudgedRanks:
    return JudgedRanks(np.array(ranks, dtype=np.int32), np.full(12, 60, dtype=np.int32), complete=True)


def test_of_several_ground_truths_the_best_counts_wherever_it_stands() -> None:
    """CIRCO: the target is one of them and need not be the one that is found (decision 38)."""
    split = _with_truths(3, 1, 2, 3, *[1] * 8)
    ranks = [30, 9, 12, 10, 11, 60, 0, 0, 0, *[11] * 8]
    found = best_ranks(_judged(ranks), split)
    assert found.tolist() == [9, 10, 11, 0, *[11] * 8]
    member_of = Member("A", {BOTH: found, TEXT: found + 20, IMAGE: found + 20})
    assert [label([member_of]).words(query) for query in range(4)] == [
        *("composition-required", "composition-required", "unresolved", "unresolved")
    ]


def test_a_truth_that_is_not_ranked_hides_none_that_is() -> None:
    split = _with_truths(3, *[1] * 11)
    assert best_ranks(_judged([0, 7, 0, *[1] * 11]), split)[0] == 7


def test_images_that_are_only_judged_wrong_do_not_count() -> None:
    split = _with_truths(2, *[1] * 11)
    positive = split.judgments.positive.copy()
    positive[0] = False
    split = replace(split, judgments=replace(split.judgments, positive=positive, negative=~positive))
    assert best_ranks(_judged([1, 40, *[1] * 11]), split)[0] == 40


def test_ranks_of_other_judgments_are_refused() -> None:
    with pytest.raises(EvaluatorError, match="not parallel to the judgments"):
        best_ranks(_judged([1, 2, 3]), _with_truths(*[1] * 12))


@pytest.mark.parametrize("truths", ["one", "other"])
def test_which_ground_truth_is_found_may_differ_between_conditions(truths: str) -> None:
    """Text finds one right image, the image another: each modality alone solves the query."""
    split = _with_truths(2, *[1] * 11)
    rest = [50] * 11
    text, image = ([3, 50], [50, 4]) if truths == "one" else ([50, 3], [4, 50])
    ranks = {TEXT: best_ranks(_judged([*text, *rest]), split), IMAGE: best_ranks(_judged([*image, *rest]), split)}
    labelling = label([Member("A", {BOTH: best_ranks(_judged([50, 50, *rest]), split), **ranks})])
    assert labelling.words(0) == "shortcut (both)"


FROZEN = frozen("pool", {"A": [(3, 15, 40), (20, 2, 9)], "B": [(5, 12, 30), (40, 4, 50)]}, 10)


def test_a_frozen_pool_keeps_its_supports_at_its_own_k() -> None:
    labelling = label([FROZEN, member("C", [(1, 30, 30), (30, 30, 1)])])
    assert [labelling.words(query) for query in (0, 1)] == ["composition-required", "shortcut (both)"]
    assert labelling.models == 3
    assert labelling.support[BOTH].tolist() == [3, 0]
    assert labelling.support[TEXT].tolist() == [0, 2]
    assert labelling.support[IMAGE].tolist() == [0, 2]
    assert labelling.either.tolist() == [0, 3]
    assert [labelling.best_name(each, 1) for each in Condition] == ["A", "A", "C"]


def test_at_another_k_a_frozen_pool_is_known_to_solve_with_one_model_at_least() -> None:
    """How many of its models have rank 13 was not published; that the best has it was."""
    labelling = label([FROZEN], 15)
    assert labelling.words(0) == "shortcut (text)"
    assert labelling.support[BOTH].tolist() == [1, 0]
    assert labelling.support[TEXT].tolist() == [1, 1]
    assert labelling.either.tolist() == [1, 1]
    assert label([FROZEN], 1).counts()["unresolved"] == 2


def test_a_frozen_pool_names_its_model_or_nobody() -> None:
    nameless = replace(FROZEN.frozen, best=dict.fromkeys(Condition, ("", ""))) if FROZEN.frozen else None
    labelling = label([Member("pool", FROZEN.ranks, nameless)])
    assert [labelling.best_name(each, 0) for each in Condition] == ["", "", ""]
    assert labelling.best[BOTH].tolist() == [0, 0]


ONE = member("A", [(1, 2, 3)])


@pytest.mark.parametrize(
    ("members", "k", "message"),
    [
        ([], 10, "without members"),
        ([ONE], 0, "at least 1, not 0"),
        ([ONE, member("A", [(4, 5, 6)])], 10, "holds a model twice: A, A"),
        ([ONE, member("B", [(1, 2, 3), (1, 2, 3)])], 10, "ranks of all queries"),
        ([Member("A", {BOTH: ONE.ranks[BOTH], TEXT: ONE.ranks[TEXT]})], 10, "all three conditions"),
        ([Member("A", {})], 10, "all three conditions"),
    ],
)
def test_what_cannot_be_a_pool_is_refused(members: list[Member], k: int, message: str) -> None:
    with pytest.raises(EvaluatorError, match=message):
        label(members, k)
