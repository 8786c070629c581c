"""CLIP-like towers: what the fusions compute, and what a condition's stand-in does in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoders.encoder_checks import check_encoder, vectors_of
from encoders.tiny_models import pictures_in, queries_of, save_clip, save_siglip, save_siglip2, spec_of
from hypothesis import given
from hypothesis import strategies as st

from evaluator.encoders import EncoderError, Query, open_encoder
from evaluator.encoders.fusing import slerp, weighted
from evaluator.encoders.registry import Opening
from evaluator.types import Condition

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny CLIP."""
    return save_clip(tmp_path_factory.mktemp("weights") / "clip")


@pytest.mark.parametrize("save", [save_clip, save_siglip, save_siglip2])
@pytest.mark.parametrize("options", [{}, {"fusion": "slerp", "weight": 0.7}], ids=["average", "slerp"])
def test_towers_run_all_conditions(save: Callable[[Path], Path], options: dict[str, Any], tmp_path: Path) -> None:
    """Both architectures, saved and loaded as published ones are."""
    check_encoder(open_encoder(spec_of(save(tmp_path / "weights"), "dual", **options), Opening(batch=4)), tmp_path)


def test_siglip_reads_texts_padded_to_its_length(tmp_path: Path) -> None:
    """SigLIP pools its last place: without the padding it was trained with, every text would get another vector."""
    import torch
    from transformers import AutoTokenizer, SiglipModel

    folder = save_siglip(tmp_path / "siglip")
    encoder = open_encoder(spec_of(folder, "dual", missing="left-out"))
    found = encoder.encode_queries([Query("1", (), "a red dog")], Condition.TEXT_ONLY)
    ids = AutoTokenizer.from_pretrained(folder)(
        ["a red dog"], padding="max_length", max_length=24, return_tensors="pt"
    )["input_ids"]
    with torch.inference_mode():
        wanted = SiglipModel.from_pretrained(folder).get_text_features(ids).pooler_output.numpy()
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted), atol=1e-5)


def test_average_is_the_sum_of_unit_vectors(clip: Path, tmp_path: Path) -> None:
    """By hand, from the two towers alone; two reference pictures count as their mean."""
    towers = open_encoder(spec_of(clip, "dual", missing="left-out"))
    fused = open_encoder(spec_of(clip, "dual"))
    pictures = pictures_in(tmp_path / "pictures")
    queries = queries_of(pictures)
    texts = vectors_of(towers, queries, Condition.TEXT_ONLY)
    images = vectors_of(towers, queries, Condition.IMAGE_ONLY)
    mean = towers.encode_images(pictures[:2]).sum(axis=0)
    np.testing.assert_allclose(images[-1], mean / np.linalg.norm(mean), atol=1e-6)
    wanted = texts + images
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors_of(fused, queries, Condition.MULTIMODAL), wanted, atol=1e-6)


def test_strict_conditions_fuse_the_stand_in(clip: Path, tmp_path: Path) -> None:
    """Decision 37 to the letter: the black picture and the empty text are encoded, and take part."""
    strict, left_out = (open_encoder(spec_of(clip, "dual", missing=name)) for name in ("stand-in", "left-out"))
    queries = queries_of(pictures_in(tmp_path / "pictures"))[:3]
    for condition in (Condition.TEXT_ONLY, Condition.IMAGE_ONLY):
        assert not np.allclose(
            vectors_of(strict, queries, condition), vectors_of(left_out, queries, condition), atol=1e-3
        )
    empty = left_out.encode_queries([Query("", (), "")], Condition.TEXT_ONLY)
    alone = vectors_of(left_out, queries, Condition.IMAGE_ONLY)
    wanted = (alone + empty) / np.linalg.norm(alone + empty, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors_of(strict, queries, Condition.IMAGE_ONLY), wanted, atol=1e-6)
    assert "black" in strict.card.conditions[Condition.TEXT_ONLY]
    assert "alone" in left_out.card.conditions[Condition.TEXT_ONLY]


def test_score_fusion_ranks_as_the_sum_of_scores(clip: Path, tmp_path: Path) -> None:
    """The docstring's claim, on real numbers: one product with the fused vector orders images as both scores do."""
    score = open_encoder(spec_of(clip, "dual", fusion="score", weight=0.3))
    towers = open_encoder(spec_of(clip, "dual", missing="left-out"))
    pictures = pictures_in(tmp_path / "pictures")
    queries, gallery = queries_of(pictures), towers.encode_images(pictures)
    by_hand = 0.7 * vectors_of(towers, queries, Condition.IMAGE_ONLY) @ gallery.T
    by_hand += 0.3 * vectors_of(towers, queries, Condition.TEXT_ONLY) @ gallery.T
    found = vectors_of(score, queries, Condition.MULTIMODAL) @ gallery.T
    np.testing.assert_array_equal(np.argsort(-found, axis=1), np.argsort(-by_hand, axis=1))


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_slerp_stays_on_the_arc(seed: int, weight: float) -> None:
    """Its angle to the picture is the weight's share of the whole angle; at the ends it is the ends."""
    left, right = np.random.default_rng(seed).standard_normal((2, 4, 6)).astype(np.float32)
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    found = slerp(left, right, weight)
    whole = np.arccos(np.clip((left * right).sum(axis=1), -1, 1))
    np.testing.assert_allclose(np.arccos(np.clip((left * found).sum(axis=1), -1, 1)), weight * whole, atol=2e-3)


def test_slerp_of_parallel_vectors_is_no_division_by_zero() -> None:
    """The same vector twice has no arc; NaN would spread into every rank."""
    row = np.eye(3, dtype=np.float32)[:1]
    np.testing.assert_array_equal(slerp(row, row, 0.3), row)
    np.testing.assert_array_equal(slerp(row, -row, 0.3), row)
    np.testing.assert_array_equal(weighted(row, row, 0.3), row)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"fusion": "sum"}, "fusion"),
        ({"weight": 0.7}, "weight"),
        ({"fusion": "slerp", "weight": 2}, "weight"),
        ({"missing": "zero"}, "missing"),
        ({"instruction": "no"}, "instruction"),
        ({"wieght": 0.5}, "wieght"),
    ],
)
def test_wrong_options_are_named(clip: Path, options: dict[str, Any], named: str) -> None:
    """A misspelt option that changed nothing would pass for a result."""
    with pytest.raises(EncoderError, match=named) as caught:
        open_encoder(spec_of(clip, "dual", **options))
    assert caught.value.code == "spec"
