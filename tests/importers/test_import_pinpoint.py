"""PinPoint's release as it is, and without its repeats and contradictions, against naive counts over the JSON lines."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import bundle, protocols
from evaluator.types import Split, Subset
from leaderboard.importers.pinpoint import read_pinpoint, read_pinpoint_clean

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def rows(data_folder: Path) -> Rows:
    with gzip.open(data_folder / "pinpoint/pinpoint_licensed.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def bases(data_folder: Path) -> dict[str, list[int]]:
    path = data_folder / "pinpoint/pinpoint_base_queries.json"
    queries: dict[str, list[int]] = json.loads(path.read_text("utf-8"))["queries"]
    return queries


@pytest.fixture
def without_bases(copy_of: Callable[[str], Path]) -> Path:
    folder = copy_of("pinpoint")
    (folder / "pinpoint_base_queries.json").unlink()
    return folder


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    return row["query_image_signature"], row["query_image_signature2"]


def test_the_release_says_what_its_rows_say(pinpoint: Split, rows: Rows) -> None:
    assert pinpoint.protocol is protocols.PINPOINT
    assert pinpoint.query_ids == tuple(row["query_id"] for row in rows)
    assert pinpoint.texts == tuple(row["instruction"] for row in rows)
    for query in range(0, len(rows), 53):
        row = rows[query]
        assert [pinpoint.images[i] for i in pinpoint.references[query]] == [
            name for name in _pair(row) if name != "None"
        ]
        assert pinpoint.query_index[row["query_id"].removeprefix("query_")] == query


def test_judgments_are_distinct_and_counts_are_as_released(pinpoint: Split, rows: Rows) -> None:
    judged = pinpoint.judgments
    expected: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
    for query, row in enumerate(rows):
        for name, kind in (("positive_candidates", "positive"), ("negative_candidates", "negative")):
            expected[kind] |= {(query, image) for image in row[name] if image}
    for kind in ("positive", "negative"):
        lines = getattr(judged, kind)
        found = zip(judged.query[lines].tolist(), (pinpoint.images[i] for i in judged.image[lines]), strict=True)
        assert set(found) == expected[kind]
    assert len(judged) == len(expected["positive"] | expected["negative"])
    assert judged.positives_released.tolist() == [len(row["positive_candidates"]) for row in rows]
    assert judged.negatives_released.tolist() == [len(row["negative_candidates"]) for row in rows]
    assert int(judged.positives_released.sum() + judged.negatives_released.sum()) == 333_390
    assert len(set(judged.query[judged.positive & judged.negative].tolist())) == 310


def test_lines_are_sorted_by_query_and_image(pinpoint: Split) -> None:
    lines = zip(pinpoint.judgments.query[:5_000].tolist(), pinpoint.judgments.image[:5_000].tolist(), strict=True)
    assert all(before < after for before, after in pairwise(lines))


def test_the_gallery_is_closed_with_109600_images(pinpoint: Split, data_folder: Path) -> None:
    assert [gallery.size for gallery in pinpoint.galleries] == [109_600]
    assert list(pinpoint.images) == sorted((data_folder / "pinpoint/index_signatures.txt").read_text().split())


def test_groups_have_the_published_sizes(pinpoint: Split, rows: Rows) -> None:
    sizes = {name: {value: int(mask.sum()) for value, mask in masks.items()} for name, masks in pinpoint.groups.items()}
    assert sizes["images"] == {"multi": 895, "single": 6_740}
    assert sizes["images_signature"] == {"multi": 1_006, "single": 6_629}
    for dimension, field in (
        ("category", "query_category"),
        ("interest", "l1_interest"),
        ("skin_tone", "skin_tone_bucket"),
    ):
        assert sizes[dimension] == Counter(row[field] for row in rows)
    assert sizes["skin_tone"]["UNKNOWN"] == 4_088


def test_original_and_clusters_come_from_the_base_queries(
    pinpoint: Split, rows: Rows, bases: dict[str, list[int]]
) -> None:
    original = pinpoint.subsets[Subset.ORIGINAL]
    assert original.tolist() == [bool(bases[row["query_id"]][1]) for row in rows]
    assert int(original.sum()) == 4_225
    assert int((original & pinpoint.groups["images"]["multi"]).sum()) == 774
    numbers = [bases[row["query_id"]][0] for row in rows]
    assert len(set(zip(numbers, pinpoint.clusters.tolist(), strict=True))) == len(set(numbers)) == 1_292
    assert pinpoint.cluster_name == "base query"


def test_without_the_base_query_file_the_release_tells_it_nearly(
    without_bases: Path, pinpoint: Split, rows: Rows
) -> None:
    split = read_pinpoint(without_bases)
    original = split.subsets[Subset.ORIGINAL]
    assert original.tolist() == [row["query_image_signature"] in row["negative_candidates"] for row in rows]
    assert int(original.sum()) == 4_217
    assert int((original == pinpoint.subsets[Subset.ORIGINAL]).sum()) == 7_623
    assert int((original & split.groups["images"]["multi"]).sum()) == 774
    assert int(split.clusters.max()) + 1 == 1_260
    assert split.cluster_name == "image pair"


def _naive_groups(keys: list[Any], inside: list[bool]) -> set[frozenset[int]]:
    members = defaultdict(set)
    for query, (key, counted) in enumerate(zip(keys, inside, strict=True)):
        if counted:
            members[key].add(query)
    return {frozenset(group) for group in members.values() if len(group) > 1}


def _groups(split: Split, subset: Subset) -> set[frozenset[int]]:
    numbers = split.paraphrase_groups[subset]
    return {frozenset(np.flatnonzero(numbers == number).tolist()) for number in range(int(numbers.max()) + 1)}


def test_paraphrases_share_their_images_on_all_and_their_base_query_on_original(
    pinpoint: Split, rows: Rows, bases: dict[str, list[int]]
) -> None:
    pairs = [_pair(row) for row in rows]
    everything = _groups(pinpoint, Subset.ALL)
    assert everything == _naive_groups(pairs, [True] * len(rows))
    assert len(everything) == 1_221
    assert max(map(len, everything)) == 754
    numbers = [bases[row["query_id"]][0] for row in rows]
    original = pinpoint.subsets[Subset.ORIGINAL].tolist()
    assert _groups(pinpoint, Subset.ORIGINAL) == _naive_groups(numbers, original)


def test_clean_fits_the_same_upload(pinpoint: Split, pinpoint_clean: Split) -> None:
    assert pinpoint_clean.query_ids == pinpoint.query_ids
    assert bundle.fit_key(pinpoint_clean) == bundle.fit_key(pinpoint)
    assert bundle.digest(pinpoint_clean) != bundle.digest(pinpoint)
    for name in ("query", "image", "positive", "negative"):
        assert np.array_equal(getattr(pinpoint_clean.judgments, name), getattr(pinpoint.judgments, name))


def test_clean_leaves_contradictory_rows_out_and_counts_distinct_images(pinpoint_clean: Split, rows: Rows) -> None:
    consistent = [not set(row["positive_candidates"]) & set(row["negative_candidates"]) for row in rows]
    assert consistent.count(False) == 310
    assert pinpoint_clean.subsets[Subset.ALL].tolist() == consistent
    assert not (pinpoint_clean.subsets[Subset.ORIGINAL] & ~pinpoint_clean.subsets[Subset.ALL]).any()
    judged = pinpoint_clean.judgments
    assert judged.positives_released.tolist() == [len(set(row["positive_candidates"])) for row in rows]
    assert judged.negatives_released.tolist() == [len(set(row["negative_candidates"]) - {None}) for row in rows]
    pairs = [_pair(row) for row in rows]
    assert _groups(pinpoint_clean, Subset.ALL) == _naive_groups(pairs, consistent)


def test_json_lines_and_parquet_are_the_same_split(copy_of: Callable[[str], Path], pinpoint: Split) -> None:
    folder = copy_of("pinpoint")
    (folder / "pinpoint_licensed.parquet").unlink()
    assert bundle.digest(read_pinpoint(folder)) == bundle.digest(pinpoint)


def test_clean_without_the_base_query_file(without_bases: Path) -> None:
    split = read_pinpoint_clean(without_bases)
    assert int(split.subsets[Subset.ALL].sum()) == 7_635 - 310
    assert split.cluster_name == "image pair"
