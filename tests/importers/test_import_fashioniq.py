"""FashionIQ val: three categories, each over its original gallery."""

from __future__ import annotations

import json
from pathlib import Path

from evaluator import protocols
from evaluator.types import Split


def test_the_three_original_galleries(fashioniq_val: Split, data_folder: Path) -> None:
    assert {gallery.name: gallery.size for gallery in fashioniq_val.galleries} == {
        "dress": 3_817,
        "shirt": 6_346,
        "toptee": 5_373,
    }
    union: set[str] = set()
    for gallery in fashioniq_val.galleries:
        path = data_folder / f"fashioniq/image_splits/split.{gallery.name}.val.json"
        names = set(json.loads(path.read_text("utf-8")))
        assert {fashioniq_val.images[image] for image in gallery.images} == names
        union |= names
    assert set(fashioniq_val.images) == union


def test_every_row_is_a_query_of_its_category(fashioniq_val: Split, data_folder: Path) -> None:
    assert fashioniq_val.protocol is protocols.FASHIONIQ
    assert len(fashioniq_val) == 2_017 + 2_038 + 1_961
    query = 0
    for number, category in enumerate(("dress", "shirt", "toptee")):
        path = data_folder / f"fashioniq/captions/cap.{category}.val.json"
        for position, row in enumerate(json.loads(path.read_text("utf-8"))):
            assert fashioniq_val.query_ids[query] == f"{category}-{position}"
            assert fashioniq_val.gallery_of[query] == number
            assert fashioniq_val.groups["category"][category][query]
            (reference,) = fashioniq_val.references[query]
            assert fashioniq_val.images[reference] == row["candidate"]
            assert fashioniq_val.images[fashioniq_val.judgments.image[query]] == row["target"]
            query += 1
    assert fashioniq_val.judgments.query.tolist() == list(range(query))


def test_clusters_are_references_across_categories(fashioniq_val: Split) -> None:
    """4,326 references counted by category are 4,315 images: eleven serve two categories."""
    assert int(fashioniq_val.clusters.max()) + 1 == len(set(fashioniq_val.references)) == 4_315


def test_the_text_is_both_captions_joined_and_an_empty_one_adds_no_and(fashioniq_val: Split) -> None:
    assert fashioniq_val.texts[0] == "is shiny and silver with shorter sleeves and fit and flare"
    empty_first = fashioniq_val.query_index["shirt-1928"]
    assert fashioniq_val.texts[empty_first] == "is grey with a design on the back"
