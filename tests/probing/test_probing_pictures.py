"""Image ids -> files: what data sets call their pictures, what is missing, and what could be two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from probing.probing_bench import one_split

from demo.tiny import tiny_split
from evaluator.encoders import EncoderError
from evaluator.probing import find_pictures
from evaluator.types import Gallery, Split


def named(*images: str, prefix: str = "") -> Split:
    """Return a split whose images have these names; nothing else of it is looked at."""
    import numpy as np

    gallery = Gallery("all", np.arange(len(images), dtype=np.int32))
    return replace(one_split(), images=images, galleries=(gallery,), references=((0,),) * 12, image_prefix=prefix)


def put(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")


@pytest.mark.parametrize(
    ("image", "file"),
    [
        ("dev-12-img0", "dev-12-img0.png"),
        ("B0091QSKXC", "dress/B0091QSKXC.JPG"),
        ("a.b", "deep/er/a.b.webp"),
        ("42", "000000000042.jpg"),
        ("42", "COCO_val2014_000000000042.jpg"),
        ("000000000042", "COCO_train2014_000000000042.jpg"),
        ("COCO_val2014_000000000042", "000000000042.jpg"),
        ("42", "unlabeled2017/000000000042.jpg"),
        ("7", "circo_img_7.png"),
        ("circo_img_7", "7.png"),
        ("named.png", "named.png"),
        ("train/7", "train/7.png"),
    ],
)
def test_a_file_is_found_by_the_names_that_data_sets_use(image: str, file: str, tmp_path: Path) -> None:
    put(tmp_path, file, "other.png")
    pictures = find_pictures(tmp_path, named(image, prefix="circo_img_"))
    assert pictures.paths == (tmp_path / file,)
    pictures.demand()
    assert pictures.picture(0).id == image


def test_an_exact_name_comes_before_an_equal_number(tmp_path: Path) -> None:
    put(tmp_path, "7.png", "0007.png", "007.png")
    assert find_pictures(tmp_path, named("007", "7")).paths == (tmp_path / "007.png", tmp_path / "7.png")


def test_missing_ones_are_counted_and_named_with_what_to_do(tmp_path: Path) -> None:
    put(tmp_path, "a.png", "notes.txt", ".hidden.png")
    with pytest.raises(EncoderError, match=r"7 of 8 images, in .*: b, c, d, e, f, …") as refused:
        find_pictures(tmp_path, named(*"abcdefgh")).demand()
    assert refused.value.code == "picture-missing"
    assert "under the image's id" in str(refused.value)


def test_two_different_files_for_one_image_are_refused_and_two_equal_ones_are_not(tmp_path: Path) -> None:
    put(tmp_path, "one/a.png", "two/a.png", "b.png")
    with pytest.raises(EncoderError, match=r"1 of 2 images, in .*: a") as refused:
        find_pictures(tmp_path, named("a", "b")).demand()
    assert refused.value.code == "picture-ambiguous"
    (tmp_path / "two/a.png").write_text("one/a.png", encoding="utf-8")
    find_pictures(tmp_path, named("a", "b")).demand()


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    put(tmp_path / "real", "a.png")
    put(tmp_path / "given", "b.png")
    (tmp_path / "given/more").symlink_to(tmp_path / "real")
    (tmp_path / "given/round").symlink_to(tmp_path / "given")
    find_pictures(tmp_path / "given", named("a", "b")).demand()


def test_an_image_that_nobody_sees_needs_no_file(tmp_path: Path) -> None:
    """A split may know images that are in no gallery and no query."""
    import numpy as np

    split = replace(named("a", "b", "c"), galleries=(Gallery("some", np.array([0, 2], dtype=np.int32)),))
    put(tmp_path, "a.png", "c.png")
    find_pictures(tmp_path, split).demand()


def test_references_outside_every_gallery_are_seen(tmp_path: Path) -> None:
    split = tiny_split("cirr")
    assert find_pictures(tmp_path, split).missing == split.images


def test_a_folder_that_is_none_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="is no folder"):
        find_pictures(tmp_path / "nowhere", named("a"))
