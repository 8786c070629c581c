"""The baselines: real, weak, in the expected order, and in files that a participant could have written."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import demo
from demo.baselines import file_name
from demo.features import look, read, words
from evaluator.formats import SourceFile, read_run
from evaluator.scoring import score
from evaluator.types import BoolArray, Condition, Split, Subset

SPLITS = {split.name: split for split in (demo.circus_split(), demo.pinpoint_split())}
BASELINES = ("histogram+words", "pixels+words")


@cache
def hits(folder: Path, split_name: str, baseline: str, condition: Condition) -> BoolArray:
    """Return (n,) whether a right answer is among the first ten, read from the file in the plainest way."""
    split = SPLITS[split_name]
    (file,) = [
        ranking.file
        for ranking in demo.write(folder).rankings
        if (ranking.split, ranking.baseline, ranking.condition) == (split_name, baseline, condition)
    ]
    lists = json.loads((folder / file).read_text())
    judged = split.judgments
    right: list[set[str]] = [set() for _ in split.query_ids]
    for query, image in zip(judged.query[judged.positive], judged.image[judged.positive], strict=True):
        right[query].add(split.images[image])
    return np.array([bool(right[query] & set(lists[name][:10])) for query, name in enumerate(split.query_ids)])


def chance(split: Split, mask: BoolArray) -> float:
    """Return the expected share of hits at ten of a random order: at most ten draws a positive."""
    return float(np.mean(10 * split.judgments.positives_released[mask] / len(split.images)))


@pytest.mark.parametrize("name", SPLITS)
def test_every_file_is_a_valid_run(demo_folder: Path, name: str) -> None:
    rankings = [ranking for ranking in demo.write(demo_folder).rankings if ranking.split == name]
    assert {(ranking.baseline, ranking.condition) for ranking in rankings} == {
        (baseline, condition) for baseline in BASELINES for condition in Condition
    }
    for ranking in rankings:
        path = demo_folder / ranking.file
        run = read_run([SourceFile(path.name, path.read_bytes())], SPLITS[name])
        assert run.images.shape == (len(SPLITS[name]), 50)
        assert (run.length == 50).all()


@pytest.mark.parametrize("baseline", BASELINES)
def test_the_evaluator_counts_the_same_hits(demo_folder: Path, baseline: str) -> None:
    split = SPLITS["demo-circus"]
    path = demo_folder / "rankings" / file_name(split.name, baseline, Condition.MULTIMODAL)
    run = read_run([SourceFile(path.name, path.read_bytes())], split)
    card = score(split, {Condition.MULTIMODAL: run}, resamples=20)
    found = hits(demo_folder, split.name, baseline, Condition.MULTIMODAL)
    for subset, mask in split.subsets.items():
        assert card.find("Recall_any@10", subset).value == pytest.approx(found[mask].mean(), abs=1e-12)


def test_composing_is_better_than_late_fusion_and_than_one_modality(demo_folder: Path) -> None:
    sf = SPLITS["demo-circus"].subsets[Subset.SF]

    def recall(baseline: str, condition: Condition = Condition.MULTIMODAL) -> float:
        return float(hits(demo_folder, "demo-circus", baseline, condition)[sf].mean())

    best, weaker = recall(BASELINES[0]), recall(BASELINES[1])
    alone = max(recall(BASELINES[0], Condition.TEXT_ONLY), recall(BASELINES[0], Condition.IMAGE_ONLY))
    assert weaker + 0.2 < best < 0.8, "clearly better and far from perfect"
    assert alone + 0.2 < best
    assert weaker > 2 * chance(SPLITS["demo-circus"], sf)


def test_shortcuts_are_solved_from_the_modality_that_they_were_built_for(demo_folder: Path) -> None:
    labels = list(demo.planted_labels().values())
    text = hits(demo_folder, "demo-circus", BASELINES[0], Condition.TEXT_ONLY)
    image = hits(demo_folder, "demo-circus", BASELINES[0], Condition.IMAGE_ONLY)

    def share(found: BoolArray, label: demo.Label) -> float:
        return float(found[[planted is label for planted in labels]].mean())

    assert share(text, demo.Label.TEXT) > 0.6
    assert share(image, demo.Label.TEXT) < 0.2
    assert share(image, demo.Label.IMAGE) > 0.9
    assert share(text, demo.Label.IMAGE) < 0.2
    assert share(text, demo.Label.COMPOSITION_REQUIRED) < 0.3
    assert share(image, demo.Label.COMPOSITION_REQUIRED) < 0.4


def test_stand_in_references_cost_answers(demo_folder: Path) -> None:
    split = SPLITS["demo-pinpoint"]
    found = hits(demo_folder, split.name, BASELINES[0], Condition.MULTIMODAL)
    original = split.subsets[Subset.ORIGINAL]
    assert found[original].mean() > 0.3 > found[~original].mean()
    assert found[original].mean() > 3 * chance(split, original)


def test_conditions_hide_what_they_should(demo_folder: Path) -> None:
    """Text-only files follow from the text, image-only files from the reference, alone."""
    for condition, key in ((Condition.TEXT_ONLY, "texts"), (Condition.IMAGE_ONLY, "references")):
        for ranking in demo.write(demo_folder).rankings:
            if ranking.condition is not condition:
                continue
            split = SPLITS[ranking.split]
            lists = json.loads((demo_folder / ranking.file).read_text())
            by_input: dict[object, set[str]] = {}
            for shown, name in zip(getattr(split, key), split.query_ids, strict=True):
                by_input.setdefault(shown, set()).add(json.dumps(lists[name]))
            assert all(len(orders) == 1 for orders in by_input.values())


def test_words_are_read_without_order_or_sense() -> None:
    assert words("Two circles, NOT red!") == {"two", "circle", "not", "red"}
    not_red, red = read(["not red"]), read(["red"])
    assert np.array_equal(not_red.hue, red.hue)
    assert np.isnan(read(["mirror it"]).hue).all()
    assert read(["on the left"]).stripe.argmax() < 2


def test_looking_finds_hue_and_place() -> None:
    scenes = [demo.Scene("circle", "blue", "one", "large", place) for place in ("left", "right")]
    seen = look(np.stack([np.asarray(demo.render(scene)) for scene in scenes]))
    assert seen.stripe[0].argmax() < 2
    assert seen.stripe[1].argmax() > 3
    assert np.allclose(seen.hue.sum(axis=1), 1)
    assert (seen.hue.argmax(axis=1) == read(["blue"]).hue.argmax()).all()
    assert np.isnan(look(np.zeros((1, 48, 48, 3), dtype=np.uint8)).area).all(), "a black picture says nothing"
