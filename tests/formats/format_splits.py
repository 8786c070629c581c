"""Splits for the readers' tests: tiny ones, and those of the official annotations."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluator import protocols
from evaluator.types import Gallery, Judgments, Lookalike, Protocol, Split, Subset

COCO = r"0|[1-9][0-9]{0,6}"


def make_split(
    queries: Sequence[str],
    images: Sequence[str],
    *,
    name: str = "tiny",
    protocol: Protocol | None = None,
    references: Sequence[Sequence[str]] | None = None,
    members: Mapping[int, Sequence[str]] | None = None,
    positives: Mapping[int, Sequence[str]] | None = None,
    galleries: Mapping[str, Sequence[str]] | None = None,
    gallery_of: Sequence[int] | None = None,
    pattern: str | None = None,
    aliases: Mapping[str, int] | None = None,
    prefix: str = "",
    lookalikes: Sequence[Lookalike] = (),
) -> Split:
    """Return a split; the reference is the first image unless given, the target the first of the positives."""
    ordered = tuple(sorted(images, key=str.encode))
    index = {image: position for position, image in enumerate(ordered)}
    chosen = references or [(ordered[0],)] * len(queries)
    named = galleries or {"all": ordered}
    return Split(
        name=name,
        version=1,
        protocol=protocol or replace(protocols.CIRCO, list_length=4),
        query_ids=tuple(queries),
        texts=("",) * len(queries),
        references=tuple(tuple(index[image] for image in images) for images in chosen),
        images=ordered,
        galleries=tuple(
            Gallery(key, np.array(sorted(index[image] for image in held), dtype=np.int32), pattern)
            for key, held in named.items()
        ),
        gallery_of=np.array(gallery_of or [0] * len(queries), dtype=np.int32),
        judgments=_judgments(len(queries), members or {}, positives or {}, index),
        subsets={Subset.FULL: np.ones(len(queries), dtype=np.bool_)},
        clusters=np.arange(len(queries), dtype=np.int32),
        query_aliases=dict(aliases or {}),
        image_prefix=prefix,
        lookalikes=tuple(lookalikes),
    )


def _judgments(
    queries: int,
    members: Mapping[int, Sequence[str]],
    positives: Mapping[int, Sequence[str]],
    index: Mapping[str, int],
) -> Judgments:
    sets = {(query, index[image]) for query, images in members.items() for image in images}
    right = {(query, index[image]) for query, images in positives.items() for image in images}
    targets = {(query, index[images[0]]) for query, images in positives.items()}
    pairs = sorted(sets | right)
    return Judgments(
        query=np.array([query for query, _ in pairs], dtype=np.int32),
        image=np.array([image for _, image in pairs], dtype=np.int32),
        positive=np.array([pair in right for pair in pairs], dtype=np.bool_),
        negative=np.zeros(len(pairs), dtype=np.bool_),
        target=np.array([pair in targets for pair in pairs], dtype=np.bool_),
        member=np.array([pair in sets for pair in pairs], dtype=np.bool_),
        positives_released=np.array([len(positives.get(query, ())) for query in range(queries)], dtype=np.int32),
        negatives_released=np.zeros(queries, dtype=np.int32),
    )


def cirr(data: Path, part: str, **more: Any) -> Split:
    """Return the queries and gallery of CIRR's val or test1, references and image sets included."""
    rows = json.loads((data / f"cirr/captions/cap.rc2.{part}.json").read_text())
    images = json.loads((data / f"cirr/image_splits/split.rc2.{part}.json").read_text())
    members = {
        position: [image for image in row["img_set"]["members"] if image != row["reference"]]
        for position, row in enumerate(rows)
    }
    return make_split(
        [str(row["pairid"]) for row in rows],
        list(images),
        name=f"cirr-{part}",
        protocol=protocols.CIRR,
        references=[(row["reference"],) for row in rows],
        members=members,
        **more,
    )


def circo(data: Path, part: str, **more: Any) -> Split:
    """Return CIRCO's val or test over an open gallery: COCO's list of ids is not at hand."""
    rows = json.loads((data / f"circo/annotations/{part}.json").read_text())
    references = [(str(row["reference_img_id"]),) for row in rows]
    positives = {row["id"]: [str(image) for image in row["gt_img_ids"]] for row in rows if "gt_img_ids" in row}
    return make_split(
        [str(row["id"]) for row in rows],
        sorted({image for images in (*references, *positives.values()) for image in images}),
        name=f"circo-{part}",
        protocol=protocols.CIRCO,
        references=references,
        positives=positives,
        pattern=COCO,
        prefix="circo_img_",
        **more,
    )


def pinpoint(data: Path) -> Split:
    """Return PinPoint's queries, with both of their spellings, and its gallery."""
    with gzip.open(data / "pinpoint/pinpoint_licensed.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    queries = [row["query_id"] for row in rows]
    return make_split(
        queries,
        (data / "pinpoint/index_signatures.txt").read_text().split(),
        name="pinpoint",
        protocol=protocols.PINPOINT,
        references=[(row["query_image_signature"],) for row in rows],
        aliases={query.removeprefix("query_"): position for position, query in enumerate(queries)},
    )
