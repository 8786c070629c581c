"""A small real benchmark that the project draws itself: scenes of shapes, two splits, three baselines.

``demo-circus`` is built like CIRCUS and ``demo-pinpoint`` like PinPoint, over one gallery of 580 scenes. Everything is
determined by the code: no file is read, no generator is seeded. Building splits needs NumPy; Pillow is imported when
something is drawn. Tests take their tiny splits from :func:`tiny_split`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from demo.circus import Label, circus_split, planted_labels
from demo.drawing import render
from demo.pinpoint import pinpoint_split
from demo.scenes import Scene, gallery, image_ids
from demo.tiny import KINDS as TINY_KINDS
from demo.tiny import tiny_split
from demo.vectors import VectorFile
from demo.writing import Manifest, RankingFile, read_manifest, write
from evaluator.types import Split

BUILDERS: Mapping[str, Callable[[], Split]] = {"circus": circus_split, "pinpoint": pinpoint_split}
"""Kind -> what builds its split."""


def build(kind: str) -> Split:
    """Return the demo's split of one kind, ``circus`` or ``pinpoint``. Raises KeyError for another."""
    return BUILDERS[kind]()


__all__ = [
    "BUILDERS",
    "TINY_KINDS",
    "Label",
    "Manifest",
    "RankingFile",
    "Scene",
    "VectorFile",
    "build",
    "circus_split",
    "gallery",
    "image_ids",
    "pinpoint_split",
    "planted_labels",
    "read_manifest",
    "render",
    "tiny_split",
    "write",
]
