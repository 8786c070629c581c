"""The world and its pictures: complete, in no telling order, and the same on every run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image

import demo
from demo.drawing import PAINT
from demo.scenes import ATTRIBUTES, TWINS

PIXELS = "b7dcd3259c54d133f43a0314fa9475f8627599c48a8d999fe883185337620e9b"
"""SHA-256 over the RGB bytes of all pictures, in gallery order."""


def test_every_combination_of_five_attributes_is_there_once_and_some_have_a_twin() -> None:
    scenes = demo.gallery()
    plain = {scene for scene in scenes if scene.finish == "plain"}
    outlined = {scene for scene in scenes if scene.finish == "outlined"}
    every = {demo.Scene(*values) for values in product(*list(ATTRIBUTES.values())[:5])}
    assert plain == every
    assert len(outlined) == TWINS
    assert len(scenes) == len(plain) + len(outlined) == 580


def test_image_ids_are_in_byte_order_which_is_the_gallery_order_of_the_tie_rule() -> None:
    ids = demo.image_ids()
    assert ids[0] == "scene-0001"
    assert list(ids) == sorted(ids)
    assert len(ids) == len(demo.gallery())


def test_the_gallery_order_tells_nothing_about_what_scenes_show() -> None:
    half = Counter(scene.colour for scene in demo.gallery()[:290])
    assert all(30 <= number <= 66 for number in half.values())


def test_pictures_are_the_same_on_every_run(demo_folder: Path) -> None:
    whole = hashlib.sha256()
    for image in demo.image_ids():
        with Image.open(demo_folder / "images" / f"{image}.png") as picture:
            assert picture.size == (144, 144)
            whole.update(picture.convert("RGB").tobytes())
    assert whole.hexdigest() == PIXELS


def test_a_picture_shows_its_colour_where_the_scene_says() -> None:
    for place, columns in (("left", slice(0, 72)), ("right", slice(72, 144))):
        pixels = np.asarray(demo.render(demo.Scene("square", "red", "one", "large", place)), dtype=int)
        is_red = np.abs(pixels - PAINT["red"]).sum(axis=-1) < 12
        assert is_red[:, columns].sum() > 1000
        assert is_red.sum() == is_red[:, columns].sum()


def test_more_and_larger_objects_cover_more() -> None:
    def covered(number: str, size: str) -> int:
        pixels = np.asarray(demo.render(demo.Scene("circle", "blue", number, size, "middle")), dtype=int)
        return int((np.abs(pixels - PAINT["blue"]).sum(axis=-1) < 12).sum())

    assert covered("one", "small") < covered("two", "small") < covered("three", "small") < covered("three", "large")


def test_twins_look_nearly_the_same_and_still_differ() -> None:
    twin = next(scene for scene in demo.gallery() if scene.finish == "outlined")
    one, other = (np.asarray(demo.render(scene), dtype=int) for scene in (twin, twin.twin))
    changed = (np.abs(one - other).sum(axis=-1) > 30).mean()
    assert 0 < changed < 0.1


def test_splits_are_built_without_pillow_and_whatever_the_hash_seed() -> None:
    code = (
        "import sys; sys.modules['PIL'] = None\n"
        "import demo; from evaluator import bundle\n"
        "print(*(bundle.digest(demo.build(kind)) for kind in demo.BUILDERS))"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            cwd=Path(demo.__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1]
    assert len(made[0].split()) == 2
