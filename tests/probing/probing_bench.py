"""What tests of probing share: a split with made-up pictures, an encoder that counts, and a folder of its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demo.tiny import tiny_split
from evaluator.encoders import Card, Picture, Query, Spec
from evaluator.encoders.conditions import USUAL
from evaluator.probing import Pictures, find_pictures
from evaluator.types import Condition, Similarity, Split, VectorArray

DIMENSION = 16
SPEC = Spec("counting", "counting", "hashes of names", "1")


def one_split() -> Split:
    return tiny_split("circus-multi")


def drawn(folder: Path, split: Split) -> Pictures:
    """Write a file for every image, whose content is its id, and find them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in split.images:
        (folder / f"{name}.png").write_text(name, encoding="utf-8")
    return find_pictures(folder, split)


class CountingEncoder:
    """Vectors are hashes of what is shown; it counts its inputs. ``noise`` is added, as a narrow dtype would."""

    def __init__(self, name: str = "counting", batch: int = 4, noise: float = 0.0, dimension: int = DIMENSION) -> None:
        self.card = Card(name, "counting", "hashes of names", "1", USUAL, similarity=Similarity.COSINE)
        self.batch, self._noise, self._dimension = batch, noise, dimension
        self.inputs: Counter[str] = Counter()
        self.closed = False

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        self.inputs.update(f"gallery {picture.id}" for picture in pictures)
        return self._vectors([f"picture {_content(picture)}" for picture in pictures])

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        self.inputs.update(f"{condition} {query.id}" for query in queries)
        return self._vectors([f"{_content(query.pictures[0])} {query.prompt}" for query in queries])

    def close(self) -> None:
        self.closed = True

    def _vectors(self, shown: Sequence[str]) -> VectorArray:
        rows = []
        for text in shown:
            random = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
            rows.append(random.standard_normal(self._dimension) + self._noise * random.standard_normal(self._dimension))
        return np.array(rows, dtype=np.float32)


def _content(picture: Picture) -> str:
    return "black" if picture.black or picture.path is None else picture.path.read_text(encoding="utf-8")
