"""Vision-language embedders of the Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen2.5-Omni kind, as transformers has them.

Options, all of them optional beside a preset; see :mod:`evaluator.encoders.prompts`:

``preset``             ``gme``, ``lamra``, ``qwen3-vl-embedding``, ``rzen`` or ``e5-omni``
``query``              prompt for pictures and text; ``query_picture``, ``query_text`` and ``gallery`` for the others
``picture``            markup of a picture, with ``{image}`` where its tokens go
``pooling``            ``last``, ``mean`` or ``token`` (with ``token`` and ``offset``)
``min_pixels``         bounds of a picture's size, and ``max_pixels``; 0 for those that come with the weights
``dimension``          leading coordinates that are kept; 0 for all
``processor``          weights to take the tokenizer and the preparation of pictures from, with
``processor_revision`` their revision, for models that are published without

Padding is on the right and masked, and attention looks back only: a neighbour in a batch changes no vector beyond
rounding. Pictures are prepared by Pillow, which these models were trained with.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.conditions import USUAL
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.prompts import IMAGE, PROMPT_OPTIONS, Prompts, cleaned, control_tokens
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options, shortened, unit
from evaluator.encoders.spec import Spec
from evaluator.encoders.torch_side import Side, check_loaded, loading, open_side, opened, quiet
from evaluator.encoders.weights import Weights, find_weights
from evaluator.types import Condition, VectorArray

KINDS = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen2_5_omni_thinker", "qwen2_5_omni")
"""Architectures, as ``config.json`` names them."""
_OMNI = "qwen2_5_omni"


def open_family(spec: Spec, opening: Opening) -> VisionLanguageEncoder:
    """Load a vision-language embedder. Raises EncoderError."""
    check_options(spec, (*PROMPT_OPTIONS, "processor", "processor_revision"))
    return VisionLanguageEncoder(spec, opening)


class VisionLanguageEncoder:
    """A language model that looks: one hidden state of a prompt is the vector."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        self._prompts = Prompts.of(spec)
        weights = find_weights(spec.model, spec.revision, opening.folder)
        kind = weights.check_type(KINDS)
        prepared = _processor(spec, opening, weights)
        prepared.check_tokenizer()
        self._side = open_side(opening)
        with loading(weights.name):
            self._model = _load(kind, weights, self._side)
            self._inputs = Inputs(self._prompts, self._model.config, prepared)
        self._batches = self._side.batches(opening, 2, 16)
        width = self._model.config.get_text_config().hidden_size
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=weights.name,
            revision=weights.revision,
            conditions=_conditions(self._prompts),
            licence=spec.licence,
            dimension=self._prompts.dimension or width,
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
        """Return unit vectors (b, d) of images of the gallery. Raises EncoderError."""
        return self._batches.run(pictures, self._gallery)

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return unit vectors (b, d) of queries; what they hold decides how they are asked. Raises EncoderError."""
        return self._batches.run(queries, self._queries)

    def _gallery(self, pictures: Sequence[Picture]) -> VectorArray:
        prompt = self._prompts.for_gallery()
        return self._vectors([prompt] * len(pictures), [(picture,) for picture in pictures])

    def _queries(self, queries: Sequence[Query]) -> VectorArray:
        prompts = [self._asked(query) for query in queries]
        return self._vectors(prompts, [query.pictures for query in queries])

    def _asked(self, query: Query) -> str:
        words = [cleaned(text, self._inputs.control) for text in (query.text, query.instruction)]
        return self._prompts.for_query(len(query.pictures), *words)

    def _vectors(self, prompts: Sequence[str], pictures: Sequence[tuple[Picture, ...]]) -> VectorArray:
        inputs = self._inputs.of(prompts, pictures, self._side)
        with self._side.computing():
            states = self._model(**inputs, use_cache=False).last_hidden_state.float()
            rows = self._side.vectors(self._inputs.pool(states, inputs))
        return shortened(unit(rows), self._prompts.dimension)

    def close(self) -> None:
        """Give up the model's memory."""
        self._model = None
        self._side.release()


class Inputs:
    """Prompts and pictures to what the model takes, and its hidden states to vectors."""

    def __init__(self, prompts: Prompts, config: Any, prepared: Weights) -> None:
        from transformers import AutoImageProcessor, AutoTokenizer

        folder = str(prepared.folder)
        self._prompts = prompts
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        self._images: Any = AutoImageProcessor.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, backend="pil"
        )
        self._size = _size(prompts, self._images.size)
        self._image_id = config.image_token_id
        self._image = str(self._tokenizer.convert_ids_to_tokens(self._image_id))
        self._token_id = self._id_of(prompts.token) if prompts.pooling == "token" else -1
        self.control = [IMAGE, self._image, *control_tokens(self._tokenizer)]

    def _id_of(self, token: str) -> int:
        found: Any = self._tokenizer.convert_tokens_to_ids(token)
        if found is None or found == self._tokenizer.unk_token_id:
            raise EncoderError("spec", f"the tokenizer has no token {token}")
        return int(found)

    def of(self, prompts: Sequence[str], pictures: Sequence[tuple[Picture, ...]], side: Side) -> dict[str, Any]:
        """Return ids (b, n) padded on the right, their mask, and the patches of all pictures, on the device."""
        shown = [picture for group in pictures for picture in group]
        inputs = self._patches(shown) if shown else {}
        counts = iter(self._counts(inputs))
        expanded = [self._expanded(prompt, counts) for prompt in prompts]
        tokens = self._tokenizer(
            expanded, padding=True, padding_side="right", add_special_tokens=False, return_tensors="pt"
        )
        inputs |= {"input_ids": tokens["input_ids"], "attention_mask": tokens["attention_mask"]}
        inputs["mm_token_type_ids"] = (tokens["input_ids"] == self._image_id).int()
        placed = {name: rows.to(side.device) for name, rows in inputs.items()}
        if shown:
            placed["pixel_values"] = placed["pixel_values"].to(side.dtype)
        return placed

    def _patches(self, shown: Sequence[Picture]) -> dict[str, Any]:
        images = opened(shown)
        try:
            return dict(self._images(images=images, return_tensors="pt", size=self._size))
        except ValueError as error:  # a picture 200 times as wide as it is high, say
            names = ", ".join(picture.path.name for picture in shown if picture.path)
            raise EncoderError("picture-damaged", f"one of {names}: {error}") from error

    def _counts(self, inputs: dict[str, Any]) -> list[int]:
        """Return how many tokens each picture takes."""
        if not inputs:
            return []
        merged: list[int] = (inputs["image_grid_thw"].prod(dim=1) // self._images.merge_size**2).tolist()
        return merged

    def _expanded(self, prompt: str, counts: Any) -> str:
        first, *rest = prompt.split(IMAGE)
        return first + "".join(self._image * next(counts) + part for part in rest)

    def pool(self, states: Any, inputs: dict[str, Any]) -> Any:
        """Return one vector (b, d) of hidden states (b, n, d)."""
        import torch

        mask = inputs["attention_mask"]
        if self._prompts.pooling == "mean":
            weights = mask[:, :, None].to(states.dtype)
            return (states * weights).sum(dim=1) / weights.sum(dim=1)
        place = mask.sum(dim=1) - 1
        if self._prompts.pooling == "token":
            place = self._places(inputs["input_ids"]) + self._prompts.offset
        return states[torch.arange(len(states), device=states.device), place]

    def _places(self, ids: Any) -> Any:
        """Return where the token of the pooling stands last in each row."""
        import torch

        found = ids == self._token_id
        if not bool(found.any(dim=1).all()):
            raise EncoderError("spec", f"a prompt has no {self._prompts.token}, which pooling needs")
        return (found * torch.arange(ids.shape[1], device=ids.device)).argmax(dim=1)


def _processor(spec: Spec, opening: Opening, weights: Weights) -> Weights:
    name = str(spec.option("processor", "", str))
    if not name:
        return weights
    return find_weights(name, str(spec.option("processor_revision", "", str)), opening.folder)


def _load(kind: str, weights: Weights, side: Side) -> Any:
    import transformers

    quiet()
    omni = kind.startswith(_OMNI)
    architecture: Any = transformers.Qwen2_5OmniThinkerForConditionalGeneration if omni else transformers.AutoModel
    model, report = architecture.from_pretrained(
        str(weights.folder), dtype=side.dtype, local_files_only=True, output_loading_info=True, trust_remote_code=False
    )
    check_loaded(weights.name, report)
    return (model.model if omni else model).to(side.device).eval()


def _size(prompts: Prompts, usual: Any) -> dict[str, int]:
    """Return the bounds of a picture's pixels: the prompts' where they have some, else those with the weights."""
    return {
        "shortest_edge": prompts.min_pixels or usual["shortest_edge"],
        "longest_edge": prompts.max_pixels or usual["longest_edge"],
    }


def _conditions(prompts: Prompts) -> dict[Condition, str]:
    """Return how each condition is asked, with the prompt itself."""
    asked = dict.fromkeys(Condition, prompts.query) | {Condition.IMAGE_ONLY: prompts.query_picture or prompts.query}
    return {condition: f"{USUAL[condition]}, in the prompt {json.dumps(asked[condition])}" for condition in Condition}
