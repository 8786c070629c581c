"""The front door: every score is there, those that cannot be had with their reason."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from measures.naive import Case, Query, cases, ranking_of, split_of

from demo.tiny import KINDS, tiny_split
from evaluator import __version__
from evaluator.errors import EvaluatorError
from evaluator.measures import parse
from evaluator.ranks import candidates, judged_ranks
from evaluator.scoring import contributions, score
from evaluator.types import Breakdown, Condition, Ranking, Score, Split, Subset

MULTIMODAL = Condition.MULTIMODAL


def random_ranking(split: Split, length: int | None = None, seed: int = 0) -> Ranking:
    """A whole ranking of each query's gallery in random order, or its first ``length`` images."""
    generator = np.random.default_rng(seed)
    rows = []
    for query in range(len(split)):
        images = split.galleries[split.gallery_of[query]].images
        if split.protocol.remove_reference:
            images = np.setdiff1d(images, split.references[query])
        rows.append(generator.permutation(images)[:length])
    width = max(map(len, rows))
    padded = np.full((len(split), width), -1, dtype=np.int32)
    for query, row in enumerate(rows):
        padded[query, : len(row)] = row
    return Ranking(padded, np.array([len(row) for row in rows], dtype=np.int32))


def keys(scores: tuple[Score, ...]) -> list[tuple[object, ...]]:
    return [(found.subset, found.condition, found.group, found.measure) for found in scores]


@pytest.mark.parametrize("kind", KINDS)
def test_every_score_of_a_protocol_is_there_once(kind: str) -> None:
    split = tiny_split(kind)
    runs = {MULTIMODAL: random_ranking(split), Condition.TEXT_ONLY: random_ranking(split, seed=1)}
    card = score(split, runs)
    found = keys(card.scores)
    assert len(found) == len(set(found))
    protocol = split.protocol
    single = [
        (subset, condition, group, name)
        for subset in protocol.subsets
        for condition in runs
        for group, names in [("", protocol.measures), *_groups(split)]
        for name in names
    ]
    joint = [(subset, None, "", name) for subset in protocol.subsets for name in protocol.joint_measures]
    assert set(found) == {*single, *joint}
    assert card.evaluator_version == __version__
    assert list(card.ranks) == list(runs)


def _groups(split: Split) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (f"{breakdown.dimension}={value}", breakdown.measures)
        for breakdown in split.protocol.breakdowns
        for value in split.groups.get(breakdown.dimension, ())
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_score_has_a_value_or_a_reason_and_nothing_is_not_finite(kind: str) -> None:
    split = tiny_split(kind)
    for found in score(split, {MULTIMODAL: random_ranking(split, length=20)}).scores:
        numbers = [number for number in (found.value, found.low, found.high) if number is not None]
        assert all(map(math.isfinite, numbers))
        assert (found.value is None) == bool(found.reason)
        if found.value is None:
            assert (found.low, found.high) == (None, None)
        elif found.low is not None:
            assert found.low <= found.value <= found.high
            assert found.n > 0


def test_scoring_again_gives_the_same_to_the_last_bit() -> None:
    split = tiny_split("pinpoint")
    run = {MULTIMODAL: random_ranking(split)}
    assert score(split, run).scores == score(split, run).scores


def test_judged_ranks_score_as_the_ranking_they_come_from() -> None:
    split = tiny_split("circus-single")
    ranking = random_ranking(split)
    from_ranks = score(split, {MULTIMODAL: judged_ranks(split, ranking)})
    assert from_ranks.scores == score(split, {MULTIMODAL: ranking}).scores


def test_break_downs_of_the_main_table_stay_when_the_others_are_left_out() -> None:
    split = tiny_split("pinpoint")
    run = {MULTIMODAL: random_ranking(split)}
    groups = {found.group.partition("=")[0] for found in score(split, run, breakdowns=False).scores}
    assert groups == {"", "images", "images_signature"}
    assert {found.group.partition("=")[0] for found in score(split, run).scores} > groups


def test_a_group_is_scored_over_its_own_queries() -> None:
    split = tiny_split("pinpoint")
    ranking = random_ranking(split)
    dimension, values = next((name, masks) for name, masks in split.groups.items() if name == "category")
    value, chosen = next(iter(values.items()))
    card = score(split, {MULTIMODAL: ranking})
    found = card.find("mAP@10", Subset.ALL, group=f"{dimension}={value}")
    each = contributions(split, ranking, "mAP@10", Subset.ALL)
    assert found.value == pytest.approx(each[chosen].mean())
    assert found.n == chosen.sum()


class TestReasons:
    """What cannot be had is empty and says why, in plain words (decision 18)."""

    def test_lists_that_end_too_early(self) -> None:
        split = tiny_split("circo")
        card = score(split, {MULTIMODAL: random_ranking(split, length=10)})
        assert card.find("mAP@10", Subset.FULL).value is not None
        assert card.find("mAP@25", Subset.FULL).reason == (
            "not available: needs lists of 25 images, the shortest here has 10"
        )

    def test_one_short_list_is_enough(self) -> None:
        split = tiny_split("circo")
        ranking = random_ranking(split)
        length = ranking.length.copy()
        length[3] = 7
        images = ranking.images.copy()
        images[3, 7:] = -1
        card = score(split, {MULTIMODAL: Ranking(images, length)})
        assert card.find("mAP@10", Subset.FULL).value is None
        assert card.find("mAP@5", Subset.FULL).value is not None

    def test_a_list_that_holds_its_whole_gallery_is_never_too_short(self) -> None:
        case = Case(4, [Query([2, 0, 1, 3], [0], [], 0, [], 0, -1, "dress", "single")])
        split = split_of(case, measures=("mAP@50", "Precision@50"))
        card = score(split, {MULTIMODAL: ranking_of(case)})
        assert card.find("mAP@50", Subset.ALL).value == 0.5
        assert card.find("Precision@50", Subset.ALL).value == 1 / 50

    def test_an_open_gallery_never_ends(self) -> None:
        split = tiny_split("circo", open_gallery=True)
        known = len(split.images)
        run = Ranking(np.tile(np.arange(50, dtype=np.int32), (len(split), 1)), np.full(len(split), 50, dtype=np.int32))
        card = score(split, {MULTIMODAL: run})
        assert candidates(split).min() > known
        assert not card.ranks[MULTIMODAL].complete
        assert card.find("mAP@50", Subset.FULL).value is not None

    def test_a_subset_that_this_copy_lacks(self) -> None:
        split = tiny_split("circus-single")
        masks = {subset: mask for subset, mask in split.subsets.items() if subset is not Subset.SF}
        lacking = replace(split, subsets=masks, absent={Subset.SF: "The list is not in the release folder."})
        card = score(lacking, {MULTIMODAL: random_ranking(split)})
        assert card.find("Recall@10", Subset.SF).reason == "The list is not in the release folder."
        assert card.find("Recall@10", Subset.FULL).value is not None
        assert keys(card.scores) == keys(score(split, {MULTIMODAL: random_ranking(split)}).scores)

    def test_an_empty_subset(self) -> None:
        split = tiny_split("circus-single")
        empty = replace(split, subsets={**split.subsets, Subset.V: np.zeros(len(split), dtype=np.bool_)})
        card = score(empty, {MULTIMODAL: random_ranking(split)})
        assert card.find("Recall@10", Subset.V).reason == "not available: no query is in this subset"

    def test_an_empty_group(self) -> None:
        split = tiny_split("pinpoint")
        none = {"single": np.ones(len(split), dtype=np.bool_), "multi": np.zeros(len(split), dtype=np.bool_)}
        card = score(replace(split, groups={**split.groups, "images": none}), {MULTIMODAL: random_ranking(split)})
        nothing = "not available: nothing in this selection counts towards it"
        assert card.find("mAP@10", Subset.ALL, group="images=multi").reason == nothing
        assert card.find("MultiRatio(mAP@10)", Subset.ALL).reason == nothing

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("MultiDrop(mAP@10)", "not available: the split has no groups by images"),
            ("MultiDrop_signature(mAP@10)", "not available: the split has no groups by images signature"),
            ("Macro(mAP@10)", "not available: the split has no categories"),
            ("LingSens(mAP@10)", "not available: the split has no paraphrase groups for this subset"),
            ("NegRecall@10", "not available: the split has no explicit negatives"),
            ("DeltamAP@10", "not available: the split has no explicit negatives"),
            ("mAP_noNeg@10", "not available: the split has no explicit negatives"),
            (
                "Recall_subset@1",
                "not available: needs the subset file, or every image-set member in the main list",
            ),
            ("mAP_judged@60", "not available: lists are cut to 50 images before any are taken out"),
        ],
    )
    def test_what_the_split_lacks(self, name: str, reason: str) -> None:
        split = tiny_split("circo")
        asked = replace(split, protocol=replace(split.protocol, measures=(name,)), groups={})
        assert score(asked, {MULTIMODAL: random_ranking(split)}).find(name, Subset.FULL).reason == reason

    def test_a_single_target_that_nobody_named(self) -> None:
        case = Case(4, [Query([2, 0, 1, 3], [0], [], None, [], 0, -1, "dress", "single")])
        split = split_of(case, measures=("Recall_target@1",))
        found = score(split, {MULTIMODAL: ranking_of(case)}).find("Recall_target@1", Subset.ALL)
        assert found.reason == "not available: the split names no single target"

    def test_subset_lists_that_are_too_short(self) -> None:
        split = tiny_split("cirr")
        members = split.judgments
        rows = [members.image[members.member & (members.query == query)][:3] for query in range(len(split))]
        ranking = replace(random_ranking(split, length=50), members=np.stack(rows).astype(np.int32))
        asked = replace(split, protocol=replace(split.protocol, measures=("Recall_subset@3", "Recall_subset@4")))
        card = score(asked, {MULTIMODAL: ranking})
        assert card.find("Recall_subset@3", Subset.FULL).value is not None
        assert card.find("Recall_subset@4", Subset.FULL).reason == "not available: needs subset lists of 4 images"


def test_hidden_truth_and_no_runs_are_our_fault() -> None:
    split = tiny_split("circo", hidden_truth=True)
    with pytest.raises(EvaluatorError, match="hidden"):
        score(split, {MULTIMODAL: random_ranking(split)})
    with pytest.raises(EvaluatorError, match="no run"):
        score(tiny_split("circo"), {})


def test_progress_ends_at_the_whole() -> None:
    split = tiny_split("circus-single")
    seen: list[tuple[int, int]] = []
    runs = {MULTIMODAL: random_ranking(split), Condition.IMAGE_ONLY: random_ranking(split, seed=1)}
    score(split, runs, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1] == (len(seen), len(seen))


class TestContributions:
    """What the paired test and the pages of single queries are made of."""

    def test_no_mean_over_queries_has_none(self) -> None:
        split = tiny_split("pinpoint")
        for name in ("RelDeltamAP@10", "LingSens(mAP@10)", "MultiRatio(mAP@10)", "ShortcutLeak@10"):
            with pytest.raises(ValueError, match="no mean over the queries"):
                contributions(split, random_ranking(split), name, Subset.ALL)

    def test_why_there_are_none_is_said(self) -> None:
        split = tiny_split("pinpoint")
        with pytest.raises(ValueError, match="needs lists of 50 images"):
            contributions(split, random_ranking(split, length=20), "mAP@50", Subset.ALL)
        with pytest.raises(ValueError, match="no such list"):
            contributions(split, random_ranking(split), "mAP@10", Subset.V)

    def test_a_query_left_out_adds_nothing(self) -> None:
        queries = [
            Query([2, 0, 1, 3], [0], [2], None, [], 0, -1, "dress", "single"),
            Query([2, 0, 1, 3], [0], [], None, [], 0, -1, "dress", "single"),
        ]
        case = Case(4, queries)
        assert contributions(split_of(case), ranking_of(case), "NegRecall@1", Subset.ALL).tolist() == [2.0, 0.0]


class TestWhatIsResampled:
    """Clusters; paraphrase groups where they cut across clusters (decision 17)."""

    def split(self, clusters: list[int], groups: list[int]) -> tuple[Split, Ranking]:
        queries = [
            Query([1, 0, 2, 3] if q % 2 else [0, 1, 2, 3], [0], [], 0, [], cluster, group, "dress", "single")
            for q, (cluster, group) in enumerate(zip(clusters, groups, strict=True))
        ]
        case = Case(4, queries)
        return split_of(case, measures=("LingSens(Recall@1)", "Recall@1")), ranking_of(case)

    def span(self, clusters: list[int], groups: list[int]) -> Score:
        split, ranking = self.split(clusters, groups)
        return score(split, {MULTIMODAL: ranking}).find("LingSens(Recall@1)", Subset.ALL)

    def test_groups_inside_clusters_move_with_them(self) -> None:
        """All groups in one cluster: nothing independent to resample, so no interval."""
        groups = [0, 0, 1, 1, 2, 2, 3, 5, 3, 5]  # groups 3 and 5 hold hits or misses only: their span is 0
        nested = self.span([0] * 10, groups)
        assert nested.n == 5
        assert nested.value == 0.6
        assert nested.low is None

    def test_groups_across_clusters_are_resampled_themselves(self) -> None:
        groups = [0, 0, 1, 1, 2, 2, 3, 5, 3, 5]
        crossing = self.span([0, 1] * 5, groups)
        assert crossing.value == 0.6
        assert crossing.low is not None

    def test_a_group_of_one_does_not_decide_it(self) -> None:
        assert self.span([0] * 9 + [1], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]).low is not None  # group 4 cuts across
        assert self.span([0] * 9 + [1], [0, 0, 1, 1, 2, 2, 3, 3, 6, 4]).low is None  # nobody but itself in 4 and 6


@settings(max_examples=30, deadline=None)
@given(cases())
def test_intervals_hold_their_values(case: Case) -> None:
    names = ("mAP@5", "RelDeltamAP@5", "LingSens(mAP@5)", "MultiRatio(mAP@5)", "Macro(Recall@5)")
    split = split_of(case, measures=names)
    split = replace(split, protocol=replace(split.protocol, breakdowns=(Breakdown("category", names[:3]),)))
    for found in score(split, {MULTIMODAL: ranking_of(case)}, resamples=60).scores:
        if found.low is not None:
            assert found.low <= found.value <= found.high
            assert parse(found.measure)


def test_nothing_found_is_not_certainly_nothing() -> None:
    """A proportion of 0 among many still has an upper end: bootstrapping zeros would say [0, 0]."""
    queries = [Query([1, 0], [0], [], 0, [], q // 2, -1, "dress", "single") for q in range(300)]
    case = Case(2, queries)
    found = score(split_of(case, measures=("Recall@1",)), {MULTIMODAL: ranking_of(case)}).find("Recall@1", Subset.ALL)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3.8415 / (150 + 3.8415), abs=1e-4)  # 150 clusters
