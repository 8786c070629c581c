"""CIRR (rc2): ``captions/cap.rc2.{val,test1}.json`` and ``image_splits/split.rc2.*.json`` of Cuberick-Orion/CIRR.

Only ``target_hard`` is a positive, as in all code after CIRPLANT (protocols.md 1). The other members of a query's image
set are kept as judgment lines without relevance, so that Recall_subset can rank among them. Licence: MIT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator import protocols
from evaluator.types import Lookalike, Split, Subset
from leaderboard.importers.assemble import Images, Judged, Pairs, dense_numbers, every, require_distinct, require_known
from leaderboard.importers.official import Folders, Record, read_object, read_records
from leaderboard.importers.refusal import require_counts

LICENCE = "MIT (annotations); the images come from NLVR2 and are not licensed"

PUBLISHED = {
    "val": {"queries": 4_181, "images": 2_297, "image sets": 503},
    "test1": {"queries": 4_148, "images": 2_315, "image sets": 503},
    "train": {"images": 16_939},
}
"""Counts of the official files, by part. The paper's 4,184 val queries is a typo (README of the data set)."""

QUERIES_OF_CIRCUS = 4_170
CIRCUS_TAKES = "rankings of all 21,551 CIRR images, keyed by row number (query_idx)"


@dataclass(frozen=True)
class Caption:
    """One row of a caption file; the target fields are empty where the truth is hidden."""

    pairid: str
    reference: str
    text: str
    image_set: int
    members: tuple[str, ...]
    target: str
    soft_targets: tuple[str, ...]
    """The images that the annotators value 1.0, in the file's order: M-BEIR's positives."""


def read_cirr_val(*folders: Path) -> Split:
    """Return ``cirr-val``: 4,181 queries over 2,297 images. Raises ImportRefused."""
    return _read_part(Folders.of(*folders), "val", "cirr-val")


def read_cirr_test1(*folders: Path) -> Split:
    """Return ``cirr-test1``: 4,148 queries over 2,315 images, truth hidden. Raises ImportRefused."""
    return _read_part(Folders.of(*folders), "test1", "cirr-test1")


def read_captions(folders: Folders, part: str) -> tuple[Caption, ...]:
    """Return the caption rows of ``val`` or ``test1``, with the published counts."""
    path = folders.require(f"captions/cap.rc2.{part}.json", f"cap.rc2.{part}.json")
    captions = tuple(_caption(row, hidden=part == "test1") for row in read_records(path))
    found = {"queries": len(captions), "image sets": len({caption.image_set for caption in captions})}
    require_counts({what: PUBLISHED[part][what] for what in found}, found, str(path))
    require_distinct("pairid", [caption.pairid for caption in captions], str(path))
    return captions


def read_images(folders: Folders, part: str) -> tuple[str, ...]:
    """Return the image names of a part (``val``, ``test1``, ``train``), with the published count."""
    path = folders.require(f"image_splits/split.rc2.{part}.json", f"split.rc2.{part}.json")
    names = tuple(read_object(path).fields)
    require_counts({"images": PUBLISHED[part]["images"]}, {"images": len(names)}, str(path))
    return names


def lookalike(folders: Folders, part: str, here: str) -> Lookalike:
    """Return what marks a file made for ``cirr-val`` or ``cirr-test1``; ``here`` is what the split at hand takes."""
    return Lookalike(
        name=f"cirr-{part}",
        query_ids=frozenset(caption.pairid for caption in read_captions(folders, part)),
        images=frozenset(read_images(folders, part)),
        sentence=_either(f"cirr-{part}", takes(part), here),
    )


def circus_lookalike(here: str) -> Lookalike:
    """Return what marks a file made for ``circus-cirr``: row numbers instead of pairids."""
    return Lookalike(
        name="circus-cirr",
        query_ids=frozenset(str(index) for index in range(QUERIES_OF_CIRCUS)),
        sentence=_either("circus-cirr", CIRCUS_TAKES, here),
    )


def takes(part: str) -> str:
    """Return what ``cirr-val`` or ``cirr-test1`` takes, in words."""
    return f"rankings of {part}'s {PUBLISHED[part]['images']:,} images, keyed by pairid"


def _either(other: str, theirs: str, here: str) -> str:
    """Return a remedy that holds whether a file's queries, its images or both are those of the other split."""
    return f"{other} takes {theirs}; here you need {here}."


def _caption(row: Record, hidden: bool) -> Caption:
    image_set = row.record("img_set")
    soft = {} if hidden else row.record("target_soft").fields
    return Caption(
        pairid=str(row.whole("pairid")),
        reference=row.text("reference"),
        text=row.text("caption"),
        image_set=image_set.whole("id"),
        members=tuple(image_set.texts("members")),
        target="" if hidden else row.text("target_hard"),
        soft_targets=tuple(name for name, value in soft.items() if value == 1.0),
    )


def _read_part(folders: Folders, part: str, name: str) -> Split:
    captions = read_captions(folders, part)
    gallery = read_images(folders, part)
    _require_gallery_holds(captions, gallery, name)
    images = Images.of(gallery)
    judged = _judged(captions, images)
    other = "test1" if part == "val" else "val"
    return Split(
        name=name,
        version=1,
        protocol=protocols.CIRR,
        query_ids=tuple(caption.pairid for caption in captions),
        texts=tuple(caption.text for caption in captions),
        references=tuple((images.index[caption.reference],) for caption in captions),
        images=images.names,
        galleries=(images.gallery(part, gallery),),
        gallery_of=np.zeros(len(captions), dtype=np.int32),
        judgments=judged.lines(len(captions)),
        subsets={Subset.FULL: every(len(captions))},
        clusters=dense_numbers(caption.image_set for caption in captions),
        cluster_name="image set",
        hidden_truth=part == "test1",
        lookalikes=(lookalike(folders, other, takes(part)), circus_lookalike(takes(part))),
        licence=LICENCE,
    )


def _judged(captions: Sequence[Caption], images: Images) -> Judged:
    targets: Pairs = [(q, images.index[caption.target]) for q, caption in enumerate(captions) if caption.target]
    members: Pairs = [
        (q, images.index[member])
        for q, caption in enumerate(captions)
        for member in caption.members
        if member != caption.reference
    ]
    return Judged(positive=targets, target=targets, member=members)


def _require_gallery_holds(captions: Sequence[Caption], gallery: Sequence[str], name: str) -> None:
    named = {image for caption in captions for image in (caption.reference, *caption.members)}
    targets = {caption.target for caption in captions if caption.target}
    require_known("image set members, references or targets", named | targets, gallery, name)
