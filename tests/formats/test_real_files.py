"""Files that people really sent to the official servers, read against the official annotations."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from formats.format_splits import make_split
from formats.writers import WRAPPERS, cirr, codes, faults, lists_of, plain, read, zipped

from evaluator import protocols
from evaluator.types import Lookalike, Split


@pytest.fixture(scope="module")
def recall(data_folder: Path) -> bytes:
    return (data_folder / "submissions/cirr_test1_recall_cirplant_demo.json.gz").read_bytes()


@pytest.fixture(scope="module")
def subset(data_folder: Path) -> bytes:
    return (data_folder / "submissions/cirr_test1_recall_subset_cirplant_demo.json").read_bytes()


def test_the_cirr_demo_pair_is_read_in_either_order(cirr_test1: Split, recall: bytes, subset: bytes) -> None:
    first, second = read(cirr_test1, recall, subset), read(cirr_test1, subset, recall)
    assert first.format == "cirr"
    assert first.images.shape == (4148, 50)
    assert first.members is not None
    assert first.members.shape == (4148, 3)
    assert second.members is not None
    np.testing.assert_array_equal(first.images, second.images)
    np.testing.assert_array_equal(first.members, second.members)
    written = json.loads(gzip.decompress(recall))
    assert lists_of(first, cirr_test1) == {query: written[query] for query in cirr_test1.query_ids}


def test_the_cirr_pair_may_share_one_zip(cirr_test1: Split, recall: bytes, subset: bytes) -> None:
    packed = zipped({"out/recall.json": gzip.decompress(recall), "out/subset.json": subset})
    assert read(cirr_test1, packed).members is not None


def test_the_cirr_subset_file_alone_is_not_enough(cirr_test1: Split, subset: bytes) -> None:
    assert codes(cirr_test1, subset) == ["no-main-ranking"]
    assert codes(cirr_test1, subset, subset) == ["two-rankings"]


def test_a_file_for_test1_sent_to_val_is_told_so_first(
    cirr_val: Split, cirr_test1: Split, recall: bytes, subset: bytes
) -> None:
    other = Lookalike("cirr-test1", frozenset(cirr_test1.query_ids), frozenset(cirr_test1.images), "Send it to test1.")
    found = faults(replace(cirr_val, lookalikes=(other,)), recall, subset)
    assert found[0].code == "other-split"
    assert found[0].found == "these ids look like cirr-test1, ranked over the cirr-test1 gallery"
    assert found[0].remedy == "Send it to test1."
    assert len(found) == 100


def test_a_ranking_over_the_val_images_is_refused_by_circus_cirr(cirr_val: Split, data_folder: Path) -> None:
    """Decision 3: CIRCUS ranks 21,551 images, and a file that holds only those of val was made for another gallery."""
    images = [
        image
        for part in ("train", "val", "test1")
        for image in json.loads((data_folder / f"cirr/image_splits/split.rc2.{part}.json").read_text())
    ]
    queries = [str(position) for position in range(4170)]
    val = Lookalike("cirr-val", frozenset(cirr_val.query_ids), frozenset(cirr_val.images))
    circus = make_split(queries, images, name="circus-cirr", protocol=protocols.CIRCUS_SINGLE, lookalikes=[val])
    over_val = plain(dict.fromkeys(queries, cirr_val.images[:50]))
    assert [(fault.code, "ranked over the cirr-val gallery" in fault.found) for fault in faults(circus, over_val)] == [
        ("other-gallery", True)
    ]
    over_all = plain(dict.fromkeys(queries, (*cirr_val.images[:49], circus.images[-1])))
    assert read(circus, over_all).format == "json"


def test_circo_files_are_read(circo_val: Split, circo_test: Split, data_folder: Path) -> None:
    for split, name in ((circo_val, "circo_val_example.json"), (circo_test, "circo_test_mmret_large.json")):
        content = (data_folder / "submissions" / name).read_bytes()
        ranking = read(split, content)
        assert ranking.format == "circo"
        written = {query: [str(image) for image in images] for query, images in json.loads(content).items()}
        assert lists_of(ranking, split) == written


def test_circo_val_sent_to_test_is_told_so(circo_val: Split, circo_test: Split, data_folder: Path) -> None:
    other = Lookalike("circo-val", frozenset(circo_val.query_ids))
    content = (data_folder / "submissions/circo_val_example.json").read_bytes()
    assert codes(replace(circo_test, lookalikes=(other,)), content) == ["other-split", "missing-query"]


def test_one_query_is_never_scored_as_a_whole_split(circo_test: Split) -> None:
    """The official script takes any prefix of the queries and divides by fewer (public report A29)."""
    found = faults(circo_test, json.dumps({"0": list(range(1, 51))}).encode())
    assert {fault.code for fault in found} == {"missing-query"}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_val_ranking_that_lists_its_references_is_taken(cirr_val: Split, wrapper: str) -> None:
    """The reference is dropped by id, so fifty-one names leave fifty."""
    lists = {
        query: [
            cirr_val.images[reference],
            *(image for image in cirr_val.images if image != cirr_val.images[reference]),
        ][:51]
        for query, (reference,) in zip(cirr_val.query_ids, cirr_val.references, strict=True)
    }
    ranking = read(cirr_val, WRAPPERS[wrapper](cirr(lists)))
    assert lists_of(ranking, cirr_val) == {query: images[1:] for query, images in lists.items()}
