"""Splits for the readers' tests: tiny ones made here, and the real ones made from the annotations in CIRBOARD_DATA."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator import protocols
from evaluator.types import Gallery, Judgments, Lookalike, Protocol, Split

COCO = r"0|[1-9][0-9]{0,6}"


def data(name: str) -> Path:
    """Return a path in the folder of real data; skip the test where there is none, fail in CI."""
    root = Path(os.environ.get("CIRBOARD_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    path = root / name
    if not path.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{path} is not there: set CIRBOARD_DATA")
    return path


def make_split(  # noqa: PLR0913
    queries: Sequence[str],
    images: Sequence[str],
    *,
    name: str = "tiny",
    protocol: Protocol | None = None,
    references: Sequence[Sequence[str]] | None = None,
    members: Mapping[int, Sequence[str]] | None = None,
    galleries: Mapping[str, Sequence[str]] | None = None,
    gallery_of: Sequence[int] | None = None,
    pattern: str | None = None,
    aliases: Mapping[str, int] | None = None,
    prefix: str = "",
    lookalikes: Sequence[Lookalike] = (),
) -> Split:
    """Return a split without judgments other than image-set members; a reference a query, the first image unless given."""
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
        judgments=_members(len(queries), members or {}, index),
        subsets={},
        clusters=np.arange(len(queries), dtype=np.int32),
        query_aliases=dict(aliases or {}),
        image_prefix=prefix,
        lookalikes=tuple(lookalikes),
    )


def _members(queries: int, members: Mapping[int, Sequence[str]], index: Mapping[str, int]) -> Judgments:
    pairs = sorted((query, index[image]) for query, images in members.items() for image in images)
    no = np.zeros(len(pairs), dtype=np.bool_)
    none = np.zeros(queries, dtype=np.int32)
    return Judgments(
        query=np.array([query for query, _ in pairs], dtype=np.int32),
        image=np.array([image for _, image in pairs], dtype=np.int32),
        positive=no,
        negative=no,
        target=no,
        member=~no,
        positives_released=none,
        negatives_released=none,
    )


def cirr(part: str, **more: Any) -> Split:
    """Return the queries and gallery of CIRR's val or test1, references and image sets included."""
    rows = json.loads(data(f"cirr/captions/cap.rc2.{part}.json").read_text())
    images = json.loads(data(f"cirr/image_splits/split.rc2.{part}.json").read_text())
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


def circo(part: str, **more: Any) -> Split:
    """Return CIRCO's val or test over an open gallery: COCO's list of ids is not at hand."""
    rows = json.loads(data(f"circo/annotations/{part}.json").read_text())
    references = [(str(row["reference_img_id"]),) for row in rows]
    return make_split(
        [str(row["id"]) for row in rows],
        sorted({image for images in references for image in images}),
        name=f"circo-{part}",
        protocol=protocols.CIRCO,
        references=references,
        pattern=COCO,
        prefix="circo_img_",
        **more,
    )


def pinpoint() -> Split:
    """Return PinPoint's queries, with both of their spellings, and its gallery."""
    with gzip.open(data("pinpoint/pinpoint_licensed.jsonl.gz"), "rt") as lines:
        rows = [json.loads(line) for line in lines]
    queries = [row["query_id"] for row in rows]
    return make_split(
        queries,
        data("pinpoint/index_signatures.txt").read_text().split(),
        name="pinpoint",
        protocol=protocols.PINPOINT,
        references=[(row["query_image_signature"],) for row in rows],
        aliases={query.removeprefix("query_"): position for position, query in enumerate(queries)},
    )
