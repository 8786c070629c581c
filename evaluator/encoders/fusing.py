"""A picture's vector and a text's made one, for models that have a tower for each.

``score`` ranks an image g by (1 - w) cos(picture, g) + w cos(text, g). With unit vectors that is the product of g with
(1 - w) picture + w text, and a query's own length changes no rank: so the weighted sum of vectors ranks exactly as the
weighted sum of scores, and one search does for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.encoders.base import Picture, Query
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.shaping import choice, share, unit
from evaluator.encoders.spec import Spec
from evaluator.types import BoolArray, Condition, VectorArray

_PARALLEL = 1e-6
"""Below this sine two vectors are taken for parallel: slerp divides by it."""


def weighted(pictures: VectorArray, texts: VectorArray, weight: float) -> VectorArray:
    """Return (1 - weight) of the pictures' unit vectors plus weight of the texts', at length 1."""
    return unit((1 - weight) * unit(pictures) + weight * unit(texts))


def slerp(pictures: VectorArray, texts: VectorArray, weight: float) -> VectorArray:
    """Return the point at ``weight`` of the way on the great circle from picture to text (Shoemake, 1985).

    Where both point the same way, or opposite ways, there is no such circle: then it is the weighted sum.
    """
    left, right = unit(pictures).astype(np.float64), unit(texts).astype(np.float64)
    cosine = np.clip((left * right).sum(axis=1, keepdims=True), -1, 1)
    angle = np.arccos(cosine)
    sine = np.sin(angle)
    safe = np.where(sine > _PARALLEL, sine, 1)
    arc = (np.sin((1 - weight) * angle) * left + np.sin(weight * angle) * right) / safe
    return unit(np.where(sine > _PARALLEL, arc, (1 - weight) * left + weight * right).astype(np.float32))


Fuse = Callable[[VectorArray, VectorArray, float], VectorArray]

FUSIONS: Mapping[str, tuple[Fuse, str]] = {
    "average": (weighted, "the sum of both unit vectors"),
    "weighted": (weighted, "the weighted sum of both unit vectors"),
    "slerp": (slerp, "the point between both on the sphere"),
    "score": (weighted, "the weighted sum of both scores"),
}
"""Name -> how a picture's and a text's vector become one, and the words for it."""

FUSION_OPTIONS = ("fusion", "weight", "missing", "instruction")


@dataclass(frozen=True)
class Fusion:
    """How a query's pictures and its text become one vector."""

    name: str = "average"
    weight: float = 0.5
    """Of the text."""
    left_out: bool = False
    """Whether the modality that a condition takes away is left out, where decision 37 has a stand-in for it."""
    instruction: bool = True
    """Whether the split's instruction goes before the text."""

    @classmethod
    def of(cls, spec: Spec) -> Fusion:
        """Return what the options :data:`FUSION_OPTIONS` say. Raises EncoderError."""
        name = choice(spec, "fusion", "average", tuple(FUSIONS))
        weight = share(spec, "weight", 0.5)
        if name == "average" and weight != 0.5:
            raise EncoderError("spec", "option weight belongs to the fusions weighted, slerp and score")
        missing = choice(spec, "missing", "stand-in", ("stand-in", "left-out"))
        return cls(name, weight, missing == "left-out", bool(spec.option("instruction", True, bool)))

    def conditions(self) -> dict[Condition, str]:
        """Return how each condition is built, in words for the card."""
        text = "instruction and text" if self.instruction else "the text, without the instruction,"
        how = f"{FUSIONS[self.name][1]}, weight of the text {self.weight:g}"
        both = f"reference picture from the picture tower and {text} from the text tower; {how}"
        if self.left_out:
            return {
                Condition.MULTIMODAL: both,
                Condition.TEXT_ONLY: f"{text} from the text tower alone; no picture, not even a black one",
                Condition.IMAGE_ONLY: "reference picture from the picture tower alone; no text, not even an empty one",
            }
        return {
            Condition.MULTIMODAL: both,
            Condition.TEXT_ONLY: f"a black RGB picture of the reference's size, and {text} as before; {how}",
            Condition.IMAGE_ONLY: f"reference picture, and the empty text through the text tower; {how}",
        }

    def vectors(
        self,
        queries: Sequence[Query],
        condition: Condition,
        pictures: Callable[[Sequence[Picture]], VectorArray],
        texts: Callable[[Sequence[str]], VectorArray],
    ) -> VectorArray:
        """Return the vectors (b, d) of queries, at length 1. Several pictures of a query count as their mean."""
        seen = _seen(queries) & (not (self.left_out and condition is Condition.TEXT_ONLY))
        read = ~seen | (not (self.left_out and condition is Condition.IMAGE_ONLY))
        shown = _means([query.pictures for query, wanted in zip(queries, seen, strict=True) if wanted], pictures)
        said = _distinct([self._text(query) for query, wanted in zip(queries, read, strict=True) if wanted], texts)
        shape = (len(queries), max(shown.shape[1], said.shape[1]))
        left, right = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        if seen.any():
            left[seen] = shown
        if read.any():
            right[read] = said
        fused = FUSIONS[self.name][0](left, right, self.weight)
        found: VectorArray = np.where((seen & read)[:, None], fused, left + right)  # where one is alone, the other is 0
        return found

    def _text(self, query: Query) -> str:
        return query.prompt if self.instruction else query.text


def _seen(queries: Sequence[Query]) -> BoolArray:
    return np.array([bool(query.pictures) for query in queries], dtype=np.bool_)


def _means(groups: Sequence[tuple[Picture, ...]], encode: Callable[[Sequence[Picture]], VectorArray]) -> VectorArray:
    """Return for each group of pictures the mean of their unit vectors, at length 1."""
    if not groups:
        return np.empty((0, 0), dtype=np.float32)
    rows = unit(encode([picture for group in groups for picture in group]))
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    return unit(np.add.reduceat(rows, starts, axis=0))


def _distinct(texts: Sequence[str], encode: Callable[[Sequence[str]], VectorArray]) -> VectorArray:
    """Return the unit vectors of texts, each text read once: in the image-only condition all are the same."""
    if not texts:
        return np.empty((0, 0), dtype=np.float32)
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return unit(encode(list(place)))[[place[text] for text in texts]]
