"""CIRCO's official files, with and without a list of the gallery."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator import bundle, protocols
from evaluator.types import Split
from leaderboard.importers.circo import ASPECTS, GALLERY_SIZE, read_circo_val
from leaderboard.importers.refusal import ImportRefused


@pytest.fixture
def gallery_ids(circo_val: Split) -> list[int]:
    """Return as many ids as unlabeled2017 has, among them all that the annotations name."""
    named = {int(name) for name in circo_val.images}
    others = (number for number in range(1, 600_000) if number not in named)
    return sorted([*named, *(next(others) for _ in range(GALLERY_SIZE - len(named)))])


def test_val_says_what_its_file_says(circo_val: Split, data_folder: Path) -> None:
    rows = json.loads((data_folder / "circo/annotations/val.json").read_text("utf-8"))
    assert circo_val.protocol is protocols.CIRCO
    assert circo_val.query_ids == tuple(str(number) for number in range(220))
    judged = circo_val.judgments
    for query, row in enumerate(rows):
        lines = judged.query == query
        images = [circo_val.images[image] for image in judged.image[lines & judged.positive]]
        assert sorted(images) == sorted(str(number) for number in row["gt_img_ids"])
        assert judged.positives_released[query] == len(row["gt_img_ids"])
        (target,) = judged.image[lines & judged.target]
        assert circo_val.images[target] == str(row["target_img_id"])
        assert {name for name, mask in circo_val.groups["aspect"].items() if mask[query]} == set(
            row["semantic_aspects"]
        )
    assert {name: int(mask.sum()) for name, mask in circo_val.groups["aspect"].items()} == ASPECTS


def test_test_has_800_queries_and_no_truth(circo_test: Split) -> None:
    assert len(circo_test) == 800
    assert circo_test.hidden_truth
    assert len(circo_test.judgments) == 0
    assert circo_test.groups == {}


def test_without_a_list_the_gallery_is_open(circo_val: Split) -> None:
    (gallery,) = circo_val.galleries
    assert gallery.is_open
    assert gallery.pattern is not None
    assert re.fullmatch(gallery.pattern, "581929")
    assert not [text for text in ("0", "012", "1234567", "12.jpg", "-3", "１２") if re.fullmatch(gallery.pattern, text)]
    assert all(re.fullmatch(gallery.pattern, name) for name in circo_val.images)


def test_one_upload_fits_both_boards(circo_val: Split, circus_circo: Split) -> None:
    assert bundle.fit_key(circo_val) == bundle.fit_key(circus_circo)
    assert circo_val.query_index["circo_q_test_7"] == circus_circo.query_index["circo_q_test_7"] == 7
    assert circo_val.image_prefix == circus_circo.image_prefix == "circo_img_"


def _write_coco(folder: Path, ids: list[int]) -> None:
    images = [{"id": number, "file_name": f"{number:012}.jpg"} for number in ids]
    (folder / "annotations/image_info_unlabeled2017.json").write_text(json.dumps({"images": images}))


def _write_plain(folder: Path, ids: list[int]) -> None:
    (folder / "unlabeled2017_ids.txt").write_text("".join(f"{number}\n" for number in ids))


def _write_file_names(folder: Path, ids: list[int]) -> None:
    (folder / "unlabeled2017_ids.txt").write_text("".join(f"{number:012}.jpg\r\n" for number in ids))


@pytest.mark.parametrize("write", [_write_coco, _write_plain, _write_file_names])
def test_each_kind_of_list_closes_the_gallery(
    write: Callable[[Path, list[int]], None], copy_of: Callable[[str], Path], gallery_ids: list[int]
) -> None:
    folder = copy_of("circo")
    write(folder, gallery_ids)
    split = read_circo_val(folder)
    assert [gallery.size for gallery in split.galleries] == [GALLERY_SIZE]
    assert set(split.images) == {str(number) for number in gallery_ids}
    assert list(split.images) == sorted(split.images, key=str.encode)


def test_a_list_of_another_length_is_refused(copy_of: Callable[[str], Path], gallery_ids: list[int]) -> None:
    folder = copy_of("circo")
    _write_plain(folder, gallery_ids[1:])
    with pytest.raises(ImportRefused, match="images: expected 123,403, found 123,402"):
        read_circo_val(folder)


def test_a_list_without_a_ground_truth_is_refused(copy_of: Callable[[str], Path], gallery_ids: list[int]) -> None:
    folder = copy_of("circo")
    _write_plain(folder, [number if number != 355_099 else 599_999 for number in gallery_ids])
    with pytest.raises(ImportRefused, match="355099"):
        read_circo_val(folder)
