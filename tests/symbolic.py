"""An encoder that reads the demo's scene descriptions: the audit's answer is known for it, by construction.

It belongs to tests; nothing that is shipped sees descriptions. What it knows under each condition:

* words and picture: the words' edit, applied to the scene of the reference. Words that name no value
  (``demo.changes.UNRESOLVED``) it cannot read, and then it looks for the picture itself;
* words and a black picture: what the words name, and nothing of the scene;
* a picture and no words: it looks for the picture itself, whose nearest is its twin.

Chance alone would put one target in ten of "make it green" among the first ten green scenes. So among equals the scenes
come last that some query asks for: what a condition does not determine is not found under it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from demo import changes
from demo.chance import draw
from demo.circus import circus_split
from demo.scenes import ATTRIBUTES, Edit, Scene, gallery, image_ids
from evaluator.encoders import Card, Picture, Query, Spec
from evaluator.encoders.conditions import USUAL
from evaluator.types import Condition, Similarity, VectorArray

SPEC = Spec("symbolic", "symbolic", "scene descriptions", "1")
_VALUES = [(attribute, value) for attribute, values in ATTRIBUTES.items() for value in values]
_IDENTITIES = sorted({scene.identity for scene in gallery()})
_SCENES = dict(zip(image_ids(), gallery(), strict=True))
DIMENSION = len(_VALUES) + len(_IDENTITIES) + 1
_HASTE = 1e-2
"""How much the order among equals weighs beside one value: less than any difference of what is shown."""


class SymbolicEncoder:
    """``log`` gets a line for every input that is encoded; ``pause`` are seconds for each batch."""

    def __init__(self, log: Path | None = None, pause: float = 0.0, batch: int = 8, spec: Spec = SPEC) -> None:
        self._log, self._pause, self._batch = log, pause, batch
        self.card = Card(
            name=spec.name,
            family=spec.family,
            model=spec.model,
            revision=spec.revision,
            conditions=USUAL,
            dimension=DIMENSION,
            similarity=Similarity.INNER_PRODUCT,
        )

    @property
    def batch(self) -> int:
        return self._batch

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return what each scene shows, which scene it is, and its place among equals."""
        self._note([f"gallery {picture.id}" for picture in pictures])
        vectors = np.zeros((len(pictures), DIMENSION), dtype=np.float32)
        for row, picture in zip(vectors, pictures, strict=True):
            scene = _SCENES[picture.id]
            row[: len(_VALUES)] = [scene[attribute] == value for attribute, value in _VALUES]
            row[len(_VALUES) + _IDENTITIES.index(scene.identity)] = 1
            row[-1] = _HASTE * _place_among_equals()[picture.id]
        return vectors

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return what each query determines: values, or the scene itself."""
        self._note([f"{condition} {query.id}" for query in queries])
        return np.stack([_query_vector(query) for query in queries])

    def close(self) -> None:
        """Nothing to give up."""

    def _note(self, inputs: Sequence[str]) -> None:
        time.sleep(self._pause)
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as log:
                log.write("".join(f"{name}\n" for name in inputs))


def _query_vector(query: Query) -> VectorArray:
    vector = np.zeros(DIMENSION, dtype=np.float32)
    vector[-1] = 1
    scene = _seen(query)
    edit = phrase_book().get(query.text)
    if edit is not None:
        wanted = scene.after(edit) if scene else edit
        vector[: len(_VALUES)] = [value in wanted.get(attribute, ()) for attribute, value in _VALUES]
    elif scene:
        vector[len(_VALUES) + _IDENTITIES.index(scene.identity)] = 1
    return vector


def _seen(query: Query) -> Scene | None:
    """Return the scene that a query shows; None where its picture is black."""
    shown = query.pictures[0]
    return None if shown.black else _SCENES[shown.id]


@cache
def phrase_book() -> Mapping[str, Edit]:
    """Return every text that names values, for any reference -> the edit it means, as its maker has it."""
    makers = {**changes.TEXT, **changes.IMAGE, **changes.BOTH, **changes.COMPOSITION}
    made = (maker(scene) for maker in makers for scene in gallery())
    return dict(filter(None, made))


@cache
def _place_among_equals() -> Mapping[str, float]:
    """Return image id -> a number in [0, 1): below one half for what some query of ``demo-circus`` asks for."""
    split = circus_split()
    asked = {split.images[image] for image in split.judgments.image[split.judgments.positive].tolist()}
    return {name: (draw("haste", name) / 2**64 + (name not in asked)) / 2 for name in image_ids()}
