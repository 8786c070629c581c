"""Small examples worked out by hand, one for each trap."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import numpy as np
import pytest
from measures.naive import Case, Query, ranking_of, split_of

from evaluator.measures.retrieval import average_precision
from evaluator.measures.view import Hits
from evaluator.ranks import judged_ranks
from evaluator.scoring import score
from evaluator.types import Condition, Run, Score, Subset

MULTIMODAL, TEXT, IMAGE = Condition.MULTIMODAL, Condition.TEXT_ONLY, Condition.IMAGE_ONLY


def query(listing: list[int], positives: list[int], negatives: list[int | None] | None = None, **more: object) -> Query:
    fields = {"target": None, "members": [], "cluster": 0, "group": -1, "category": "dress", "images": "single"}
    return Query(listing, positives, negatives or [], **{**fields, **more})  # type: ignore[arg-type]


def value(case: Case, name: str, runs: dict[Condition, Run] | None = None) -> float | None:
    return found(case, name, runs).value


def found(case: Case, name: str, runs: dict[Condition, Run] | None = None) -> Score:
    split = split_of(case, measures=() if runs else (name,))
    if runs:
        split = replace(split, protocol=replace(split.protocol, joint_measures=(name,)))
    card = score(split, runs or {MULTIMODAL: ranking_of(case)}, resamples=20)
    return card.find(name, Subset.ALL, None if runs else MULTIMODAL)


def test_average_precision_divides_by_the_smaller_of_positives_and_cutoff() -> None:
    hits = Hits.of(np.array([[True, False, True]]))

    def value_for(positives: int) -> float:
        return float(average_precision(hits, np.array([positives], dtype=np.int32), 3).values[0])

    assert value_for(2) == (1 + 2 / 3) / 2
    assert value_for(9) == (1 + 2 / 3) / 3
    assert value_for(1) == 1 + 2 / 3  # released wrongly: seen as it is


def test_a_perfect_list_is_exactly_one() -> None:
    everything = list(range(50))
    case = Case(60, [query([*everything, *range(50, 60)], everything)])
    for name in ("mAP@5", "mAP@10", "mAP@50", "nDCG", "nDCG@10", "Precision@10"):
        assert value(case, name) == 1.0


def test_repeated_positives_keep_a_perfect_list_below_one() -> None:
    """Decision 8: counts as released are the divisors, as in PinPoint's own evaluator."""
    case = Case(6, [query([0, 1, 2, 3, 4, 5], [0, 1, 1])])
    assert value(case, "mAP@10") == 2 / 3
    assert value(case, "Recall@10") == 2 / 3


def test_repeats_and_nulls_count_among_the_released_negatives() -> None:
    case = Case(6, [query([2, 1, 0, 3, 4, 5], [0], [2, 2, None])])
    assert value(case, "NegRecall@10") == 1 / 3
    assert value(case, "NegRecall@1") == 1.0


def test_queries_without_negatives_are_left_out_and_counted() -> None:
    case = Case(6, [query([2, 1], [0], [2]), query([1, 2], [0])])
    score_of = found(case, "NegRecall@1")
    assert (score_of.value, score_of.n) == (1.0, 1)


def test_images_that_are_both_go_with_the_negatives_but_stay_in_the_divisor() -> None:
    """310 rows of the release (decision 10): ranks minus negatives above would find the image at its old hit."""
    case = Case(6, [query([2, 0, 1, 3, 4, 5], [0, 1], [2, 0])])
    assert value(case, "mAP_noNeg@10") == 1 / 2  # only image 1 is left, now first, of two positives
    assert value(case, "mAP@10") == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_lists_are_cut_to_fifty_before_negatives_are_taken_out() -> None:
    """A positive at 51 must not move up to 50 because a negative above it went."""
    listing = [60, *range(1, 50), 0, *range(50, 60)]  # the positive, image 0, stands at rank 51
    case = Case(61, [query(listing, [0], [60])])
    assert value(case, "mAP_noNeg@50") == 0.0
    reached = Case(61, [query([60, *range(1, 49), 0, *range(49, 60)], [0], [60])])
    assert value(reached, "mAP_noNeg@50") == 1 / 49


def test_the_rest_moves_up_when_places_are_removed() -> None:
    hits = Hits.of(np.array([[True, False, True, True], [False, False, False, True]]))
    closed = hits.without(np.array([[False, True, True, False], [True, False, False, False]]))
    assert (closed.query.tolist(), closed.place.tolist()) == ([0, 0, 1], [0, 1, 2])
    assert closed.precision.tolist() == [1.0, 1.0, 1 / 3]


def test_relative_delta_is_a_ratio_of_means_not_a_mean_of_ratios() -> None:
    case = Case(6, [query([2, 0, 1, 3, 4, 5], [0], [2]), query([0, 1, 2, 3, 4, 5], [0], [2])])
    assert value(case, "RelDeltamAP@10") == pytest.approx((1 - 0.75) / 0.75)


def test_a_ratio_by_zero_is_undefined_never_zero() -> None:
    case = Case(6, [query([2, 0, 1, 3, 4, 5], [], [2]), query([2, 1, 0, 3, 4, 5], [0], [2])])
    undefined = found(case, "RelDeltamAP@1")
    assert (undefined.value, undefined.low, undefined.high) == (None, None, None)
    assert undefined.reason == "undefined: mAP is 0"


def test_ndcg_divides_by_all_positives() -> None:
    case = Case(6, [query([5, 0, 1, 2, 3, 4], [0, 4])])
    ideal = 1 + 1 / log2(3)
    assert value(case, "nDCG") == pytest.approx((1 / log2(3) + 1 / log2(7)) / ideal)
    assert value(case, "nDCG@1") == 0.0


def test_sensitivity_leaves_groups_of_one_out() -> None:
    alone = query([0, 1], [0], group=1)
    case = Case(6, [query([0, 1], [0], group=0), query([1, 0], [0], group=0), alone, query([0, 1], [0])])
    span = found(case, "LingSens(Precision@1)")
    assert (span.value, span.n) == (1.0, 1)
    assert value(case, "LingSensStd(Precision@1)") == 0.5  # population deviation of 0 and 1


def test_judged_share_and_condensed_list() -> None:
    case = Case(6, [query([5, 2, 4, 0, 1, 3], [0], [2])])
    assert value(case, "Judged@5") == 2 / 5
    assert value(case, "mAP_judged@5") == 1 / 2  # the negative, then the positive


def test_circo_recall_counts_the_target_alone() -> None:
    """Decision 16: three measures, three names."""
    case = Case(6, [query([1, 0, 2, 3, 4, 5], [0, 1, 2, 3], target=0)])
    assert value(case, "Recall_target@1") == 0.0
    assert value(case, "Recall_any@1") == 1.0
    assert value(case, "Recall@1") == 0.25


class TestSeveralRuns:
    """Shortcut leak and Composition Gap, from three runs of one submission."""

    case = Case(6, [query([0, 1, 2, 3, 4, 5], [0], cluster=q) for q in range(4)])

    def run(self, *places: int) -> Run:
        """A run with the positive of each query at these 0-based places."""
        others = [1, 2, 3, 4, 5]
        queries = [
            replace(query, listing=[*others[:place], 0, *others[place:]])
            for query, place in zip(self.case.queries, places, strict=True)
        ]
        return ranking_of(Case(6, queries))

    def test_leak_is_the_union_of_the_single_modalities(self) -> None:
        runs = {MULTIMODAL: self.run(0, 0, 0, 0), TEXT: self.run(0, 3, 3, 3), IMAGE: self.run(0, 3, 0, 3)}
        assert value(self.case, "ShortcutLeak@2", runs) == 0.5

    @pytest.mark.parametrize(("given", "lacking"), [(TEXT, IMAGE), (IMAGE, TEXT)])
    def test_leak_of_one_single_modality_is_not_guessed(self, given: Condition, lacking: Condition) -> None:
        """It once was that run's share: a smaller number, and better on the board, for leaving a run out."""
        empty = found(self.case, "ShortcutLeak@2", {MULTIMODAL: self.run(0, 0, 0, 0), given: self.run(0, 3, 3, 3)})
        assert (empty.value, empty.reason) == (None, f"not available: needs the {lacking} run")

    def test_composition_gap_is_a_ratio_of_mean_ndcg(self) -> None:
        runs = {MULTIMODAL: self.run(0, 0, 2, 2), TEXT: self.run(2, 2, 2, 2), IMAGE: self.run(5, 5, 5, 5)}
        assert value(self.case, "CompositionGap", runs) == pytest.approx(1 - 0.5 / 0.75)

    def test_recall_gap_is_the_other_reading(self) -> None:
        runs = {MULTIMODAL: self.run(0, 0, 2, 2), TEXT: self.run(0, 2, 2, 2), IMAGE: self.run(5, 5, 5, 5)}
        assert value(self.case, "RecallGap@1", runs) == pytest.approx(0.25)

    def test_gap_needs_all_three_and_the_full_gallery(self) -> None:
        whole = self.run(0, 0, 0, 0)
        missing = found(self.case, "CompositionGap", {MULTIMODAL: whole, TEXT: whole})
        assert missing.reason == "not available: needs the image-only run"
        split = split_of(self.case)
        short = replace(judged_ranks(split, whole), complete=False)
        cut = found(self.case, "CompositionGap", {MULTIMODAL: short, TEXT: whole, IMAGE: whole})
        assert cut.reason == "not available: needs the full gallery"
