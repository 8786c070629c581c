"""Multimodal models that sentence-transformers loads: of one piece, or a tower for pictures and one for texts.

Options, all of them optional:

``mode``             ``together``: pictures and text in one input; ``fused``: each alone, then one vector, with the
                     options of :mod:`evaluator.encoders.fusing`; ``auto`` (default): together where the model can
``query_prompt``     prompt of queries, and ``gallery_prompt`` of images; without them the model's own for queries and
                     documents, where it has some
``instruction_as``   ``text`` (default): before the text; ``prompt``: as the query's prompt, in place of
                     ``query_prompt``; ``nothing``: left out
``dimension``        leading coordinates that are kept, for models trained for it; 0 (default) for all
``code``             whether Python that comes with the weights may run (``trust_remote_code``); false. It can do
                     whatever you can: read it first

Models whose preparation of pictures needs torchvision (all that also read video) need it installed beside torch.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.conditions import USUAL
from evaluator.encoders.fusing import FUSION_OPTIONS, Fusion
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.prompts import cleaned, control_tokens
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options, choice, count, unit
from evaluator.encoders.spec import Spec
from evaluator.encoders.torch_side import Side, loading, open_side, opened
from evaluator.encoders.weights import Weights, find_weights
from evaluator.types import Condition, VectorArray

_FUSING = tuple(name for name in FUSION_OPTIONS if name != "instruction")
_OPTIONS = ("mode", "query_prompt", "gallery_prompt", "instruction_as", "dimension", "code", *_FUSING)
_PAIR = ("image", "text")


def open_family(spec: Spec, opening: Opening) -> SentenceEncoder:
    """Load a model. Raises EncoderError."""
    check_options(spec, _OPTIONS)
    return SentenceEncoder(spec, opening)


class SentenceEncoder:
    """A model of sentence-transformers, asked through its own ``encode``."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        self._instruction_as = choice(spec, "instruction_as", "text", ("text", "prompt", "nothing"))
        self._query_prompt = str(spec.option("query_prompt", "", str))
        self._gallery_prompt = str(spec.option("gallery_prompt", "", str))
        self._dimension = count(spec, "dimension", 0)
        mode = choice(spec, "mode", "auto", ("auto", "together", "fused"))
        fusion = replace(Fusion.of(spec), instruction=self._instruction_as == "text")
        weights = find_weights(spec.model, spec.revision, opening.folder)
        weights.check_tokenizer()
        self._side = open_side(opening)
        with loading(weights.name):
            self._model = _load(weights, self._side, bool(spec.option("code", False, bool)))
            self._control = control_tokens(getattr(self._model, "tokenizer", None))
        self._fusion = fusion if _is_fused(self._model, mode, weights.name) else None
        if self._fusion is None and any(name in spec.options for name in _FUSING):
            raise EncoderError("spec", f"options {', '.join(_FUSING)} are for the mode fused")
        self._batches = self._side.batches(opening, 8, 64)
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=weights.name,
            revision=weights.revision,
            conditions=self._conditions(),
            licence=spec.licence,
            dimension=self._dimension or _width(self._model),
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

        def encode(part: Sequence[Picture]) -> VectorArray:
            return self._encoded(
                [_input(self._model, [image], "", is_query=False) for image in opened(part)],
                self._gallery_prompt,
                False,
            )

        return self._batches.run(pictures, encode)

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return unit vectors (b, d) of queries under ``condition``. Raises EncoderError."""
        prompts = [self._prompt(query) for query in queries]
        rows: list[VectorArray | None] = [None] * len(queries)
        for prompt in dict.fromkeys(prompts):
            places = [at for at, found in enumerate(prompts) if found == prompt]
            found = self._under([queries[at] for at in places], condition, prompt)
            for at, row in zip(places, found, strict=True):
                rows[at] = row
        return np.stack([row for row in rows if row is not None]) if rows else np.empty((0, 0), dtype=np.float32)

    def _under(self, queries: Sequence[Query], condition: Condition, prompt: str) -> VectorArray:
        """Return the vectors of queries that share a prompt."""
        if self._fusion is None:
            return self._batches.run(queries, lambda part: self._together(part, prompt))

        def pictures(shown: Sequence[Picture]) -> VectorArray:
            return self._batches.run(shown, lambda part: self._encoded(opened(part), "", True))

        def texts(said: Sequence[str]) -> VectorArray:
            return self._batches.run(said, lambda part: self._encoded([{"text": text} for text in part], prompt, True))

        asked = [Query(query.id, query.pictures, self._words(query)) for query in queries]
        return self._fusion.vectors(asked, condition, pictures, texts)

    def _together(self, queries: Sequence[Query], prompt: str) -> VectorArray:
        images = iter(opened([picture for query in queries for picture in query.pictures]))
        inputs = []
        for query in queries:
            shown = [next(images) for _ in query.pictures]
            inputs.append(_input(self._model, shown, self._words(query)))
        return self._encoded(inputs, prompt, True)

    def _encoded(self, inputs: Sequence[Any], prompt: str, is_query: bool) -> VectorArray:
        """Return what the model makes of inputs, at length 1."""
        encode = self._model.encode_query if is_query else self._model.encode_document
        with self._side.computing():
            rows = encode(
                list(inputs),
                prompt=prompt or None,
                batch_size=len(inputs),
                show_progress_bar=False,
                convert_to_tensor=True,
                truncate_dim=self._dimension or None,
            )
            return unit(self._side.vectors(rows))

    def _words(self, query: Query) -> str:
        said = query.prompt if self._instruction_as == "text" else query.text
        return cleaned(said, self._control)

    def _prompt(self, query: Query) -> str:
        asked = query.instruction if self._instruction_as == "prompt" else ""
        return asked or self._query_prompt

    def _conditions(self) -> dict[Condition, str]:
        base = USUAL if self._fusion is None else self._fusion.conditions()
        said = {"text": "", "prompt": "; the instruction is the prompt", "nothing": "; no instruction is given"}
        note = dict.fromkeys(base, said[self._instruction_as]) | {Condition.IMAGE_ONLY: ""}
        return {condition: words + note[condition] for condition, words in base.items()}

    def close(self) -> None:
        """Give up the model's memory."""
        self._model = None
        self._side.release()


def _is_fused(model: Any, mode: str, name: str) -> bool:
    """Whether pictures and texts are encoded apart. Raises EncoderError where the model cannot be asked so."""
    together = bool(model.supports(_PAIR))
    apart = bool(model.supports("image") and model.supports("text"))
    if not together and not apart:
        raise EncoderError("weights-other", f"{name} takes {', '.join(map(str, model.modalities))} and not both")
    if (mode == "together" and not together) or (mode == "fused" and not apart):
        raise EncoderError("spec", f"{name} cannot be asked in the mode {mode}")
    return mode == "fused" or not together


def _input(model: Any, images: Sequence[Any], text: str, is_query: bool = True) -> Any:
    """Return one input as the model takes it. A dictionary says what each part is: words are never taken for a path.

    A model that takes messages gets nothing else: sentence-transformers loses messages that share a batch with others.
    """
    if "message" in model.modalities:
        parts: list[Any] = [{"type": "image", "image": image} for image in images]
        said = [{"type": "text", "text": text}] if text or not images else []
        return [{"role": "user", "content": parts + said}]
    if len(images) > 1:
        raise EncoderError("condition", "the model takes one picture in an input, and a query has several")
    if not images:
        return {"text": text}
    return {"image": images[0], "text": text} if is_query or not model.supports("image") else {"image": images[0]}


def _load(weights: Weights, side: Side, code: bool) -> Any:
    from sentence_transformers import SentenceTransformer

    with _reports() as told:
        model = SentenceTransformer(
            str(weights.folder),
            device=str(side.device),
            trust_remote_code=code,
            local_files_only=True,
            model_kwargs={"dtype": side.dtype},
        )
    if any("MISSING" in report for report in told):
        raise EncoderError("weights-other", f"{weights.name} lacks weights of the model: they would be random")
    return model.eval()


@contextmanager
def _reports() -> Iterator[list[str]]:
    """Collect what transformers reports of weights that it loads: sentence-transformers does not pass it on."""
    from transformers import utils

    reports: Any = utils.logging
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("transformers")
    level, handlers, bars = logger.level, logger.handlers, reports.is_progress_bar_enabled()
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING)
    reports.disable_progress_bar()
    try:
        yield told
    finally:
        logger.handlers = handlers
        logger.setLevel(level)
        if bars:
            reports.enable_progress_bar()


def _width(model: Any) -> int | None:
    found = model.get_embedding_dimension()
    return None if found is None else int(found)
