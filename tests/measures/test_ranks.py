"""Judged ranks: where each judged image stands, and what a ranking is taken to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from measures.naive import Case, Query, cases, ranking_of, split_of

from demo.tiny import tiny_split
from evaluator.errors import EvaluatorError
from evaluator.ranks import as_judged_ranks, candidates, judged_ranks, member_ranks
from evaluator.types import Gallery, JudgedRanks, Ranking


def one_query(listing: list[int], *, gallery: int = 6, members: tuple[int, ...] = ()) -> Case:
    """A query whose images 1 and 3 are positive, 2 negative."""
    return Case(gallery, [Query(listing, [1, 3], [2], 1, list(members), 0, 0, "dress", "single")])


def test_by_hand() -> None:
    case = one_query([5, 3, 2, 0])
    ranks = judged_ranks(split_of(case), ranking_of(case))
    assert ranks.rank.tolist() == [0, 3, 2]  # images 1, 2, 3
    assert ranks.depth.tolist() == [4]
    assert not ranks.complete
    assert ranks.member_rank is None


@settings(max_examples=80, deadline=None)
@given(cases())
def test_agrees_with_list_index(case: Case) -> None:
    split = split_of(case)
    ranks = judged_ranks(split, ranking_of(case))
    lines = zip(split.judgments.query.tolist(), split.judgments.image.tolist(), strict=True)
    listings = [query.listing for query in case.queries]
    assert ranks.rank.tolist() == [listings[q].index(image) + 1 if image in listings[q] else 0 for q, image in lines]
    assert ranks.complete == case.complete


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_ties_follow_the_gallery_order(scores: list[int]) -> None:
    """Decision 19: a list ordered by score, then by gallery order, has rank = 1 + higher + equal and earlier."""
    listing = sorted(range(6), key=lambda image: (-scores[image], image))
    case = one_query(listing)
    split = split_of(case)
    counted = [
        1 + sum(scores[j] > scores[i] or (scores[j] == scores[i] and j < i) for j in range(6))
        for i in split.judgments.image.tolist()
    ]
    assert judged_ranks(split, ranking_of(case)).rank.tolist() == counted


def test_padding_and_unknown_ids_take_a_place_but_are_nobody() -> None:
    case = one_query([0])
    split = split_of(case)
    ranking = Ranking(np.array([[6, 7, 1, -1, -1]], dtype=np.int32), np.array([3], dtype=np.int32), ("x", "y"))
    assert judged_ranks(split, ranking).rank.tolist() == [3, 0, 0]


def test_small_blocks_give_the_same_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is cleared between blocks: nothing of one query's list is seen by the next."""
    case = Case(6, [one_query(listing).queries[0] for listing in ([0, 1], [2, 3], [4, 5], [3, 1, 2])])
    whole = judged_ranks(split_of(case), ranking_of(case)).rank.tolist()
    monkeypatch.setattr("evaluator.ranks._TABLE_CELLS", 14)  # two queries a block
    assert judged_ranks(split_of(case), ranking_of(case)).rank.tolist() == whole == [2, 0, 0, 0, 1, 2, 0, 0, 0, 2, 3, 1]


class TestImageSets:
    """Recall_subset's ranks come from the subset file, or from the main list if it holds every member (decision 22)."""

    members = (1, 2, 4)

    def test_from_the_main_list(self) -> None:
        case = one_query([4, 0, 1, 5, 2], members=self.members)
        found = judged_ranks(split_of(case), ranking_of(case)).member_rank
        assert found is not None
        assert found.tolist() == [2, 3, 0, 1]  # images 1, 2, 3 (no member), 4

    def test_a_member_below_the_end_leaves_none(self) -> None:
        case = one_query([4, 0, 1, 5], members=self.members)
        assert judged_ranks(split_of(case), ranking_of(case)).member_rank is None

    def test_one_query_without_its_members_leaves_none_for_all(self) -> None:
        whole, cut = one_query([4, 1, 2], members=self.members), one_query([4, 1], members=self.members)
        case = Case(6, [*whole.queries, *cut.queries])
        assert judged_ranks(split_of(case), ranking_of(case)).member_rank is None

    def test_the_subset_file_decides_where_it_is_given(self) -> None:
        case = one_query([4, 0, 1, 5, 2], members=self.members)
        ranking = replace(ranking_of(case), members=np.array([[2, 1, 4]], dtype=np.int32))
        found = judged_ranks(split_of(case), ranking).member_rank
        assert found is not None
        assert found.tolist() == [2, 1, 0, 3]

    def test_from_judged_ranks(self) -> None:
        case = one_query([4, 0, 1, 5, 2], members=self.members)
        split = split_of(case)
        ranks = judged_ranks(split, ranking_of(case))
        again = as_judged_ranks(split, replace(ranks, member_rank=None))
        assert again.member_rank is not None
        assert ranks.member_rank is not None
        assert again.member_rank.tolist() == ranks.member_rank.tolist()

    def test_no_sets_at_all(self) -> None:
        case = one_query([4, 0, 1, 5, 2])
        split = split_of(case)
        assert member_ranks(split.judgments, judged_ranks(split, ranking_of(case)).rank) is None


class TestCandidates:
    """How long a whole ranking is."""

    def test_the_reference_is_taken_off_where_it_is_removed(self) -> None:
        assert set(candidates(tiny_split("cirr")).tolist()) == {59}
        assert set(candidates(tiny_split("pinpoint")).tolist()) == {60}

    def test_a_reference_outside_the_gallery_takes_nothing_off(self) -> None:
        split = tiny_split("cirr")
        elsewhere = np.setdiff1d(split.galleries[0].images, [split.references[0][0]]).astype(np.int32)
        smaller = replace(split, galleries=(Gallery("smaller", elsewhere),))
        assert candidates(smaller)[0] == 59

    def test_an_open_gallery_has_no_end(self) -> None:
        assert candidates(tiny_split("circo", open_gallery=True)).min() > 1_000_000


def test_another_splits_run_is_refused() -> None:
    case, other = one_query([1]), tiny_split("circo")
    with pytest.raises(EvaluatorError, match="holds 1 queries"):
        judged_ranks(other, ranking_of(case))
    short = JudgedRanks(np.zeros(3, dtype=np.int32), np.zeros(1, dtype=np.int32), complete=False)
    with pytest.raises(EvaluatorError, match="not parallel"):
        as_judged_ranks(other, short)
