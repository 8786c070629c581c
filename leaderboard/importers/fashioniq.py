"""FashionIQ val: ``captions/cap.{category}.val.json`` and ``image_splits/split.{category}.val.json``.

Each category is ranked over its own **original** gallery, the whole ``split.{category}.val.json``; the smaller union of
references and targets ("VAL") is another, easier board (protocols.md 2). Licence: CDLA, variant not named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator import protocols
from evaluator.types import Split, Subset
from leaderboard.importers.assemble import (
    Images,
    Judged,
    dense_numbers,
    every,
    require_distinct,
    require_known,
    value_masks,
)
from leaderboard.importers.official import Folders, Record, read_records, read_texts
from leaderboard.importers.refusal import Difference, ImportRefused, require_counts

LICENCE = "CDLA, variant not named (annotations)"

CATEGORIES = ("dress", "shirt", "toptee")

PUBLISHED = {
    "dress": {"queries": 2_017, "images": 3_817},
    "shirt": {"queries": 2_038, "images": 6_346},
    "toptee": {"queries": 1_961, "images": 5_373},
}
"""Rows and original gallery of each category's val files."""
PUBLISHED_REFERENCES = 4_315
"""Distinct reference images over the three categories: what intervals resample (decision 17)."""


@dataclass(frozen=True)
class Caption:
    """One row of a caption file, with its two captions as released."""

    category: str
    row: int
    reference: str
    target: str
    captions: tuple[str, str]

    @property
    def text(self) -> str:
        """Both captions joined by "and", as most published code does; M-BEIR's form is in :mod:`.mbeir`."""
        return " and ".join(caption.strip() for caption in self.captions if caption.strip())


def read_fashioniq_val(*folders: Path) -> Split:
    """Return ``fashioniq-val``: 6,016 queries in three categories, each with its gallery. Raises ImportRefused."""
    given = Folders.of(*folders)
    captions = read_captions(given)
    galleries = {category: read_gallery(given, category) for category in CATEGORIES}
    _require_galleries_hold(captions, galleries)
    images = Images.of(*galleries.values())
    targets = [(q, images.index[caption.target]) for q, caption in enumerate(captions)]
    return Split(
        name="fashioniq-val",
        version=1,
        protocol=protocols.FASHIONIQ,
        query_ids=tuple(f"{caption.category}-{caption.row}" for caption in captions),
        texts=tuple(caption.text for caption in captions),
        references=tuple((images.index[caption.reference],) for caption in captions),
        images=images.names,
        galleries=tuple(images.gallery(category, members) for category, members in galleries.items()),
        gallery_of=np.array([CATEGORIES.index(caption.category) for caption in captions], dtype=np.int32),
        judgments=Judged(positive=targets, target=targets).lines(len(captions)),
        subsets={Subset.FULL: every(len(captions))},
        clusters=dense_numbers(caption.reference for caption in captions),
        cluster_name="reference image",
        groups={"category": value_masks([caption.category for caption in captions])},
        licence=LICENCE,
    )


def read_captions(folders: Folders) -> tuple[Caption, ...]:
    """Return the rows of the three categories in the order dress, shirt, toptee, with the published counts."""
    captions = tuple(caption for category in CATEGORIES for caption in _read_category(folders, category))
    found = {"reference images": len({caption.reference for caption in captions})}
    require_counts({"reference images": PUBLISHED_REFERENCES}, found, "cap.*.val.json")
    return captions


def read_gallery(folders: Folders, category: str) -> list[str]:
    """Return the original gallery of a category, with the published count."""
    path = folders.require(f"image_splits/split.{category}.val.json", f"split.{category}.val.json")
    names = read_texts(path)
    require_distinct("images", names, str(path))
    require_counts({"images": PUBLISHED[category]["images"]}, {"images": len(names)}, str(path))
    return names


def _read_category(folders: Folders, category: str) -> list[Caption]:
    path = folders.require(f"captions/cap.{category}.val.json", f"cap.{category}.val.json")
    captions = [_caption(category, number, row) for number, row in enumerate(read_records(path))]
    require_counts({"queries": PUBLISHED[category]["queries"]}, {"queries": len(captions)}, str(path))
    return captions


def _caption(category: str, number: int, row: Record) -> Caption:
    captions = row.texts("captions")
    if len(captions) != 2:
        raise ImportRefused(Difference(f"{row.place}, captions", "2", str(len(captions)), row.file))
    return Caption(category, number, row.text("candidate"), row.text("target"), (captions[0], captions[1]))


def _require_galleries_hold(captions: tuple[Caption, ...], galleries: Mapping[str, list[str]]) -> None:
    for category, members in galleries.items():
        rows = [caption for caption in captions if caption.category == category]
        named = [image for caption in rows for image in (caption.reference, caption.target)]
        require_known("references or targets", named, members, f"split.{category}.val.json")
