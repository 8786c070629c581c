"""CIRR's own board and CIRCUS's on CIRR are two tasks: two files, two galleries, two sets of numbers (decision 3)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BOARDS = (("import_cirr", "cirr"), ("import_circus", "circus", "cirr", "fashioniq", "circo", "lasco"))


def near(target: str, gallery: list[str], chance: random.Random, length: int) -> list[str]:
    """Return a list that holds the target somewhere in the first hundred or so, or not at all."""
    rest = [image for image in chance.sample(gallery, length + 1) if image != target]
    rest.insert(int(chance.expovariate(1 / 25)), target)
    return rest[:length]


def recall(lists: list[tuple[str, list[str]]], k: int) -> float:
    return sum(target in images[:k] for target, images in lists) / len(lists)


@pytest.fixture
def val_file(data_folder: Path, tmp_path: Path) -> tuple[Path, dict[str, float]]:
    """Return a ranking over the val gallery and, from the annotations alone, what it must score."""
    captions = json.loads((data_folder / "cirr/captions/cap.rc2.val.json").read_text())
    gallery = sorted(json.loads((data_folder / "cirr/image_splits/split.rc2.val.json").read_text()))
    chance = random.Random(7)
    ranked, kept, subset_hits = {}, [], 0
    for row in captions:
        others = [image for image in row["img_set"]["members"] if image != row["reference"]]
        chance.shuffle(others)
        images = near(row["target_hard"], gallery, chance, 120)
        images = [*images[:60], *(member for member in others if member not in images[:60])]
        images.insert(3, row["reference"]) if row["reference"] not in images else None
        ranked[str(row["pairid"])] = images
        without = [image for image in images if image != row["reference"]]
        kept.append((row["target_hard"], without))
        subset_hits += next(image for image in without if image in others) == row["target_hard"]
    expected = {f"Recall@{k}": recall(kept, k) for k in (1, 5, 10, 50)}
    expected["Recall_subset@1"] = subset_hits / len(captions)
    expected["Mean(Recall@5,Recall_subset@1)"] = (expected["Recall@5"] + expected["Recall_subset@1"]) / 2
    path = tmp_path / "val.json"
    path.write_text(json.dumps(ranked))
    return path, expected


@pytest.fixture
def circus_file(data_folder: Path, tmp_path: Path) -> tuple[Path, dict[tuple[str, str], float]]:
    """Return a ranking over all 21,551 images and what it must score on Full, SF and V."""
    queries = json.loads((data_folder / "circus/cirr_queries.json").read_text())
    splits = [data_folder / f"cirr/image_splits/split.rc2.{name}.json" for name in ("val", "test1", "train")]
    gallery = sorted(image for path in splits for image in json.loads(path.read_text()))
    lists = {"Full": set(range(len(queries)))}
    for subset, name in (("SF", "shortcut_free"), ("V", "validated")):
        given = json.loads((data_folder / f"circus/cirr_{name}_query_indices.json").read_text())
        lists[subset] = {number for numbers in given.values() if isinstance(numbers, list) for number in numbers}
    chance = random.Random(11)
    ranked = [(row["target"], near(row["target"], gallery, chance, 50)) for row in queries]
    expected = {
        (subset, f"Recall@{k}"): recall([ranked[number] for number in numbers], k)
        for subset, numbers in lists.items()
        for k in (1, 5, 10, 50)
    }
    path = tmp_path / "circus.json"
    path.write_text(json.dumps({number: images for number, (_, images) in enumerate(ranked)}))
    return path, expected


def test_each_file_gets_the_numbers_of_a_few_line_oracle(
    boards: Callable[..., None],
    send_by_form: Callable[..., Any],
    val_file: tuple[Path, dict[str, float]],
    circus_file: tuple[Path, dict[tuple[str, str], float]],
) -> None:
    boards(*BOARDS)
    path, expected = val_file
    (evaluation,) = send_by_form("cirr-val", "random", multimodal=path).evaluations.all()
    found = dict(evaluation.entry.scores.filter(subset="Full", group="").values_list("measure", "value"))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12, rel=0)
    path, by_subset = circus_file
    (evaluation,) = send_by_form("circus-cirr", "random", multimodal=path).evaluations.all()
    rows = evaluation.entry.scores.filter(group="").values_list("subset", "measure", "value")
    values = {(subset, measure): value for subset, measure, value in rows}
    assert {key: values[key] for key in by_subset} == pytest.approx(by_subset, abs=1e-12, rel=0)


def test_a_val_file_sent_to_circus_is_told_which_gallery_it_ranked(
    boards: Callable[..., None],
    send_by_form: Callable[..., Any],
    client: Any,
    val_file: tuple[Path, dict[str, float]],
) -> None:
    boards(*BOARDS)
    submission = send_by_form("circus-cirr", "random", multimodal=val_file[0])
    assert submission.state == "invalid"
    assert submission.quota_state == "returned"
    page = client.get(f"/submissions/{submission.public_id}/").content.decode()
    assert "ranked over the cirr-val gallery" in page


def test_the_gallery_gives_a_file_away_even_with_the_right_query_ids(
    boards: Callable[..., None], send_by_form: Callable[..., Any], data_folder: Path, tmp_path: Path
) -> None:
    boards(*BOARDS)
    gallery = sorted(json.loads((data_folder / "cirr/image_splits/split.rc2.val.json").read_text()))
    chance = random.Random(3)
    path = tmp_path / "wrong-gallery.json"
    path.write_text(json.dumps({number: chance.sample(gallery, 50) for number in range(4170)}))
    submission = send_by_form("circus-cirr", "random", multimodal=path)
    assert submission.state == "invalid"
    assert any("ranked over the cirr-val gallery" in " ".join(fault.values()) for fault in submission.faults)
