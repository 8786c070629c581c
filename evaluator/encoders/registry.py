"""Spec -> loaded encoder. A family is imported when a spec asks for it: most need packages that others do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from evaluator.encoders.base import Encoder
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.spec import Spec

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Opening:
    """How an encoder is loaded here and now; nothing of it may change a float32 vector by more than rounding."""

    device: str = "auto"
    """``cpu``, ``cuda``, ``cuda:1``, or ``auto``: an accelerator where torch sees one."""
    dtype: str = "float32"
    """One of :data:`DTYPES`: what the model computes in."""
    batch: int = 0
    """Inputs at a time; 0 for what suits family and device."""
    folder: Path | None = None
    """The folder that the spec's relative paths start from."""


@dataclass(frozen=True)
class Family:
    """One kind of encoder: the module with its ``open_family(spec, opening) -> Encoder``, and a sentence."""

    module: str
    summary: str


FAMILIES: Mapping[str, Family] = {
    "sentence-transformers": Family(
        "evaluator.encoders.sentence_family", "Multimodal models that sentence-transformers loads."
    ),
    "vision-language": Family(
        "evaluator.encoders.vision_language",
        "Vision-language embedders of the Qwen2-VL and Qwen3-VL kind in transformers: last token of a chat prompt.",
    ),
    "dual": Family("evaluator.encoders.dual", "CLIP-like towers for pictures and texts, fused into one vector."),
    "remote": Family("evaluator.encoders.remote", "An embedding API over HTTP."),
    "files": Family("evaluator.encoders.files", "Vectors computed elsewhere, read from files."),
    "small": Family(
        "evaluator.encoders.small",
        "EfficientNet-Lite0 and all-MiniLM-L6-v2 behind two small linear heads trained on the spot.",
    ),
}
"""Name of a family -> where it is."""


def open_encoder(spec: Spec, opening: Opening | None = None) -> Encoder:
    """Load an encoder. Raises EncoderError with what to do."""
    opening = opening or Opening()
    if opening.dtype not in DTYPES:
        raise EncoderError("spec", f"no dtype {opening.dtype}: choose one of {', '.join(DTYPES)}")
    family = FAMILIES.get(spec.family)
    if family is None:
        raise EncoderError("spec", f"no family {spec.family}: choose one of {', '.join(FAMILIES)}")
    encoder: Encoder = import_module(family.module).open_family(spec, opening)
    return encoder
