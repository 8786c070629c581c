"""Two weak but real methods for the demo's splits, under all three conditions.

* ``histogram+words`` describes pictures by hue, place, area and roughness of what is coloured in them, and lets the
  words of the text replace the parts that they speak of: it composes.
* ``pixels+words`` adds two scores, the likeness of shrunken pictures and the match of hue and place with the words:
  late fusion.

Neither counts what it sees, neither understands "not", "the second" or "another", and neither sees a judgment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from demo.drawing import SIDE, blank
from demo.features import Features, FloatArray, PixelArray, look, read, thumbnails
from evaluator.types import Condition, Split

if TYPE_CHECKING:
    from PIL.Image import Image

_WEIGHTS = {"hue": 1.0, "stripe": 1.0, "area": 0.45, "roughness": 0.7}
_SHRUNK = 48  # side of the pictures that baselines look at
_THUMBNAIL = 12
_WORD_SHARE = 0.6  # of the words in late fusion

References = Sequence[tuple[int, ...]]
Baseline = Callable[["Pictures", References, Sequence[str]], FloatArray]
"""Scores (n, G) for reference pictures and texts; the picture after the last is the black one."""


class Pictures:
    """The gallery's pictures as the baselines see them, and after them the black one, looked at once."""

    def __init__(self, images: Iterable[Image]) -> None:
        pixels = np.stack([_shrunk(image) for image in (*images, blank())])
        self.black = len(pixels) - 1
        self.features: Features = look(pixels)
        self.thumbnails: FloatArray = thumbnails(pixels, _THUMBNAIL)


def histogram_and_words(pictures: Pictures, references: References, texts: Sequence[str]) -> FloatArray:
    """Score by the distance to the references' features, two of them averaged, overridden by the words'."""
    wanted = pictures.features.averaged(references).overridden_by(read(texts)).blocks()
    found = pictures.features.blocks()
    gaps = {name: wanted[name][:, np.newaxis] - found[name][np.newaxis, : pictures.black] for name in found}
    distances = [_WEIGHTS[name] * np.linalg.norm(np.nan_to_num(gap), axis=-1) for name, gap in gaps.items()]
    return -np.asarray(np.sum(distances, axis=0))


def pixels_and_words(pictures: Pictures, references: References, texts: Sequence[str]) -> FloatArray:
    """Score by the likeness of thumbnails, two references averaged, plus the match of hue and place with the words."""
    shown = np.stack([pictures.thumbnails[list(images)].mean(axis=0) for images in references])
    found = pictures.features.blocks()
    said = {name: np.nan_to_num(block) for name, block in read(texts).blocks().items()}
    match = sum(said[name] @ found[name][: pictures.black].T for name in ("hue", "stripe"))
    return np.asarray(shown @ pictures.thumbnails[: pictures.black].T + _WORD_SHARE * match)


BASELINES: dict[str, Baseline] = {"histogram+words": histogram_and_words, "pixels+words": pixels_and_words}
"""Name -> method."""


def rank(baseline: str, split: Split, condition: Condition, pictures: Pictures) -> NDArray[np.intp]:
    """Return the best images (n, 50) of every query, best first; equal scores in gallery order."""
    black = ((pictures.black,),) * len(split)
    references = black if condition is Condition.TEXT_ONLY else split.references
    texts = ("",) * len(split) if condition is Condition.IMAGE_ONLY else split.texts
    scores = np.round(BASELINES[baseline](pictures, references, texts), 9)  # a last bit must not order a file
    return np.argsort(-scores, axis=1, kind="stable")[:, : split.protocol.list_length]


def write_rankings(folder: Path, splits: Sequence[Split], pictures: Pictures) -> dict[tuple[str, str, Condition], Path]:
    """Write one plain JSON file, query -> image ids, per split, baseline and condition; return where each is.

    ``pictures`` are those of the splits' images, in the same order.
    """
    written: dict[tuple[str, str, Condition], Path] = {}
    for split in splits:
        for baseline in BASELINES:
            for condition in Condition:
                path = folder / file_name(split.name, baseline, condition)
                _write(path, split, rank(baseline, split, condition, pictures))
                written[split.name, baseline, condition] = path
    return written


def file_name(split: str, baseline: str, condition: Condition) -> str:
    """Return the name of a ranking file."""
    return f"{split}.{baseline.replace('+', '-')}.{condition}.json"


def _write(path: Path, split: Split, ranking: NDArray[np.intp]) -> None:
    lists = {
        query: [split.images[image] for image in line]
        for query, line in zip(split.query_ids, ranking.tolist(), strict=True)
    }
    path.write_text(json.dumps(lists), encoding="utf-8")


def _shrunk(picture: Image) -> PixelArray:
    """Return a picture's pixels, averaged down to a third of its side."""
    pixels = np.asarray(picture, dtype=np.float64)
    step = SIDE // _SHRUNK
    blocks = pixels.reshape(_SHRUNK, step, _SHRUNK, step, 3)
    return np.asarray(blocks.mean(axis=(1, 3)).round(), dtype=np.uint8)
