"""CIRR's official files against the counts of its README and a naive reading of the same files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from evaluator import protocols
from evaluator.types import Split, Subset


def _rows(data_folder: Path, part: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((data_folder / f"cirr/captions/cap.rc2.{part}.json").read_text("utf-8"))
    return rows


def _judged(split: Split, query: int, kind: str) -> set[str]:
    flags = getattr(split.judgments, kind) & (split.judgments.query == query)
    return {split.images[image] for image in split.judgments.image[flags]}


def test_val_has_the_published_counts(cirr_val: Split) -> None:
    assert (len(cirr_val), len(cirr_val.images)) == (4_181, 2_297)
    assert cirr_val.protocol is protocols.CIRR
    assert [gallery.size for gallery in cirr_val.galleries] == [2_297]
    assert cirr_val.subsets[Subset.FULL].all()
    assert not cirr_val.hidden_truth
    assert set(cirr_val.judgments.positives_released) == {1}
    assert set(cirr_val.judgments.negatives_released) == {0}


def test_val_says_what_its_files_say(cirr_val: Split, data_folder: Path) -> None:
    rows = _rows(data_folder, "val")
    assert cirr_val.query_ids == tuple(str(row["pairid"]) for row in rows)
    assert cirr_val.texts == tuple(row["caption"] for row in rows)
    for query in range(0, len(rows), 97):
        row = rows[query]
        assert [cirr_val.images[i] for i in cirr_val.references[query]] == [row["reference"]]
        assert _judged(cirr_val, query, "positive") == _judged(cirr_val, query, "target") == {row["target_hard"]}
        assert _judged(cirr_val, query, "member") == set(row["img_set"]["members"]) - {row["reference"]}


def test_every_query_has_five_members_and_its_target_is_one(cirr_val: Split) -> None:
    judgments = cirr_val.judgments
    assert set(np.bincount(judgments.query[judgments.member])) == {5}
    assert not (judgments.target & ~judgments.member).any()


def test_clusters_are_the_503_image_sets(cirr_val: Split, data_folder: Path) -> None:
    sets = [row["img_set"]["id"] for row in _rows(data_folder, "val")]
    assert int(cirr_val.clusters.max()) + 1 == len(set(sets)) == 503
    assert len(set(zip(sets, cirr_val.clusters.tolist(), strict=True))) == 503


def test_test1_hides_its_truth_and_keeps_the_image_sets(cirr_test1: Split) -> None:
    assert (len(cirr_test1), len(cirr_test1.images)) == (4_148, 2_315)
    assert cirr_test1.hidden_truth
    judgments = cirr_test1.judgments
    assert judgments.member.all()
    assert not (judgments.positive | judgments.target | judgments.negative).any()
    assert set(np.bincount(judgments.query)) == {5}
    assert set(judgments.positives_released) == {0}


def test_images_stand_in_byte_order(cirr_val: Split) -> None:
    assert list(cirr_val.images) == sorted(cirr_val.images, key=str.encode)
    assert cirr_val.galleries[0].images.tolist() == list(range(2_297))


def test_the_splits_that_files_are_confused_with_are_told_apart(cirr_val: Split, cirr_test1: Split) -> None:
    by_name = {other.name: other for other in cirr_val.lookalikes}
    assert set(by_name) == {"cirr-test1", "circus-cirr"}
    assert by_name["cirr-test1"].query_ids == frozenset(cirr_test1.query_ids)
    assert by_name["cirr-test1"].images == frozenset(cirr_test1.images)
    assert not by_name["circus-cirr"].query_ids & frozenset(cirr_val.query_ids)
    assert all(other.sentence for other in (*cirr_val.lookalikes, *cirr_test1.lookalikes))
