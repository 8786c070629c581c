"""Weights that are not there, not whole or not those: each is told apart, and the message says what to do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoders.tiny_models import (
    copied,
    pictures_in,
    queries_of,
    save_clip,
    save_qwen,
    save_sentence_model,
    save_siglip,
    spec_of,
)

from evaluator.encoders import FAMILIES as FAMILIES_KNOWN
from evaluator.encoders import EncoderError, Picture, Spec, open_encoder
from evaluator.encoders.batching import Batches, lacks_memory
from evaluator.encoders.problems import PROBLEMS
from evaluator.encoders.registry import Opening
from evaluator.encoders.torch_side import open_side
from evaluator.encoders.weights import find_weights, folder_digest
from evaluator.types import Condition, VectorArray

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parent.parent.parent
FAMILIES = ("dual", "vision-language", "sentence-transformers")
OPTIONS: dict[str, dict[str, Any]] = {"vision-language": {"preset": "gme"}}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folder of a tiny model of each family."""
    folder = tmp_path_factory.mktemp("weights")
    return {
        "dual": save_clip(folder / "clip"),
        "vision-language": save_qwen(folder / "qwen", "qwen2_vl"),
        "sentence-transformers": save_sentence_model(folder / "sentences"),
    }


def refused(folder: Path, family: str, **opening: Any) -> EncoderError:
    """Return the error of loading what is in a folder now."""
    with pytest.raises(EncoderError) as caught:
        open_encoder(spec_of(folder, family, **OPTIONS.get(family, {})), Opening(**opening))
    assert PROBLEMS[caught.value.code][1] in str(caught.value)
    return caught.value


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_in_another_state_is_refused(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """The revision of a folder is its digest; the message has the one it would take. One changed byte is another."""
    folder = copied(saved[family], tmp_path / "weights")
    spec = Spec("x", family, str(folder), folder_digest(folder), options=OPTIONS.get(family, {}))
    assert open_encoder(spec).card.revision == spec.revision
    with (folder / "config.json").open("a") as config:
        config.write(" ")
    with pytest.raises(EncoderError, match=folder_digest(folder)) as caught:
        open_encoder(spec)
    assert caught.value.code == "wrong-revision"


@pytest.mark.parametrize("family", FAMILIES)
def test_missing_weights_are_missing(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """No folder; a folder without weights; one without a config."""
    spec = Spec("x", family, str(tmp_path / "nowhere"), "1" * 40, options=OPTIONS.get(family, {}))
    with pytest.raises(EncoderError, match="nowhere") as caught:
        open_encoder(spec)
    assert caught.value.code == "weights-missing"
    folder = copied(saved[family], tmp_path / "weights")
    (folder / "model.safetensors").unlink()
    assert refused(folder, family).code == "weights-missing"


@pytest.mark.parametrize("family", ["dual", "vision-language"])
def test_a_folder_without_a_config_has_no_weights(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """It is some other folder."""
    folder = copied(saved[family], tmp_path / "weights")
    (folder / "config.json").unlink()
    assert refused(folder, family).code == "weights-missing"
    (folder / "config.json").write_text("[]")
    assert refused(folder, family).code == "weights-damaged"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("cut", [0, 5, 200, 5000])
def test_cut_weights_are_damaged(saved: dict[str, Path], family: str, cut: int, tmp_path: Path) -> None:
    """A download that broke, wherever it did."""
    folder = copied(saved[family], tmp_path / "weights")
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:cut])
    assert refused(folder, family).code == "weights-damaged"


@pytest.mark.parametrize("family", ["dual", "vision-language"])
@pytest.mark.parametrize("content", ["", "{", '{"model_type": '])
def test_a_cut_config_is_damaged(saved: dict[str, Path], family: str, content: str, tmp_path: Path) -> None:
    """As weights are."""
    folder = copied(saved[family], tmp_path / "weights")
    (folder / "config.json").write_text(content)
    assert refused(folder, family).code == "weights-damaged"


def test_weights_of_another_family_are_others(saved: dict[str, Path]) -> None:
    """The message names the architecture, and those that the family loads."""
    error = refused(saved["dual"], "vision-language")
    assert error.code == "weights-other"
    assert "clip" in error.detail
    assert refused(saved["vision-language"], "dual").code == "weights-other"


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_that_do_not_fill_the_model_are_others(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """Transformers would fill the rest with random numbers, and every rank with them."""
    from safetensors.torch import load_file, save_file

    folder = copied(saved[family], tmp_path / "weights")
    path = folder / "model.safetensors"
    rows = load_file(path)
    lost = next(name for name in sorted(rows) if "mlp" in name and "vis" in name)
    save_file({name: row for name, row in rows.items() if name != lost}, path, {"format": "pt"})
    assert refused(folder, family).code == "weights-other"


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_of_other_sizes_are_others(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """A config of the large model beside weights of the small one."""
    folder = copied(saved[family], tmp_path / "weights")
    config = json.loads((folder / "config.json").read_text())
    config["text_config"]["intermediate_size"] = 64
    (folder / "config.json").write_text(json.dumps(config))
    assert refused(folder, family).code == "weights-other"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tokenizer_that_is_missing_is_said(saved: dict[str, Path], family: str, tmp_path: Path) -> None:
    """Transformers would make up an empty one, which reads every text as nothing, and say no word."""
    folder = copied(saved[family], tmp_path / "weights")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert refused(folder, family).code == "weights-missing"


@pytest.mark.parametrize("device", ["cuda:99", "tpu", "cuda:x", "cpu:0"])
def test_a_device_that_is_not_there_is_said(saved: dict[str, Path], device: str) -> None:
    """Before weights are read."""
    assert refused(saved["dual"], "dual", device=device).code == "no-device"


@pytest.mark.parametrize(("family", "package"), [(FAMILIES[0], "transformers"), (FAMILIES[2], "sentence_transformers")])
def test_a_package_that_is_missing_is_named(
    saved: dict[str, Path], family: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site's own installation has none of them."""
    monkeypatch.setitem(sys.modules, package, None)
    error = refused(saved[family], family)
    assert error.code == "package-missing"
    assert package in error.detail
    monkeypatch.setitem(sys.modules, "torch", None)
    assert refused(saved[family], family).code == "package-missing"


@pytest.fixture
def hub(saved: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a hub's cache with one model in one commit, and no network beside it."""
    from huggingface_hub import constants

    snapshot = tmp_path / "hub" / "models--maker--clip" / "snapshots" / ("a" * 40)
    shutil.copytree(saved["dual"], snapshot)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return snapshot


def test_weights_come_from_the_hubs_cache(hub: Path) -> None:
    """By the name on the hub and the commit; the card has both, and no path of this machine."""
    card = open_encoder(Spec("x", "dual", "maker/clip", "a" * 40)).card
    assert (card.model, card.revision) == ("maker/clip", "a" * 40)
    card = open_encoder(Spec("x", "dual", str(hub), "a" * 40)).card
    assert (card.model, card.revision) == ("maker/clip", "a" * 40)


@pytest.mark.parametrize(
    ("model", "revision", "code", "said"),
    [
        ("maker/clip", "b" * 40, "wrong-revision", "a" * 40),
        ("maker/clip", "main", "wrong-revision", "branch"),
        ("maker/other", "a" * 40, "weights-missing", "maker/other"),
        ("maker/clip:x", "a" * 40, "weights-missing", "maker"),
        ("clip", "a" * 40, "weights-missing", "clip"),
        ("../clip", "a" * 40, "weights-missing", "clip"),
    ],
)
def test_what_the_hub_has_not_is_told_apart(hub: Path, model: str, revision: str, code: str, said: str) -> None:
    """A wrong revision from a wrong name: the remedies differ. A branch moves, and so is no revision."""
    with pytest.raises(EncoderError, match=said) as caught:
        find_weights(model, revision, hub.parent)
    assert caught.value.code == code


class Memory:
    """A computation that fits a few inputs at a time."""

    def __init__(self, fits: int, error: type[Exception]) -> None:
        self.fits, self.error, self.sizes = fits, error, list[int]()

    def __call__(self, part: Sequence[int]) -> VectorArray:
        self.sizes.append(len(part))
        if len(part) > self.fits:
            raise self.error("CUDA out of memory. Tried to allocate 20.00 GiB")
        return np.array(part, dtype=np.float32)[:, None]


def test_a_batch_that_does_not_fit_is_halved() -> None:
    """Down to what fits, once: later batches begin small, and every row is there in its order."""
    import torch

    for error in (torch.OutOfMemoryError, MemoryError):
        memory, batches = Memory(3, error), Batches(16)
        np.testing.assert_array_equal(batches.run(range(20), memory)[:, 0], np.arange(20))
        assert memory.sizes == [16, 8, 4, *[2] * 10]
        assert batches.run([], memory).shape[0] == 0
        np.testing.assert_array_equal(batches.run(range(2), memory)[:, 0], [0, 1])
        assert memory.sizes[-1] == 2


def test_one_input_that_does_not_fit_is_an_error() -> None:
    """It says what to do; another error of the device is none of memory, and stays what it is."""
    with pytest.raises(EncoderError, match="smaller picture size") as caught:
        Batches(4).run(range(4), Memory(0, MemoryError))
    assert caught.value.code == "out-of-memory"
    assert lacks_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate"))
    assert not lacks_memory(RuntimeError("device-side assert triggered"))
    with pytest.raises(ValueError, match="strange"):
        Batches(4).run(range(4), _strange)


def _strange(part: Sequence[int]) -> VectorArray:
    raise ValueError("strange")


def test_memory_runs_out_inside_a_model(
    saved: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, through an encoder: fewer at a time, the same vectors."""
    import torch

    encoder = open_encoder(spec_of(saved["dual"], "dual"), Opening(batch=6))
    queries = queries_of(pictures_in(tmp_path / "pictures"))
    wanted = encoder.encode_queries(queries, Condition.MULTIMODAL)
    original: Any = torch.nn.Embedding.forward

    def tight(self: Any, ids: Any) -> Any:
        if len(ids) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(self, ids)

    monkeypatch.setattr(torch.nn.Embedding, "forward", tight)
    np.testing.assert_allclose(encoder.encode_queries(queries, Condition.MULTIMODAL), wanted, atol=2e-5)
    assert encoder.batch < 6
    encoder.close()


def test_memory_runs_out_while_weights_are_loaded(saved: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is larger than the device."""
    import transformers

    def load(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", load)
    assert refused(saved["dual"], "dual").code == "out-of-memory"


def test_a_picture_that_is_missing_is_named(saved: dict[str, Path], tmp_path: Path) -> None:
    """From the threads that read ahead as well."""
    encoder = open_encoder(spec_of(saved["dual"], "dual"), Opening(batch=8))
    pictures = [*pictures_in(tmp_path / "pictures"), Picture("gone", tmp_path / "gone.png")]
    with pytest.raises(EncoderError, match=r"gone\.png") as caught:
        encoder.encode_images(pictures)
    assert caught.value.code == "picture-missing"


def test_float32_is_whole_while_vectors_are_computed() -> None:
    """TF32 keeps ten bits: ranks would differ between two cards. What the process had before comes back."""
    import torch

    side = open_side(Opening(device="cpu"))
    torch.set_float32_matmul_precision("high")
    try:
        with side.computing():
            assert torch.get_float32_matmul_precision() == "highest"
            assert not torch.backends.cudnn.allow_tf32
            assert torch.is_inference_mode_enabled()
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_no_family_imports_what_it_needs_before_it_is_asked() -> None:
    """The site imports them to check a description, and has no torch."""
    modules = ", ".join(family.module for family in FAMILIES_KNOWN.values())
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'PIL'}"
    code = f"import sys, {modules}; assert not {heavy} & sys.modules.keys(), {heavy} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_half_precision_gives_nearly_the_same(tmp_path: Path) -> None:
    """Vectors come back as float32 whatever they were computed in."""
    folder = save_siglip(tmp_path / "siglip")
    pictures = pictures_in(tmp_path / "pictures")
    exact, half = (open_encoder(spec_of(folder, "dual"), Opening(dtype=name)) for name in ("float32", "bfloat16"))
    rows = half.encode_images(pictures)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, exact.encode_images(pictures), atol=0.02)
    assert np.abs(rows - exact.encode_images(pictures)).max() > 1e-6
