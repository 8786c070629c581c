"""Every measure against an independent implementation, on generated lists and judgments, short lists included."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from measures import naive
from measures.naive import Case, cases, ranking_of, split_of

from evaluator.scoring import contributions, score
from evaluator.types import Condition, Score, Subset

CUTOFFS = (1, 5, 10, 50)
EXACT = {"rel": 1e-12, "abs": 1e-12}


def scored(case: Case, *names: str) -> list[Score]:
    split = split_of(case, measures=names)
    card = score(split, {Condition.MULTIMODAL: ranking_of(case)}, resamples=20)
    return [card.find(name, Subset.ALL) for name in names]


def assert_agrees(case: Case, found: Score, wanted: float | None, k: int) -> None:
    """The value is the oracle's; where the lists end before k, or it has none, there is a reason and no value."""
    if wanted is None or (case.shortest < k and not case.complete):
        assert found.value is None
        assert found.reason
    else:
        assert found.value == pytest.approx(wanted, **EXACT)
        assert found.reason == ""


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(CUTOFFS))
@pytest.mark.parametrize("label", naive.PER_QUERY)
def test_means_over_queries(label: str, case: Case, k: int) -> None:
    (found,) = scored(case, f"{label}@{k}")
    needs_negatives = label in ("NegRecall", "mAP_noNeg") and not any(query.negatives for query in case.queries)
    assert_agrees(case, found, None if needs_negatives else naive.mean(case, label, k), k)


@settings(max_examples=60, deadline=None)
@given(cases(repeats=False), st.sampled_from(CUTOFFS))
def test_against_pytrec_eval(case: Case, k: int) -> None:
    """trec_eval divides AP by all positives, we by min(positives, k): the oracle's value is put on our divisor."""
    asked = [query for query in case.queries if query.positives]
    case = Case(case.gallery, asked)
    if not asked:
        return
    truth = {f"q{q}": {f"i{image}": 1 for image in query.positives} for q, query in enumerate(asked)}
    run = {f"q{q}": {f"i{image}": -float(i) for i, image in enumerate(query.listing)} for q, query in enumerate(asked)}
    theirs = pytrec_eval.RelevanceEvaluator(
        truth, {f"map_cut.{k}", f"recall.{k}", f"P.{k}", f"ndcg_cut.{k}", f"success.{k}"}
    ).evaluate(run)
    divisor = {f"q{q}": len(query.positives) / min(len(query.positives), k) for q, query in enumerate(asked)}
    wanted = {
        f"mAP@{k}": fmean(row[f"map_cut_{k}"] * divisor[q] for q, row in theirs.items()),
        f"Recall@{k}": fmean(row[f"recall_{k}"] for row in theirs.values()),
        f"Precision@{k}": fmean(row[f"P_{k}"] for row in theirs.values()),
        f"nDCG@{k}": fmean(row[f"ndcg_cut_{k}"] for row in theirs.values()),
    }
    for found in scored(case, *wanted):
        assert_agrees(case, found, wanted[found.measure], k)


@settings(max_examples=60, deadline=None)
@given(cases(repeats=False))
def test_full_gallery_ndcg_against_pytrec_eval(case: Case) -> None:
    asked = [query for query in case.queries if query.positives]
    if not asked:
        return
    truth = {f"q{q}": {f"i{image}": 1 for image in query.positives} for q, query in enumerate(asked)}
    run = {f"q{q}": {f"i{image}": -float(i) for i, image in enumerate(query.listing)} for q, query in enumerate(asked)}
    theirs = pytrec_eval.RelevanceEvaluator(truth, {"ndcg"}).evaluate(run)
    (found,) = scored(Case(case.gallery, asked), "nDCG")
    if case.complete:
        assert found.value == pytest.approx(fmean(row["ndcg"] for row in theirs.values()), **EXACT)
    else:
        assert (found.value, found.reason) == (None, "not available: needs the full gallery")


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(CUTOFFS))
def test_cost_of_negatives(case: Case, k: int) -> None:
    difference, relative = scored(case, f"DeltamAP@{k}", f"RelDeltamAP@{k}")
    plain, without = naive.mean(case, "mAP", k), naive.mean(case, "mAP_noNeg", k)
    if not any(query.negatives for query in case.queries):
        plain = None
    wanted = None if plain is None or without is None else without - plain
    assert_agrees(case, difference, wanted, k)
    assert_agrees(case, relative, wanted / plain if wanted is not None and plain else None, k)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(["Precision", "mAP", "NegRecall"]), st.sampled_from(CUTOFFS))
def test_linguistic_sensitivity(case: Case, label: str, k: int) -> None:
    span, deviation = scored(case, f"LingSens({label}@{k})", f"LingSensStd({label}@{k})")
    assert_agrees(case, span, naive.spread(case, label, k, naive.value_range), k)
    assert_agrees(case, deviation, naive.spread(case, label, k, naive.deviation), k)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(CUTOFFS))
def test_single_against_multi_image(case: Case, k: int) -> None:
    ratio, drop = scored(case, f"MultiRatio(mAP@{k})", f"MultiDrop(mAP@{k})")
    single = naive.mean(case, "mAP", k, lambda query: query.images == "single")
    multi = naive.mean(case, "mAP", k, lambda query: query.images == "multi")
    both = single is not None and multi is not None
    assert_agrees(case, ratio, single / multi if both and multi else None, k)
    assert_agrees(case, drop, (single - multi) / single if both and single else None, k)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(CUTOFFS))
def test_averages_of_measures(case: Case, k: int) -> None:
    mean, macro, both = scored(
        case, f"Mean(Recall@{k},Precision@{k})", f"Macro(mAP@{k})", f"Mean(Macro(Recall@{k}),Macro(Precision@{k}))"
    )

    def by_category(label: str) -> float | None:
        dresses = naive.mean(case, label, k, lambda query: query.category == "dress")
        shirts = naive.mean(case, label, k, lambda query: query.category == "shirt")
        return None if dresses is None or shirts is None else (dresses + shirts) / 2

    recall, precision = naive.mean(case, "Recall", k), naive.mean(case, "Precision", k)
    assert_agrees(case, mean, None if recall is None else (recall + precision) / 2, k)
    assert_agrees(case, macro, by_category("mAP"), k)
    recall, precision = by_category("Recall"), by_category("Precision")
    assert_agrees(case, both, None if recall is None or precision is None else (recall + precision) / 2, k)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from([1, 2, 3]))
def test_recall_in_the_image_set(case: Case, k: int) -> None:
    """From the main list where it holds every member; the few lines below are CIRR's own procedure."""
    (found,) = scored(case, f"Recall_subset@{k}")
    asked = [query for query in case.queries if query.target is not None]
    if not asked or not all(set(query.members) <= set(query.listing) for query in case.queries):
        assert found.value is None
        return
    kept = [[image for image in query.listing if image in query.members] for query in asked]
    wanted = fmean(float(query.target in members[:k]) for query, members in zip(asked, kept, strict=True))
    assert found.value == pytest.approx(wanted, **EXACT)


@settings(max_examples=60, deadline=None)
@given(cases(), st.sampled_from(CUTOFFS))
def test_contributions_have_the_measure_as_their_mean(case: Case, k: int) -> None:
    names = (f"mAP@{k}", f"NegRecall@{k}", f"DeltamAP@{k}", f"Macro(Recall@{k})", f"Mean(Recall@{k},Precision@{k})")
    split = split_of(case, measures=names)
    run = ranking_of(case)
    card = score(split, {Condition.MULTIMODAL: run}, resamples=20)
    for subset in split.protocol.subsets:
        for name in names:
            value = card.find(name, subset).value
            if value is None:
                with pytest.raises(ValueError, match="available"):
                    contributions(split, run, name, subset)
            else:
                parts = contributions(split, run, name, subset)
                assert parts.shape == (int(split.subsets[subset].sum()),)
                assert np.mean(parts) == pytest.approx(value, **EXACT)
