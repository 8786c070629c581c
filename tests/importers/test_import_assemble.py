"""The building blocks against naive versions, and every real split through a bundle and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import bundle
from evaluator.types import Split
from leaderboard.importers.assemble import Images, Judged, dense_numbers, groups_of_several, value_masks
from leaderboard.importers.official import coco_id, file_stem

REAL = (
    *("cirr_val", "cirr_test1", "fashioniq_val", "circo_val", "circo_test"),
    *("circus_cirr", "circus_fashioniq", "circus_circo", "pinpoint", "pinpoint_clean"),
)

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=20)


@settings(max_examples=60)
@given(positive=PAIRS, negative=PAIRS, target=PAIRS, member=PAIRS)
def test_judgment_lines_are_the_union_of_the_pairs(
    positive: list[tuple[int, int]],
    negative: list[tuple[int, int]],
    target: list[tuple[int, int]],
    member: list[tuple[int, int]],
) -> None:
    lines = Judged(positive, negative, target, member).lines(5)
    pairs = list(zip(lines.query.tolist(), lines.image.tolist(), strict=True))
    assert pairs == sorted({*positive, *negative, *target, *member})
    for flags, given_pairs in zip(
        (lines.positive, lines.negative, lines.target, lines.member), (positive, negative, target, member), strict=True
    ):
        assert flags.tolist() == [pair in given_pairs for pair in pairs]
    for counts, given_pairs in ((lines.positives_released, positive), (lines.negatives_released, negative)):
        assert counts.tolist() == [len({pair for pair in given_pairs if pair[0] == query}) for query in range(5)]
    assert {lines.query.dtype, lines.image.dtype, lines.positives_released.dtype} == {np.dtype(np.int32)}


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=12))
def test_groups_are_keys_that_several_counted_queries_share(rows: list[tuple[str, bool]]) -> None:
    keys = [key for key, _ in rows]
    inside = np.array([counted for _, counted in rows], dtype=np.bool_)
    numbers = groups_of_several(keys, inside).tolist()
    counted = [key for key, kept in rows if kept]
    in_group = [kept and counted.count(key) > 1 for key, kept in rows]
    assert [number >= 0 for number in numbers] == in_group
    assert len({(key, number) for key, number in zip(keys, numbers, strict=True) if number >= 0}) == len(
        {number for number in numbers if number >= 0}
    )
    assert sorted({number for number in numbers if number >= 0}) == list(range(len({*numbers} - {-1})))


def test_numbers_are_dense_in_order_of_appearance() -> None:
    assert dense_numbers(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]


def test_images_stand_in_byte_order_not_in_the_order_of_numbers() -> None:
    images = Images.of(["10", "9", "é", "z", "B", "a"], ["9"])
    assert images.names == ("10", "9", "B", "a", "z", "é")
    assert images.gallery("some", ["z", "10"]).images.tolist() == [0, 4]


def test_group_values_stand_in_byte_order() -> None:
    assert list(value_masks(["b", "a", "B", "b"])) == ["B", "a", "b"]


@pytest.mark.parametrize(
    ("path", "stem", "number"),
    [
        ("<path>/val2014/COCO_val2014_000000546721.jpg", "COCO_val2014_000000546721", "546721"),
        ("000000000008.jpg", "000000000008", "8"),
        ("1200", "1200", "1200"),
    ],
)
def test_ids_come_from_base_names(path: str, stem: str, number: str) -> None:
    assert (file_stem(path), coco_id(path)) == (stem, number)


@pytest.mark.parametrize("name", REAL)
def test_a_real_split_survives_its_bundle(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    split: Split = request.getfixturevalue(name)
    bundle.save(split, tmp_path / "split.bundle")
    loaded = bundle.load(tmp_path / "split.bundle")
    assert bundle.digest(loaded) == bundle.digest(split)
    assert bundle.fit_key(loaded) == bundle.fit_key(split)
    assert loaded.query_index == split.query_index


@pytest.mark.parametrize("name", REAL)
def test_a_real_split_is_consistent(name: str, request: pytest.FixtureRequest) -> None:
    split: Split = request.getfixturevalue(name)
    queries = len(split)
    judged = split.judgments
    for arrays in (
        [split.gallery_of, split.clusters, judged.positives_released, judged.negatives_released],
        split.subsets.values(),
        split.strata.values(),
        split.paraphrase_groups.values(),
        [mask for masks in split.groups.values() for mask in masks.values()],
    ):
        assert all(array.shape == (queries,) for array in arrays)
    assert len({*split.query_ids, *split.query_aliases}) == queries + len(split.query_aliases)
    assert sorted(set(split.clusters.tolist())) == list(range(int(split.clusters.max()) + 1))
    assert set(split.subsets) | set(split.absent) == set(split.protocol.subsets)
    candidates = [set(gallery.images.tolist()) for gallery in split.galleries]
    for query, image in zip(judged.query.tolist(), judged.image.tolist(), strict=True):
        assert image in candidates[split.gallery_of[query]]
    assert all(image < len(split.images) for images in split.references for image in images)
    assert split.licence
