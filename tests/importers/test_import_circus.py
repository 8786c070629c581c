"""CIRCUS from the original annotations and the index lists, against queries and counts derived elsewhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import protocols
from evaluator.types import Split, Subset
from leaderboard.importers import cirr, fashioniq, mbeir
from leaderboard.importers.circus import read_circus
from leaderboard.importers.official import Folders
from leaderboard.importers.refusal import ImportRefused


def _answers(data_folder: Path, dataset: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((data_folder / f"circus/{dataset}_queries.json").read_text("utf-8"))
    return rows


def test_cirr_rows_are_mbeirs_to_the_letter(data_folder: Path) -> None:
    rows = mbeir.cirr_rows(cirr.read_captions(Folders.of(data_folder / "cirr"), "val"))
    answers = _answers(data_folder, "cirr")
    assert len(rows) == len(answers) == 4_170
    for row, answer in zip(rows, answers, strict=True):
        assert (row.text, row.reference) == (answer["query_text"], answer["reference"])
        assert list(row.positives) == answer["all_positives"]
        assert list(row.sources) == [str(pairid) for pairid in answer["pairids"]]


def test_fashioniq_rows_are_mbeirs_to_the_letter(data_folder: Path) -> None:
    rows = mbeir.fashioniq_rows(fashioniq.read_captions(Folders.of(data_folder / "fashioniq")))
    answers = _answers(data_folder, "fashioniq")
    assert len(rows) == len(answers) == 6_003
    for row, answer in zip(rows, answers, strict=True):
        assert (row.text, row.reference) == (answer["query_text"], answer["reference"])
        assert list(row.positives) == answer["all_positives"]
        assert list(row.sources) == [f"{category}-{number}" for category, number in answer["source"]]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ('  "a dog"\r\n', "A dog."),
        ("is it red?", "Is it red?"),
        ("Stop!", "Stop!"),
        ("éclair", "Éclair."),
        ('"', ""),
        ("  ", ""),
    ],
)
def test_text_is_cleaned_by_rule(text: str, cleaned: str) -> None:
    assert mbeir.clean_text(text) == cleaned


def test_circus_cirr_is_the_answer_row_by_row(circus_cirr: Split, data_folder: Path) -> None:
    answers = _answers(data_folder, "cirr")
    assert circus_cirr.protocol is protocols.CIRCUS_SINGLE
    assert circus_cirr.query_ids == tuple(str(answer["query_idx"]) for answer in answers)
    assert circus_cirr.texts == tuple(answer["query_text"] for answer in answers)
    targets = [circus_cirr.images[image] for image in circus_cirr.judgments.image]
    assert targets == [answer["target"] for answer in answers]
    assert circus_cirr.judgments.positive.all()
    assert circus_cirr.judgments.target.all()
    labels = [answer["sf_label"] in ("composition_required", "unresolved") for answer in answers]
    assert circus_cirr.subsets[Subset.SF].tolist() == labels
    assert circus_cirr.subsets[Subset.V].tolist() == [bool(answer["validated"]) for answer in answers]
    assert all(circus_cirr.query_index[answer["mbeir_qid"]] == answer["query_idx"] for answer in answers)


def test_circus_cirr_ranks_all_images_and_keeps_the_reference(circus_cirr: Split) -> None:
    assert [gallery.size for gallery in circus_cirr.galleries] == [21_551]
    assert not circus_cirr.protocol.remove_reference
    assert int(circus_cirr.clusters.max()) + 1 == 503
    assert {subset: int(mask.sum()) for subset, mask in circus_cirr.subsets.items()} == {
        Subset.FULL: 4_170,
        Subset.SF: 685,
        Subset.V: 303,
    }


def test_a_file_over_the_val_gallery_is_told_so(circus_cirr: Split, cirr_val: Split) -> None:
    by_name = {other.name: other for other in circus_cirr.lookalikes}
    assert by_name["cirr-val"].images == frozenset(cirr_val.images)
    assert by_name["cirr-val"].sentence == (  # true whether the queries, the images or both are cirr-val's
        "cirr-val takes rankings of val's 2,297 images, keyed by pairid; here you need rankings of all 21,551 CIRR "
        "images, keyed by row number (query_idx)."
    )
    assert by_name["cirr-test1"].query_ids


def test_circus_fashioniq_has_v_in_two_strata_and_says_why_sf_is_absent(
    circus_fashioniq: Split, data_folder: Path
) -> None:
    answers = _answers(data_folder, "fashioniq")
    validated = circus_fashioniq.subsets[Subset.V]
    strata = circus_fashioniq.strata[Subset.V]
    assert validated.tolist() == [answer["validated"] is not None for answer in answers]
    assert np.bincount(strata[validated]).tolist() == [368, 218]
    names = {"validated_solved": 0, "validated_unsolved": 1, None: -1}
    assert strata.tolist() == [names[answer["validated"]] for answer in answers]
    assert set(circus_fashioniq.absent) == {Subset.SF}
    assert "4,069" in circus_fashioniq.absent[Subset.SF]
    assert int(circus_fashioniq.clusters.max()) + 1 == 4_315


def test_circus_fashioniq_accepts_any_asin_unseen(circus_fashioniq: Split, data_folder: Path) -> None:
    (gallery,) = circus_fashioniq.galleries
    assert gallery.pattern is not None
    for path in (data_folder / "fashioniq/image_splits").glob("*.json"):
        assert all(re.fullmatch(gallery.pattern, name) for name in json.loads(path.read_text("utf-8")))
    assert not re.fullmatch(gallery.pattern, "B0084Y8XIU.jpg")


def test_circus_circo_counts_every_ground_truth(circus_circo: Split, circo_val: Split) -> None:
    assert circus_circo.protocol is protocols.CIRCUS_MULTI
    assert {subset: int(mask.sum()) for subset, mask in circus_circo.subsets.items()} == {
        Subset.FULL: 220,
        Subset.SF: 56,
        Subset.V: 42,
    }
    for name in ("query", "image", "positive", "target"):
        assert np.array_equal(getattr(circus_circo.judgments, name), getattr(circo_val.judgments, name))
    assert int(circus_circo.clusters.max()) + 1 == 220
    assert not circus_circo.strata


@pytest.mark.parametrize("name", ["circus_cirr", "circus_fashioniq", "circus_circo"])
def test_v_lies_in_sf_lies_in_full(name: str, request: pytest.FixtureRequest) -> None:
    split: Split = request.getfixturevalue(name)
    masks = [split.subsets[subset] for subset in split.protocol.subsets if subset in split.subsets]
    for wide, narrow in pairwise(masks):
        assert not (narrow & ~wide).any()


def test_without_any_list_both_subsets_are_absent(data_folder: Path) -> None:
    split = read_circus("circo", data_folder / "circo")
    assert set(split.subsets) == {Subset.FULL}
    assert set(split.absent) == {Subset.SF, Subset.V}


def _spoiled_list(data_folder: Path, tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    folder = tmp_path / "lists"
    shutil.copytree(data_folder / "circus", folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    value = json.loads((folder / name).read_text("utf-8"))
    change(value)
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "circo_validated_query_indices.json",
            lambda value: value["validated_solved"].pop(),
            "V queries, composition_required: expected 39, found 38",
        ),
        (
            "circo_validated_query_indices.json",
            lambda value: value["validated_unsolved"].__setitem__(0, 0),
            "V queries that are not unresolved in SF: expected none, found 1: 0",
        ),
        (
            "circo_shortcut_free_query_indices.json",
            lambda value: value["composition_required"].__setitem__(0, 9_999),
            "SF queries that are not in Full: expected none, found 1: 9999",
        ),
        (
            "circo_shortcut_free_query_indices.json",
            lambda value: value["unresolved"].__setitem__(0, value["composition_required"][0]),
            "SF queries with two labels",
        ),
        (
            "circo_shortcut_free_query_indices.json",
            lambda value: value.__setitem__("unresolved", ["134"]),
            "field 'unresolved': expected numbers",
        ),
    ],
)
def test_a_list_that_is_there_must_be_the_published_one(
    data_folder: Path, tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    folder = _spoiled_list(data_folder, tmp_path, name, change)
    with pytest.raises(ImportRefused, match=re.escape(message)):
        read_circus("circo", data_folder / "circo", folder)
