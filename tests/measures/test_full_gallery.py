"""Full-gallery measures: the hand calculation of ``docs/measures.md`` from files, and plain Python over ranks."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import fmean, median

import numpy as np
import pytest
from formats.format_splits import COCO, make_split
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import protocols
from evaluator.formats import SourceFile, read_run
from evaluator.ranks import candidates
from evaluator.scoring import score
from evaluator.types import Condition, JudgedRanks, Score, Split, Subset

DOCS = (Path(__file__).parents[2] / "docs/measures.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (q\d) \| (\d+) \| (\d+) \| (\d+) \| ([\d/]+) \| ([\d/]+) \| ([\d/]+) \|$", re.MULTILINE)
IMAGES = [f"i{number:02d}" for number in range(20)]


def split_of(positives: dict[int, list[str]], **more: object) -> Split:
    split = make_split(
        [f"q{n + 1}" for n in range(len(positives))],
        IMAGES,
        positives=positives,
        protocol=replace(protocols.CIRCUS_SINGLE, first_subset=Subset.FULL, subsets=(Subset.FULL,)),
    )
    return replace(split, **more)  # type: ignore[arg-type]


def found(split: Split, runs: dict[Condition, JudgedRanks], measure: str, condition: Condition | None) -> Score:
    return score(split, dict(runs), resamples=50).find(measure, Subset.FULL, condition)


def test_the_calculation_in_the_docs_is_what_files_give() -> None:
    rows = ROW.findall(DOCS)
    assert len(rows) == 4
    split = split_of({n: [IMAGES[n]] for n in range(4)})
    runs = {}
    for column, condition in enumerate(Condition, start=1):
        lines = [f"{row[0]},{IMAGES[n]},{row[column]}" for n, row in enumerate(rows)]
        content = "\n".join(["query,judged_image,gallery_rank", *lines]).encode()
        runs[condition] = read_run([SourceFile(condition, content)], split)
    card = score(split, runs, resamples=50)
    means = [fmean(float(Fraction(row[column])) for row in rows) for column in (4, 5, 6)]
    for condition, mean in zip(Condition, means, strict=True):
        assert card.find("nDCG", Subset.FULL, condition).value == pytest.approx(mean, abs=1e-12)
    gap = card.find("CompositionGap", Subset.FULL, None).value
    assert gap == pytest.approx(float(1 - Fraction(25, 34)), abs=1e-12)
    assert f"**{gap:.4f}**" in DOCS
    assert f"**{card.find('MRR', Subset.FULL).value:.4f}**" in DOCS
    assert card.find("MedianRank", Subset.FULL).value == 2


@st.composite
def ranked(draw: st.DrawFn) -> tuple[Split, list[list[int]], JudgedRanks]:
    """A split with one to three positives a query, and a rank for each."""
    count = draw(st.integers(1, 6))
    held = [sorted(draw(st.sets(st.sampled_from(range(20)), min_size=1, max_size=3))) for _ in range(count)]
    split = split_of({n: [IMAGES[image] for image in images] for n, images in enumerate(held)})
    ranks = [draw(st.permutations(range(1, 21)))[: len(images)] for images in held]
    flat = np.array([rank for row in ranks for rank in row], dtype=np.int32)
    return split, [list(row) for row in ranks], JudgedRanks(flat, candidates(split), complete=True)


@given(ranked())
@settings(max_examples=30, deadline=None)
def test_first_positives_again_in_plain_python(case: tuple[Split, list[list[int]], JudgedRanks]) -> None:
    split, ranks, run = case
    best = [min(row) for row in ranks]
    mrr = found(split, {Condition.MULTIMODAL: run}, "MRR", Condition.MULTIMODAL)
    middle = found(split, {Condition.MULTIMODAL: run}, "MedianRank", Condition.MULTIMODAL)
    assert mrr.value == pytest.approx(fmean(1 / rank for rank in best), abs=1e-12)
    assert (middle.value, middle.low, middle.high, middle.n) == (median(best), None, None, len(best))


def test_an_open_gallery_and_a_short_list_leave_them_empty() -> None:
    opened = make_split(["0"], ["5", "7"], positives={0: ["7"]}, pattern=COCO, protocol=protocols.CIRCUS_MULTI)
    whole = JudgedRanks(np.array([3], dtype=np.int32), candidates(opened), complete=False)
    card = score(opened, {Condition.MULTIMODAL: whole}, resamples=10)
    for measure in ("nDCG", "MRR", "MedianRank"):
        assert card.find(measure, Subset.FULL).reason == "not available: needs the full gallery"
    assert card.find("Recall_any@10", Subset.FULL).value == 1


def test_a_median_of_queries_whose_positives_are_in_no_gallery_is_undefined() -> None:
    split = split_of({0: ["i01"], 1: ["i02"]})
    run = JudgedRanks(np.array([0, 4], dtype=np.int32), candidates(split), complete=True)
    middle = found(split, {Condition.MULTIMODAL: run}, "MedianRank", Condition.MULTIMODAL)
    assert middle.value is None
    assert middle.reason == "undefined: half of the queries have no positive in their gallery"
