"""What embedding APIs are sent and what they answer, as data: JSON with places to fill, and paths to the vectors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from evaluator.encoders.problems import EncoderError
from evaluator.encoders.spec import Spec
from evaluator.types import VectorArray

_PLACE = re.compile(r"\{(\w+)\}")
_WHOLE = re.compile(r"\{(\w+)\}\Z")


@dataclass(frozen=True)
class Shape:
    """One API. A text that is ``{name}`` and nothing else becomes the value, whatever it is; None drops its entry."""

    url: str = ""
    """With ``{model}``."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With ``{key}``."""
    body: Any = None
    """With ``{inputs}``, or ``{input}`` for an API that takes one; ``{model}``, ``{role}``, ``{dimension}``."""
    input: Any = None
    """One input, with ``{parts}``; ``{model}``, ``{role}``, ``{dimension}``."""
    text: Any = None
    """One part, with ``{text}``."""
    picture: Any = None
    """One part, with ``{base64}`` and ``{type}``."""
    query_role: str = ""
    gallery_role: str = ""
    vectors: str = ""
    """Path to the vectors: names joined by full stops, ``*`` for all members of a list."""
    index: str = ""
    """Path to the input's number of each vector, where answers may come in another order."""
    key: str = ""
    """Name of the environment variable that holds the key."""
    together: int = 1
    """Inputs in one request."""

    @classmethod
    def of(cls, spec: Spec) -> Shape:
        """Return the shape that the option ``api`` names or spells out. Raises EncoderError."""
        option = spec.option("api", "", str, dict)
        if isinstance(option, str):
            if option not in SHAPES:
                raise EncoderError(
                    "spec", f"option api is {option!r}: choose one of {', '.join(SHAPES)}, or spell it out"
                )
            return SHAPES[option]
        known = {row.name: row for row in fields(cls)}
        unknown = sorted(option.keys() - known.keys() - {"like"})
        if unknown:
            raise EncoderError("spec", f"option api has no {', '.join(unknown)}")
        base = SHAPES.get(option.get("like", ""), cls())
        shape = replace(base, **{name: value for name, value in option.items() if name != "like"})
        shape.check()
        return shape

    def check(self) -> None:
        """Refuse a shape with something missing, or of the wrong kind. Raises EncoderError."""
        for name in ("url", "vectors", "index", "key", "query_role", "gallery_role"):
            if not isinstance(getattr(self, name), str):
                raise EncoderError("spec", f"{name} of option api must be a text")
        missing = [name for name in ("url", "body", "text", "picture", "vectors") if not getattr(self, name)]
        if missing:
            raise EncoderError("spec", f"option api lacks {', '.join(missing)}")
        headers = self.headers
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise EncoderError("spec", "headers of option api must be an object of texts")
        if type(self.together) is not int or self.together < 1 or (self.together > 1 and "*" not in self.vectors):
            raise EncoderError("spec", "together of option api must be a whole number, and 1 where vectors has no *")


def filled(shape: Any, values: Mapping[str, Any]) -> Any:
    """Return JSON with its places filled; what is filled in is not looked at again, and None drops an entry."""
    if isinstance(shape, dict):
        rows = {name: filled(value, values) for name, value in shape.items()}
        return {name: value for name, value in rows.items() if value is not None}
    if isinstance(shape, list):
        return [filled(value, values) for value in shape]
    if not isinstance(shape, str):
        return shape
    whole = _WHOLE.match(shape)
    if whole and whole[1] in values:
        return values[whole[1]]
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), shape)


def vectors_in(answer: Any, shape: Shape, count: int) -> VectorArray:
    """Return the vectors (count, d) in an answer, in the order of the inputs. Raises EncoderError."""
    found = _along(answer, shape.vectors)
    if len(found) != count:
        raise EncoderError("api-answer", f"{len(found)} vectors at {shape.vectors} for {count} inputs")
    try:
        rows = np.array(found, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise EncoderError("api-answer", f"no list of numbers of one length at {shape.vectors}") from error
    if rows.ndim != 2 or not rows.shape[1] or any(isinstance(value, str | bool) for row in found for value in row):
        raise EncoderError("api-answer", f"no list of numbers at {shape.vectors}")
    if shape.index:
        numbers = _along(answer, shape.index)
        if [type(number) for number in numbers] != [int] * count or sorted(numbers) != list(range(count)):
            raise EncoderError("api-answer", f"{shape.index} does not number the {count} inputs")
        rows[numbers] = rows.copy()
    return rows


def _along(answer: Any, path: str) -> list[Any]:
    """Return what lies at the end of a path: one value, or one for each member where there is a ``*``."""
    found, done = [answer], []
    for name in path.split("."):
        done.append(name)
        try:
            found = [member for value in found for member in _step(value, name)]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise EncoderError("api-answer", f"nothing at {'.'.join(done)}") from error
    return found


def _step(value: Any, name: str) -> Sequence[Any]:
    if name == "*":
        if not isinstance(value, list):
            raise TypeError
        return value
    return [value[int(name)] if isinstance(value, list) else value[name]]


# ai.google.dev, "Embeddings" and the reference of models.batchEmbedContents: the parts of one content make one vector.
_GEMINI = Shape(
    url="https://generativelanguage.googleapis.com/v1beta/models/{model}:batchEmbedContents",
    headers={"x-goog-api-key": "{key}"},
    body={"requests": "{inputs}"},
    input={"model": "models/{model}", "content": {"parts": "{parts}"}, "outputDimensionality": "{dimension}"},
    text={"text": "{text}"},
    picture={"inlineData": {"mimeType": "{type}", "data": "{base64}"}},
    vectors="embeddings.*.values",
    key="GEMINI_API_KEY",
    together=4,
)
# docs.voyageai.com, "Multimodal embeddings" and its API reference: the API writes its own prompt for the two roles.
_VOYAGE = Shape(
    url="https://api.voyageai.com/v1/multimodalembeddings",
    headers={"Authorization": "Bearer {key}"},
    body={
        "inputs": "{inputs}",
        "model": "{model}",
        "input_type": "{role}",
        "truncation": True,
        "output_dimension": "{dimension}",
    },
    input={"content": "{parts}"},
    text={"type": "text", "text": "{text}"},
    picture={"type": "image_base64", "image_base64": "data:{type};base64,{base64}"},
    query_role="query",
    gallery_role="document",
    vectors="data.*.embedding",
    index="data.*.index",
    key="VOYAGE_API_KEY",
    together=8,
)

SHAPES: Mapping[str, Shape] = {"gemini": _GEMINI, "voyage": _VOYAGE}
"""Name -> an API that is known."""
