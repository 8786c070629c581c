"""The tiny splits that other tests use: each has the structure of its protocol."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demo
from evaluator import bundle
from evaluator.types import Protocol, Split, Subset

DIGEST = "1387fe5179074aa6433cf77dc8bb988d6f3c87c1110c38e1750217abddd6c94f"
"""SHA-256 over the digests of the content of all tiny splits, in the order of their kinds' names."""
KINDS = sorted(demo.TINY_KINDS)


def same(one: Any, other: Any) -> bool:
    """Return whether two values made of dataclasses, mappings and arrays are equal."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def test_they_do_not_change() -> None:
    bare = Protocol("", "", Subset.FULL, (), ())
    digests = "".join(bundle.digest(replace(demo.tiny_split(kind), protocol=bare)) for kind in KINDS)
    assert hashlib.sha256(digests.encode()).hexdigest() == DIGEST


@pytest.mark.parametrize("kind", [*KINDS, "demo-circus", "demo-pinpoint"])
def test_bundles_round_trip(kind: str, tmp_path: Path) -> None:
    split = demo.build(kind.removeprefix("demo-")) if kind.startswith("demo-") else demo.tiny_split(kind)
    bundle.save(split, tmp_path / "split.zip")
    loaded = bundle.load(tmp_path / "split.zip")
    assert same(loaded, split)
    assert bundle.digest(loaded) == bundle.digest(split)


def require_consistent(split: Split) -> None:
    """Check what every frozen split promises."""
    number, judged = len(split), split.judgments
    assert list(split.images) == sorted(split.images)
    assert len(set(split.query_ids)) == number == len(split.texts) == len(split.references) == len(split.gallery_of)
    assert all(0 <= image < len(split.images) for references in split.references for image in references)
    lines = list(zip(judged.query.tolist(), judged.image.tolist(), strict=True))
    assert lines == sorted(set(lines))
    for query, image in lines:
        assert image in split.galleries[split.gallery_of[query]].images
    for subset in split.protocol.subsets:
        assert split.subsets[subset].shape == (number,)
    for wider, narrower in zip(split.protocol.subsets, split.protocol.subsets[1:], strict=False):
        assert (split.subsets[narrower] <= split.subsets[wider]).all()
    for values in split.groups.values():
        assert all(mask.shape == (number,) for mask in values.values())
    assert set(split.clusters.tolist()) == set(range(split.clusters.max() + 1))
    assert {part.dimension for part in split.protocol.breakdowns} <= set(split.groups)


@pytest.mark.parametrize("kind", [*KINDS, "demo-circus", "demo-pinpoint"])
def test_splits_are_consistent(kind: str) -> None:
    split = demo.build(kind.removeprefix("demo-")) if kind.startswith("demo-") else demo.tiny_split(kind)
    require_consistent(split)
    assert np.bincount(split.judgments.query[split.judgments.positive], minlength=len(split)).min() >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_tiny_splits_are_tiny_and_leave_room_for_lists_of_fifty(kind: str) -> None:
    split = demo.tiny_split(kind)
    assert 10 <= len(split) <= 20
    room = split.protocol.list_length + int(split.protocol.remove_reference)
    assert all(gallery.size == 60 >= room for gallery in split.galleries)


def named(split: Split, images: Iterable[int]) -> list[str]:
    return [split.images[image] for image in images]


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_gallery_knows_what_queries_and_judgments_name_and_no_more(kind: str) -> None:
    closed, opened = demo.tiny_split(kind), demo.tiny_split(kind, open_gallery=True)
    require_consistent(opened)
    assert all(gallery.is_open and gallery.size is None for gallery in opened.galleries)
    assert 0 < len(opened.images) < len(closed.images)
    assert named(closed, closed.judgments.image.tolist()) == named(opened, opened.judgments.image.tolist())
    assert [named(closed, images) for images in closed.references] == [
        named(opened, images) for images in opened.references
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_truth_leaves_no_judgment(kind: str) -> None:
    hidden = demo.tiny_split(kind, hidden_truth=True)
    assert hidden.hidden_truth
    assert not hidden.judgments.positive.any()
    assert not hidden.judgments.negative.any()


def test_cirr_has_image_sets_of_six_with_reference_and_target() -> None:
    split = demo.tiny_split("cirr")
    judged = split.judgments
    assert split.protocol.remove_reference
    for query, references in enumerate(split.references):
        lines = judged.query == query
        assert judged.member[lines].sum() == 5
        assert (judged.target <= judged.member)[lines].all()
        assert references[0] not in judged.image[lines]


def test_fashioniq_has_three_categories_with_galleries_that_share_nothing() -> None:
    split = demo.tiny_split("fashioniq")
    assert list(split.groups["category"]) == [gallery.name for gallery in split.galleries]
    assert len(np.unique(np.concatenate([gallery.images for gallery in split.galleries]))) == 180


def test_circo_aspects_overlap_and_miss_no_query() -> None:
    split = demo.tiny_split("circo")
    carried = np.sum(list(split.groups["aspect"].values()), axis=0)
    assert len(split.groups["aspect"]) == 9
    assert carried.min() >= 1
    assert carried.max() > 1
    assert np.bincount(split.judgments.query[split.judgments.positive]).max() > 1


def test_one_upload_fits_circo_and_circus_on_circo() -> None:
    assert bundle.fit_key(demo.tiny_split("circo")) == bundle.fit_key(demo.tiny_split("circus-multi"))
    assert bundle.fit_key(demo.tiny_split("circo")) != bundle.fit_key(demo.tiny_split("circus-single"))


def test_pinpoint_has_the_release_s_oddities() -> None:
    split = demo.tiny_split("pinpoint")
    judged = split.judgments
    distinct = np.bincount(judged.query[judged.positive], minlength=len(split))
    assert (judged.positives_released > distinct).any()
    assert np.flatnonzero(np.bincount(judged.query[judged.positive & judged.negative])).tolist() == [5]
    negatives = [set(judged.image[(judged.query == query) & judged.negative].tolist()) for query in range(len(split))]
    derived = [references[0] in negatives[query] for query, references in enumerate(split.references)]
    assert split.subsets[Subset.ORIGINAL].tolist() == derived
    assert split.query_index["00003"] == 3
    assert len(set(split.paraphrase_groups[Subset.ALL].tolist())) == 3


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError):
        demo.tiny_split("unknown")
    with pytest.raises(KeyError):
        demo.build("unknown")
