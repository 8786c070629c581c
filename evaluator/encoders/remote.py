"""An embedding API over HTTP: Gemini, Voyage, or any whose request and answer a spec spells out.

``revision`` is a label, for an API shows no state of its weights: write the release, or the day. Options:

``api``                  ``gemini``, ``voyage``, or an object; see :class:`evaluator.encoders.api_shapes.Shape`. Its
                         ``like`` names one of the two to start from: ``{"like": "voyage", "url": "https://…"}``
``dimension``            coordinates to ask for; 0 (default) for what the API gives
``picture_format``       ``png`` (default, exact) or ``jpeg`` (quality 95, smaller)
``max_pixels``           larger pictures are scaled down to it before they are sent; 0 (default) for no limit

These decide no vector and may change between two runs: ``key`` (the environment variable with the key), ``together``
(inputs in a request), ``requests_per_minute`` (0: no limit), ``timeout_seconds`` (60), ``tries`` (6) and
``first_wait_seconds`` (1), which is doubled for each further try; ``Retry-After`` is honoured.

The key is read from the environment, sent to the address in the spec alone, and in no error, log or fingerprint.
"""

from __future__ import annotations

import base64
import io
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluator.encoders.api_shapes import Shape, filled, vectors_in
from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.batching import Batches
from evaluator.encoders.http_calls import Caller, check_address
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options, choice, count, unit
from evaluator.encoders.spec import Spec
from evaluator.types import Condition, VectorArray

if TYPE_CHECKING:
    from PIL.Image import Image

_OPTIONS = ("api", "dimension", "picture_format", "max_pixels", "key", "together")
_PACE = ("requests_per_minute", "timeout_seconds", "tries", "first_wait_seconds")


def open_family(spec: Spec, opening: Opening) -> RemoteEncoder:
    """Check a spec, and that its key is there; nothing is sent yet. Raises EncoderError."""
    check_options(spec, (*_OPTIONS, *_PACE))
    return RemoteEncoder(spec, opening)


class RemoteEncoder:
    """A model that somebody else runs."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        shape = Shape.of(spec)
        self._shape = replace(shape, together=count(spec, "together", shape.together, 1))
        self._shape.check()
        self._format = choice(spec, "picture_format", "png", ("png", "jpeg"))
        self._max_pixels = count(spec, "max_pixels", 0)
        dimension = count(spec, "dimension", 0)
        self._values: dict[str, Any] = {"model": spec.model, "dimension": dimension or None}
        self._caller = _caller(spec, self._shape)
        self._batches = Batches(opening.batch or self._shape.together)
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=spec.model,
            revision=spec.revision,
            conditions=CONDITIONS,
            licence=spec.licence,
            dimension=dimension or None,
        )

    @property
    def card(self) -> Card:
        """What it is."""
        return self._card

    @property
    def batch(self) -> int:
        """How many inputs it takes at once."""
        return self._batches.size

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return unit vectors (b, d) of images of the gallery. Raises EncoderError."""
        inputs = [((picture,), "") for picture in pictures]
        return self._batches.run(inputs, lambda part: self._sent(part, self._shape.gallery_role))

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return unit vectors (b, d) of queries. Raises EncoderError."""
        for query in queries:
            if not query.pictures and not query.prompt:
                raise EncoderError("condition", f"query {query.id} has neither picture nor text when it is {condition}")
        inputs = [(query.pictures, query.prompt) for query in queries]
        return self._batches.run(inputs, lambda part: self._sent(part, self._shape.query_role))

    def _sent(self, inputs: Sequence[tuple[tuple[Picture, ...], str]], role: str) -> VectorArray:
        values = self._values | {"role": role or None}
        rows = [filled(self._shape.input, values | {"parts": self._parts(*given)}) for given in inputs]
        body = filled(self._shape.body, values | {"inputs": rows, "input": rows[0]})
        return unit(vectors_in(self._caller.post(body), self._shape, len(inputs)))

    def _parts(self, pictures: tuple[Picture, ...], text: str) -> list[Any]:
        """Return the parts of one input: pictures, then the text where there is any; no API takes an empty one."""
        parts = [filled(self._shape.picture, self._content(picture.open())) for picture in pictures]
        return [*parts, filled(self._shape.text, {"text": text})] if text else parts

    def _content(self, image: Image) -> dict[str, str]:
        pixels = image.width * image.height
        if self._max_pixels and pixels > self._max_pixels:
            scale = math.sqrt(self._max_pixels / pixels)
            image = image.resize((max(1, int(image.width * scale)), max(1, int(image.height * scale))))
        content = io.BytesIO()
        image.save(content, self._format, quality=95)
        return {"type": f"image/{self._format}", "base64": base64.b64encode(content.getvalue()).decode()}

    def close(self) -> None:
        """Nothing stays open between two requests."""


CONDITIONS = {
    Condition.MULTIMODAL: "reference picture, then instruction and text, as the parts of one input",
    Condition.TEXT_ONLY: "a black RGB picture of the reference's size, then instruction and text",
    Condition.IMAGE_ONLY: "the reference picture alone: APIs take no empty text, so there is no text part",
}
"""How every API is asked."""


def _caller(spec: Spec, shape: Shape) -> Caller:
    name = str(spec.option("key", shape.key, str))
    key = os.environ.get(name, "").strip() if name else ""
    url = str(filled(shape.url, {"model": spec.model}))
    check_address(url)
    if not key and any("{key}" in value for value in shape.headers.values()):
        raise EncoderError("api-key", name or "option key names no variable")
    if not key.isascii() or not key.isprintable():
        raise EncoderError("api-key", f"{name} holds something else than a key")
    return Caller(
        url,
        {header: value.replace("{key}", key) for header, value in shape.headers.items()},
        key,
        timeout=_number(spec, "timeout_seconds", 60.0),
        tries=count(spec, "tries", 6, 1),
        per_minute=_number(spec, "requests_per_minute", 0.0, least=0.0),
        first_wait=_number(spec, "first_wait_seconds", 1.0),
    )


def _number(spec: Spec, name: str, default: float, least: float = 0.001) -> float:
    value = float(spec.option(name, default, int, float))
    if not least <= value <= 86400:
        raise EncoderError("spec", f"option {name} must be from {least:g} to 86,400, not {value:g}")
    return value
