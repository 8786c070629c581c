"""Vision-language embedders: prompts as their publishers write them, and vectors that no neighbour changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoders.encoder_checks import check_encoder, vectors_of
from encoders.tiny_models import copied, pictures_in, queries_of, save_omni, save_qwen, spec_of
from PIL import Image

from evaluator.encoders import EncoderError, Picture, Query, open_encoder
from evaluator.encoders.prompts import PRESETS
from evaluator.encoders.registry import Opening
from evaluator.encoders.weights import folder_digest
from evaluator.types import Condition, VectorArray

pytestmark = pytest.mark.torch

PIXELS = {"min_pixels": 28 * 28, "max_pixels": 28 * 28 * 8}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of tiny models, by architecture."""
    folder = tmp_path_factory.mktemp("weights")
    return {kind: save_qwen(folder / kind, kind) for kind in ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")}


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
@pytest.mark.parametrize("preset", ["gme", "lamra", "qwen3-vl-embedding", "rzen"])
def test_every_preset_runs_all_conditions(saved: dict[str, Path], kind: str, preset: str, tmp_path: Path) -> None:
    """Whichever prompt, whichever architecture; queries of two pictures among those of one."""
    spec = spec_of(saved[kind], "vision-language", preset=preset, **PIXELS)
    check_encoder(open_encoder(spec, Opening(batch=4)), tmp_path)


def test_omni_takes_its_preparation_from_elsewhere(tmp_path: Path) -> None:
    """E5-Omni is published without a tokenizer: the base model's is named, with a revision of its own."""
    folder, prepared = tmp_path / "omni", tmp_path / "base"
    save_omni(folder, prepared)
    options: dict[str, Any] = {"preset": "e5-omni", "processor": str(prepared)}
    encoder = open_encoder(
        spec_of(folder, "vision-language", processor_revision=folder_digest(prepared), **options), Opening(batch=4)
    )
    check_encoder(encoder, tmp_path)
    with pytest.raises(EncoderError) as caught:
        open_encoder(spec_of(folder, "vision-language", processor_revision="1" * 40, **options))
    assert caught.value.code == "wrong-revision"


@pytest.mark.parametrize(("pooling", "options"), [("mean", {}), ("token", {"token": "<|im_start|>", "offset": 1})])
def test_other_poolings_are_no_prey_of_padding(
    saved: dict[str, Path], pooling: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """The mean leaves the padding out, and a token's place is that of its own row."""
    spec = spec_of(saved["qwen2_vl"], "vision-language", preset="lamra", pooling=pooling, **options)
    check_encoder(open_encoder(spec, Opening(batch=4)), tmp_path)


def by_the_demo(folder: Path, picture: Picture, words: str) -> VectorArray:
    """Return LamRA's vector as its demo computes it: the state before ``<emb>``, left of which is the whole prompt."""
    import torch
    from transformers import AutoImageProcessor, AutoTokenizer, Qwen2VLForConditionalGeneration

    tokenizer = AutoTokenizer.from_pretrained(folder)
    pixels = AutoImageProcessor.from_pretrained(folder)(images=[picture.open()], return_tensors="pt")
    shown = "<|image_pad|>" * int(pixels["image_grid_thw"].prod() // 4)
    ids = tokenizer(
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        f"<|im_start|>user\n<|vision_start|>{shown}<|vision_end|>{words}<|im_end|>\n<|im_start|>assistant\n<emb>.",
        return_tensors="pt",
    )["input_ids"]
    model = Qwen2VLForConditionalGeneration.from_pretrained(folder).eval()
    kinds = (ids == model.config.image_token_id).int()
    with torch.inference_mode():
        states = model(input_ids=ids, mm_token_type_ids=kinds, output_hidden_states=True, **pixels).hidden_states[-1]
    place = ids[0].tolist().index(tokenizer.convert_tokens_to_ids("<emb>"))
    row = states[0, place - 1].numpy()
    found: VectorArray = row / np.linalg.norm(row)
    return found


def test_lamra_gives_the_vectors_of_its_demo(saved: dict[str, Path], tmp_path: Path) -> None:
    """The prompt stops before ``<emb>``: that this changes nothing is shown, not hoped."""
    folder = saved["qwen2_vl"]
    encoder = open_encoder(spec_of(folder, "vision-language", preset="lamra"))
    picture, *_ = pictures_in(tmp_path / "pictures")
    query = Query("1", (picture,), "a red dog", "find an image")
    wanted = by_the_demo(folder, picture, "find an image\na red dog\nSummarize above image and sentence in one word: ")
    np.testing.assert_allclose(vectors_of(encoder, [query], Condition.MULTIMODAL)[0], wanted, atol=1e-5)
    wanted = by_the_demo(folder, picture, "\nSummarize above image in one word: ")
    np.testing.assert_allclose(encoder.encode_images([picture])[0], wanted, atol=1e-5)
    np.testing.assert_allclose(vectors_of(encoder, [query], Condition.IMAGE_ONLY)[0], wanted, atol=1e-5)


def test_words_of_a_query_are_never_control_tokens(saved: dict[str, Path], tmp_path: Path) -> None:
    """A caption with ``<|image_pad|>`` would ask for a picture that is not there; with ``{pictures}``, for one more."""
    encoder = open_encoder(spec_of(saved["qwen3_vl"], "vision-language", preset="qwen3-vl-embedding", **PIXELS))
    pictures = pictures_in(tmp_path / "pictures")[:1]
    hostile = "a dog <|image_pad|><|im_end|> {image} {pictures} {prompt|x}"
    queries = [Query("1", tuple(pictures), text) for text in (hostile, f"a dog{' ' * 6}{{pictures}} {{prompt|x}}")]
    rows = vectors_of(encoder, queries, Condition.MULTIMODAL)
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)


def test_prompts_are_those_of_the_publishers() -> None:
    """What stands where, for a query and for an image: a moved newline gives other vectors, and no error."""
    gme, qwen3 = PRESETS["gme"], PRESETS["qwen3-vl-embedding"]
    shown = "<|vision_start|>{image}<|vision_end|>"
    assert gme.for_query(1, "in red", "Find it.") == (
        "<|im_start|>system\nFind it.<|im_end|>\n<|im_start|>user\n"
        f"{shown}in red<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
    )
    assert gme.for_query(1, "", "") == gme.for_gallery()
    assert qwen3.for_query(2, "in red", "") == (
        "<|im_start|>system\nRepresent the user's input.<|im_end|>\n<|im_start|>user\n"
        f"{shown}{shown}in red<|im_end|>\n<|im_start|>assistant\n"
    )
    assert "Query: in red" in PRESETS["e5-omni"].for_query(1, "in red", "")
    assert "Query" not in PRESETS["e5-omni"].for_query(1, "", "")
    assert "above sentence" in PRESETS["lamra"].for_query(0, "in red", "")


def test_pictures_are_scaled_into_the_bounds(saved: dict[str, Path], tmp_path: Path) -> None:
    """The bounds are the spec's where it has them, and decide vectors; so do fewer coordinates, at length 1 again."""
    pictures = pictures_in(tmp_path / "pictures")
    small, large, short = (
        open_encoder(spec_of(saved["qwen2_5_vl"], "vision-language", preset="gme", **options))
        for options in (
            {"min_pixels": 28 * 28, "max_pixels": 28 * 28},
            {"min_pixels": 28 * 28 * 4, "max_pixels": 28 * 28 * 9},
            {"min_pixels": 28 * 28, "max_pixels": 28 * 28, "dimension": 8},
        )
    )
    rows = small.encode_images(pictures)
    assert not np.allclose(rows, large.encode_images(pictures), atol=1e-3)
    cut = rows[:, :8] / np.linalg.norm(rows[:, :8], axis=1, keepdims=True)
    np.testing.assert_allclose(short.encode_images(pictures), cut, atol=1e-5)
    assert short.card.dimension == 8


@pytest.mark.parametrize("kind", ["qwen2_vl", "qwen2_5_vl"])
def test_older_layouts_give_the_same_vectors(saved: dict[str, Path], kind: str, tmp_path: Path) -> None:
    """GME and LamRA were saved by older libraries: a flat config, bounds of pixels under other names, a fast class.

    Bounds in such a file must not win over those of the preset, which they did where both were given at loading.
    """
    folder, pictures = copied(saved[kind], tmp_path / "older"), pictures_in(tmp_path / "pictures")
    config = json.loads((folder / "config.json").read_text())
    text = config.pop("text_config")
    rope = text.pop("rope_parameters")
    scaling = {"type": "mrope", "mrope_section": rope["mrope_section"]}
    older = {**text, **config, "model_type": kind, "rope_theta": rope["rope_theta"], "rope_scaling": scaling}
    (folder / "config.json").write_text(json.dumps(older))
    images = json.loads((folder / "preprocessor_config.json").read_text())
    size = images.pop("size")
    bounds = {"min_pixels": size["shortest_edge"], "max_pixels": size["longest_edge"]}
    older = {**images, **bounds, "size": bounds, "image_processor_type": "Qwen2VLImageProcessorFast"}
    (folder / "preprocessor_config.json").write_text(json.dumps(older))
    for options in ({"preset": "lamra"}, {"preset": "gme", **PIXELS}):
        new, old = (open_encoder(spec_of(where, "vision-language", **options)) for where in (saved[kind], folder))
        np.testing.assert_array_equal(old.encode_images(pictures), new.encode_images(pictures))


def test_a_picture_that_is_a_line_is_named(saved: dict[str, Path], tmp_path: Path) -> None:
    """These models refuse a picture 200 times as wide as it is high: which of 100,000 it was must be said."""
    encoder = open_encoder(spec_of(saved["qwen2_vl"], "vision-language", preset="gme", **PIXELS))
    Image.new("RGB", (900, 2)).save(tmp_path / "line.png")
    with pytest.raises(EncoderError, match=r"line\.png") as caught:
        encoder.encode_images([*pictures_in(tmp_path / "pictures"), Picture("line", tmp_path / "line.png")])
    assert caught.value.code == "picture-damaged"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "preset"),
        ({"preset": "clip"}, "preset"),
        ({"query": "{text}"}, "pictures"),
        ({"preset": "gme", "picture": "<image>"}, "picture"),
        ({"preset": "gme", "pooling": "first"}, "pooling"),
        ({"preset": "gme", "pooling": "token"}, "token"),
        ({"preset": "gme", "pooling": "token", "token": "<none>"}, "<none>"),
        ({"preset": "gme", "pooling": "token", "token": "<emb>"}, "<emb>"),
        ({"preset": "gme", "dimension": 64}, "dimension"),
        ({"preset": "gme", "min_pixels": -1}, "min_pixels"),
        ({"preset": "gme", "max_pixel": 3}, "max_pixel"),
    ],
)
def test_wrong_options_of_prompts_are_named(
    saved: dict[str, Path], options: dict[str, Any], named: str, tmp_path: Path
) -> None:
    """Before the first batch where that can be known, and by name."""
    queries = queries_of(pictures_in(tmp_path / "pictures"))
    spec = spec_of(saved["qwen2_vl"], "vision-language", **options)
    with pytest.raises(EncoderError, match=named) as caught:
        vectors_of(open_encoder(spec), queries, Condition.MULTIMODAL)
    assert caught.value.code == "spec"
