"""What a weak encoder sees in a picture and reads in a text. It knows no scene: it starts from pixels and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demo.drawing import PAINT

FloatArray = NDArray[np.float64]
PixelArray = NDArray[np.uint8]

HUES = 12
"""Bins of the hue histogram."""
COLUMNS = 6
"""Vertical stripes of the picture."""

_COLOUR_SHIFT = {name: np.array(paint, dtype=np.float64) / 255 for name, paint in PAINT.items()}
_STRIPES = {"left": (0, 1), "middle": (2, 3), "right": (4, 5)}
_AREA = {"small": -4.4, "large": -3.4}  # logarithm of the share of the picture that one shape usually covers
_ROUGHNESS = {"circle": 2.9, "square": 2.8, "triangle": 3.2, "heart": 3.2, "star": 3.6}  # log of perimeter² / area
_TIMES = {"one": 1, "two": 2, "three": 3}


@dataclass(frozen=True, eq=False)
class Features:
    """One line per picture or text, in blocks that can be exchanged one by one; NaN: nothing is said about it."""

    hue: FloatArray  # (m, HUES) shares of the coloured pixels
    stripe: FloatArray  # (m, COLUMNS) shares of the coloured pixels
    area: FloatArray  # (m, 1) logarithm of the share of the picture that is coloured
    roughness: FloatArray  # (m, 1) logarithm of perimeter² / area of all that is coloured

    def blocks(self) -> dict[str, FloatArray]:
        return {"hue": self.hue, "stripe": self.stripe, "area": self.area, "roughness": self.roughness}

    def overridden_by(self, other: Features) -> Features:
        """Return these features with those of ``other`` wherever it says something."""
        mine, theirs = self.blocks(), other.blocks()
        return Features(**{name: np.where(np.isnan(theirs[name]), mine[name], theirs[name]) for name in mine})

    def averaged(self, parts: Sequence[tuple[int, ...]]) -> Features:
        """Return one line for each of ``parts``: the mean of the lines that it names."""
        return Features(
            **{
                name: np.stack([block[list(part)].mean(axis=0) for part in parts])
                for name, block in self.blocks().items()
            }
        )


def look(pictures: PixelArray) -> Features:
    """Describe pictures (m, side, side, 3) by their saturated pixels. Nothing is said about a picture without any."""
    colours = pictures.astype(np.float64) / 255
    chroma = colours.max(axis=-1) - colours.min(axis=-1)
    weight = np.clip((chroma - 0.25) * 4, 0, 1)  # (m, side, side)
    total = weight.sum(axis=(1, 2))[:, np.newaxis]
    total[total == 0] = np.nan
    stripes = weight.sum(axis=1).reshape(len(pictures), COLUMNS, -1).sum(axis=-1)
    perimeter = np.abs(np.diff(weight, axis=1)).sum(axis=(1, 2)) + np.abs(np.diff(weight, axis=2)).sum(axis=(1, 2))
    return Features(
        hue=_hue_histogram(colours, weight) / total,
        stripe=stripes / total,
        area=np.log(total / weight[0].size),
        roughness=np.log(perimeter[:, np.newaxis] ** 2 / total),
    )


def read(texts: Sequence[str]) -> Features:
    """Describe texts by the words they contain, in whatever order and sense: "not red" is read as red."""
    said = [words(text) for text in texts]
    more = np.log([[max((times for word, times in _TIMES.items() if word in spoken), default=1)] for spoken in said])
    return Features(
        hue=_average(said, {name: _hue_of(paint) for name, paint in _COLOUR_SHIFT.items()}, HUES),
        stripe=_average(said, {name: _stripe_of(stripes) for name, stripes in _STRIPES.items()}, COLUMNS),
        area=_average(said, {name: np.array([area]) for name, area in _AREA.items()}, 1) + more,
        roughness=_average(said, {name: np.array([value]) for name, value in _ROUGHNESS.items()}, 1) + more,
    )


@cache
def words(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case and without a plural's s."""
    return frozenset(word.removesuffix("s") for word in re.findall(r"[a-z]+", text.lower()))


def thumbnails(pictures: PixelArray, side: int) -> FloatArray:
    """Return pictures (m, s, s, 3) scaled down to ``side``, less their median colour, of unit length: (m, side²·3)."""
    number, size = pictures.shape[:2]
    small = pictures.reshape(number, side, size // side, side, size // side, 3).mean(axis=(2, 4))
    centred = (small - np.median(small, axis=(1, 2), keepdims=True)).reshape(number, -1)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9))


def _hue_histogram(colours: FloatArray, weight: FloatArray) -> FloatArray:
    """Return (m, HUES): the weight of the pixels in each bin, each pixel shared by the two nearest bins."""
    red, green, blue = np.moveaxis(colours, -1, 0)
    angle = np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue)
    place = (angle / (2 * np.pi) % 1) * HUES
    lower = np.floor(place).astype(np.int64) % HUES
    share = place - np.floor(place)
    return np.stack(
        [
            (weight * np.where(lower == hue, 1 - share, np.where((lower + 1) % HUES == hue, share, 0))).sum(axis=(1, 2))
            for hue in range(HUES)
        ],
        axis=1,
    )


def _hue_of(paint: FloatArray) -> FloatArray:
    return np.asarray(_hue_histogram(paint.reshape(1, 1, 1, 3), np.ones((1, 1, 1)))[0])


def _stripe_of(stripes: tuple[int, ...]) -> FloatArray:
    return np.isin(np.arange(COLUMNS), stripes) / len(stripes)


def _average(said: Sequence[frozenset[str]], meaning: dict[str, FloatArray], width: int) -> FloatArray:
    """Return for each text the mean of what its words mean, NaN where it has none of them."""
    lines = np.full((len(said), width), np.nan)
    for line, spoken in zip(lines, said, strict=True):
        known = [value for word, value in meaning.items() if word in spoken]
        if known:
            line[:] = np.mean(known, axis=0)
    return lines
