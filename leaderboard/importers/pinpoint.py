"""PinPoint's licensed release: ``pinpoint_licensed.parquet``, ``index_signatures.txt``, ``pinpoint_base_queries.json``.

``pinpoint`` counts positives and negatives as released, repeats and nulls included, so that our numbers equal those
of its own evaluator (decision 8). ``pinpoint-clean`` has the same queries, gallery and judgment lines, so that one
upload and one judged-ranks file fit both (decision 3); it counts distinct images, and its subsets leave out the 310
rows that call an image right and wrong at once.

In 3,410 rows the release put a stand-in image in the place of the reference. **Original** are the other rows: by the
base-query file, which is optional, or else the rows whose reference is among their own negatives (decision 5).
Licence: CC BY 4.0 (pinterest/pinpoint-dataset).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from evaluator import protocols
from evaluator.types import BoolArray, IntArray, Judgments, Split, Subset
from leaderboard.importers.assemble import (
    Images,
    Judged,
    dense_numbers,
    every,
    groups_of_several,
    require_distinct,
    require_known,
    value_masks,
)
from leaderboard.importers.official import Folders, Record, read_json_lines, read_lines, read_object
from leaderboard.importers.refusal import Difference, ImportRefused, require_counts, require_none

LICENCE = "CC BY 4.0"
GALLERY_SIZE = 109_600
PUBLISHED = {
    "queries": 7_635,
    "positives as released": 69_278,
    "negatives as released": 264_112,
    "distinct positives": 66_559,
    "distinct negatives": 248_527,
    "rows with a null among the negatives": 6_729,
    "rows that repeat a positive": 1_114,
    "rows that repeat a negative": 7_579,
    "rows with an image that is positive and negative": 310,
    "two-image rows by is_single": 895,
    "two-image rows by second signature": 1_006,
    "image pairs": 1_260,
    "rows with the reference among their negatives": 4_217,
}
"""Counts of the release at e4ebb388."""
PUBLISHED_BASE = {"base queries": 1_292, "Original rows": 4_225}
"""Counts of the base-query file."""

_NO_IMAGE = "None"
"""The text that stands for "no second image" in the release."""


@dataclass(frozen=True)
class Row:
    """One row, which is one paraphrase."""

    query_id: str
    text: str
    references: tuple[str, ...]
    """One or two images by signature."""
    is_single: bool
    positives: tuple[str | None, ...]
    negatives: tuple[str | None, ...]
    category: str
    interest: str
    skin_tone: str

    @cached_property
    def distinct_positives(self) -> frozenset[str]:
        return frozenset(filter(None, self.positives))

    @cached_property
    def distinct_negatives(self) -> frozenset[str]:
        return frozenset(filter(None, self.negatives))

    @property
    def contradictory(self) -> bool:
        return bool(self.distinct_positives & self.distinct_negatives)


@dataclass(frozen=True)
class _Bases:
    """What each row (in row order) asks, and whether its references are the ones that were asked about."""

    name: str
    keys: tuple[Hashable, ...]
    original: BoolArray


@dataclass(frozen=True)
class _Release:
    rows: tuple[Row, ...]
    images: Images
    bases: _Bases


def read_pinpoint(*folders: Path) -> Split:
    """Return ``pinpoint``: 7,635 rows over 109,600 images, counted as released. Raises ImportRefused."""
    return _as_released(_read_release(Folders.of(*folders)))


def read_pinpoint_clean(*folders: Path) -> Split:
    """Return ``pinpoint-clean``: distinct judgments, and no subset holds a contradictory row. Raises ImportRefused."""
    release = _read_release(Folders.of(*folders))
    split = _as_released(release)
    consistent = np.array([not row.contradictory for row in release.rows])
    return replace(
        split,
        name="pinpoint-clean",
        judgments=replace(
            split.judgments,
            positives_released=_counts(release.rows, lambda row: len(row.distinct_positives)),
            negatives_released=_counts(release.rows, lambda row: len(row.distinct_negatives)),
        ),
        subsets=_subset_masks(release.bases, consistent),
        paraphrase_groups=_paraphrase_groups(release, consistent),
    )


def _read_release(folders: Folders) -> _Release:
    rows = read_rows(folders)
    images = Images.of(_read_gallery(folders))
    named = (name for row in rows for name in (*row.references, *row.distinct_positives, *row.distinct_negatives))
    require_known("references, positives or negatives", named, images.index, "index_signatures.txt")
    return _Release(rows, images, _read_bases(folders, rows))


def _as_released(release: _Release) -> Split:
    rows, images, bases = release.rows, release.images, release.bases
    return Split(
        name="pinpoint",
        version=1,
        protocol=protocols.PINPOINT,
        query_ids=tuple(row.query_id for row in rows),
        texts=tuple(row.text for row in rows),
        references=tuple(tuple(images.index[name] for name in row.references) for row in rows),
        images=images.names,
        galleries=(images.gallery("index_signatures", images.names),),
        gallery_of=np.zeros(len(rows), dtype=np.int32),
        judgments=_judgments(rows, images),
        subsets=_subset_masks(bases, every(len(rows))),
        paraphrase_groups=_paraphrase_groups(release, every(len(rows))),
        clusters=dense_numbers(bases.keys),
        cluster_name=bases.name,
        groups=_groups(rows),
        query_aliases={row.query_id.removeprefix("query_"): q for q, row in enumerate(rows)},
        licence=LICENCE,
    )


def read_rows(folders: Folders) -> tuple[Row, ...]:
    """Return the rows in the release's order, with its published counts."""
    path = folders.require("pinpoint_licensed.parquet", "pinpoint_licensed.jsonl.gz")
    records = _read_parquet(path) if path.suffix == ".parquet" else read_json_lines(path)
    rows = tuple(_row(record) for record in records)
    require_distinct("query_id", [row.query_id for row in rows], str(path))
    require_counts(PUBLISHED, _found(rows), str(path))
    return rows


def _read_parquet(path: Path) -> list[Record]:
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise ImportRefused(Difference("file", "a parquet file", str(error), str(path))) from error
    return [Record(fields, str(path), f"row {number}") for number, fields in enumerate(table.to_pylist())]


def _row(record: Record) -> Row:
    signatures = (record.text("query_image_signature"), record.text("query_image_signature2"))
    return Row(
        query_id=record.text("query_id"),
        text=record.text("instruction"),
        references=tuple(signature for signature in signatures if signature != _NO_IMAGE),
        is_single=record.flag("is_single"),
        positives=tuple(record.optional_texts("positive_candidates")),
        negatives=tuple(record.optional_texts("negative_candidates")),
        category=record.text("query_category"),
        interest=record.text("l1_interest"),
        skin_tone=record.text("skin_tone_bucket"),
    )


def _found(rows: Sequence[Row]) -> dict[str, int]:
    """Count what :data:`PUBLISHED` counts."""
    return {
        "queries": len(rows),
        "positives as released": sum(len(row.positives) for row in rows),
        "negatives as released": sum(len(row.negatives) for row in rows),
        "distinct positives": sum(len(row.distinct_positives) for row in rows),
        "distinct negatives": sum(len(row.distinct_negatives) for row in rows),
        "rows with a null among the negatives": sum(None in row.negatives for row in rows),
        "rows that repeat a positive": sum(len(set(row.positives)) < len(row.positives) for row in rows),
        "rows that repeat a negative": sum(len(set(row.negatives)) < len(row.negatives) for row in rows),
        "rows with an image that is positive and negative": sum(row.contradictory for row in rows),
        "two-image rows by is_single": sum(not row.is_single for row in rows),
        "two-image rows by second signature": sum(len(row.references) == 2 for row in rows),
        "image pairs": len({row.references for row in rows}),
        "rows with the reference among their negatives": sum(_keeps_reference(row) for row in rows),
    }


def _keeps_reference(row: Row) -> bool:
    """Whether the reference is its own hard negative, as every reference was before stand-ins came."""
    return row.references[0] in row.distinct_negatives


def _read_gallery(folders: Folders) -> list[str]:
    path = folders.require("index_signatures.txt")
    names = [line.strip() for line in read_lines(path)]
    require_distinct("images", names, str(path))
    require_counts({"images": GALLERY_SIZE}, {"images": len(names)}, str(path))
    return names


def _read_bases(folders: Folders, rows: Sequence[Row]) -> _Bases:
    path = folders.find("pinpoint_base_queries.json")
    if path is None:
        keys = tuple(row.references for row in rows)
        return _Bases("image pair", keys, np.array([_keeps_reference(row) for row in rows]))
    queries = read_object(path).record("queries")
    require_none(
        "rows without a base query", [row.query_id for row in rows if row.query_id not in queries.fields], str(path)
    )
    entries = [queries.wholes(row.query_id) for row in rows]
    require_none(
        "base queries that are not three numbers", [str(entry) for entry in entries if len(entry) != 3], str(path)
    )
    original = np.array([entry[2] == 1 for entry in entries])
    found = {"base queries": len({entry[0] for entry in entries}), "Original rows": int(original.sum())}
    require_counts(PUBLISHED_BASE, found, str(path))
    return _Bases("base query", tuple(entry[0] for entry in entries), original)


def _judgments(rows: Sequence[Row], images: Images) -> Judgments:
    """Return one line per distinct image of a row; the counts are those of the released lists, nulls included."""
    judged = Judged(
        positive=[(q, images.index[name]) for q, row in enumerate(rows) for name in row.distinct_positives],
        negative=[(q, images.index[name]) for q, row in enumerate(rows) for name in row.distinct_negatives],
    )
    return judged.lines(
        len(rows),
        positives=_counts(rows, lambda row: len(row.positives)),
        negatives=_counts(rows, lambda row: len(row.negatives)),
    )


def _counts(rows: Sequence[Row], count: Callable[[Row], int]) -> IntArray:
    return np.array([count(row) for row in rows], dtype=np.int32)


def _groups(rows: Sequence[Row]) -> dict[str, dict[str, BoolArray]]:
    """Return the group dimensions; ``images`` is PinPoint's flag, ``images_signature`` the other reading (12)."""
    kinds = ("multi", "single")
    return {
        "images": value_masks([kinds[row.is_single] for row in rows]),
        "images_signature": value_masks([kinds[len(row.references) == 1] for row in rows]),
        "category": value_masks([row.category for row in rows]),
        "interest": value_masks([row.interest for row in rows]),
        "skin_tone": value_masks([row.skin_tone for row in rows]),
    }


def _subset_masks(bases: _Bases, counted: BoolArray) -> dict[Subset, BoolArray]:
    return {Subset.ALL: counted, Subset.ORIGINAL: bases.original & counted}


def _paraphrase_groups(release: _Release, counted: BoolArray) -> dict[Subset, IntArray]:
    """Return the groups among the ``counted`` rows (decision 11).

    On All a group shares both reference images, as in the released evaluator (1,221 groups of several); on Original it
    shares what it asks.
    """
    bases = release.bases
    return {
        Subset.ALL: groups_of_several([row.references for row in release.rows], counted),
        Subset.ORIGINAL: groups_of_several(bases.keys, bases.original & counted),
    }
