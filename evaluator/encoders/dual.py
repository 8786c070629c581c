"""CLIP-like dual encoders of transformers: a tower for pictures, a tower for texts, fused into one vector of a query.

Options, all of them optional:

``fusion``       ``average`` (default), ``weighted``, ``slerp`` or ``score``; see :mod:`evaluator.encoders.fusing`
``weight``       share of the text, 0 to 1, for all but ``average``; 0.5
``missing``      ``stand-in`` (default): decision 37, a black picture or an empty text takes part in the fusion;
                 ``left-out``: the vector of the other modality stands alone
``instruction``  whether the split's instruction goes before the text; true. CLIP reads 77 tokens, and it takes several.

Pictures are prepared by Pillow, whatever else is installed, so that vectors do not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.fusing import FUSION_OPTIONS, Fusion
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options, unit
from evaluator.encoders.spec import Spec
from evaluator.encoders.torch_side import Side, check_loaded, loading, open_side, opened, quiet
from evaluator.encoders.weights import find_weights
from evaluator.types import Condition, VectorArray

KINDS = ("clip", "siglip", "siglip2", "metaclip_2", "chinese_clip", "altclip")
"""Architectures, as ``config.json`` names them."""
_PADDED = ("siglip", "siglip2")
"""Trained on texts padded to the full length: shorter rows give other vectors."""


def open_family(spec: Spec, opening: Opening) -> DualEncoder:
    """Load a dual encoder. Raises EncoderError."""
    check_options(spec, FUSION_OPTIONS)
    return DualEncoder(spec, opening)


class DualEncoder:
    """Two towers into one space."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        self._fusion = Fusion.of(spec)
        weights = find_weights(spec.model, spec.revision, opening.folder)
        self._kind = weights.check_type(KINDS)
        weights.check_tokenizer()
        self._side = open_side(opening)
        with loading(weights.name):
            self._model, self._tokenizer, self._images = _load(str(weights.folder), self._side, weights.name)
        self._batches = self._side.batches(opening, 16, 128)
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=weights.name,
            revision=weights.revision,
            conditions=self._fusion.conditions(),
            licence=spec.licence,
            dimension=_dimension(self._model.config),
        )

    @property
    def card(self) -> Card:
        """What it is."""
        return self._card

    @property
    def batch(self) -> int:
        """How many inputs it takes at once; fewer once memory ran out."""
        return self._batches.size

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return unit vectors (b, d) of pictures. Raises EncoderError."""
        return unit(self._batches.run(pictures, self._pictures))

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return unit vectors (b, d) of queries under ``condition``. Raises EncoderError."""
        return self._fusion.vectors(
            queries, condition, self.encode_images, lambda texts: self._batches.run(texts, self._texts)
        )

    def _pictures(self, pictures: Sequence[Picture]) -> VectorArray:
        inputs = self._images(images=opened(pictures), return_tensors="pt").to(self._side.device)
        inputs["pixel_values"] = inputs["pixel_values"].to(self._side.dtype)
        with self._side.computing():
            return self._side.vectors(_features(self._model.get_image_features(**inputs)))

    def _texts(self, texts: Sequence[str]) -> VectorArray:
        padding = "max_length" if self._kind in _PADDED else "longest"
        places = self._model.config.text_config.max_position_embeddings
        longest = min(places, self._tokenizer.model_max_length)  # a tokenizer's own limit may be a made-up large number
        inputs = self._tokenizer(
            list(texts), padding=padding, truncation=True, max_length=longest, return_tensors="pt"
        ).to(self._side.device)
        taken = {name: inputs[name] for name in self._taken() if name in inputs}
        with self._side.computing():
            return self._side.vectors(_features(self._model.get_text_features(**taken)))

    def _taken(self) -> tuple[str, ...]:
        """Name the inputs of the text tower; SigLIP was trained without a mask."""
        return ("input_ids",) if self._kind in _PADDED else ("input_ids", "attention_mask")

    def close(self) -> None:
        """Give up the model's memory."""
        self._model = None
        self._side.release()


def _load(folder: str, side: Side, name: str) -> tuple[Any, Any, Any]:
    from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

    quiet()
    model, report = AutoModel.from_pretrained(
        folder, dtype=side.dtype, local_files_only=True, output_loading_info=True, trust_remote_code=False
    )
    check_loaded(name, report)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    images = AutoImageProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False, backend="pil")
    return model.to(side.device).eval(), tokenizer, images


def _features(output: Any) -> Any:
    """Return the vectors of a tower, which transformers wraps since its version 5."""
    return getattr(output, "pooler_output", output)


def _dimension(config: Any) -> int | None:
    return getattr(config, "projection_dim", None) or getattr(config.text_config, "projection_size", None)
