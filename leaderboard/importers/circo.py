"""CIRCO: ``annotations/{val,test}.json`` of miccunifi/CIRCO and, where at hand, the list of COCO's unlabeled2017.

AP counts every ground truth, Recall the single ``target_img_id`` (decision 16). Only the relative caption is the
query's text; the shared concept is something an author declares. Licence: CC BY-NC 4.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator import protocols
from evaluator.types import BoolArray, Judgments, Lookalike, Split, Subset
from leaderboard.importers import release
from leaderboard.importers.assemble import Images, Judged, every, mask
from leaderboard.importers.official import Folders, Record, coco_id, read_lines, read_object, read_records
from leaderboard.importers.pool import COCO_ID, Pool
from leaderboard.importers.refusal import require_counts, require_none

LICENCE = "CC BY-NC 4.0 (annotations)"
IMAGE_PREFIX = "circo_img_"
"""M-BEIR-style prefix of image ids in CIRCUS's files."""
GALLERY_SIZE = 123_403
"""Images of COCO unlabeled2017, as many as CIRCUS's gallery list has entries."""

PUBLISHED = {"val": {"queries": 220, "ground truths": 916}, "test": {"queries": 800, "ground truths": 0}}
ASPECTS = {
    "addition": 80,
    "cardinality": 37,
    "comparative_statement": 50,
    "compare_change": 86,
    "direct_addressing": 119,
    "negation": 21,
    "spatial_relations_background": 100,
    "statement_with_conjunction": 164,
    "viewpoint": 54,
}
"""The nine semantic aspects and how many val queries have each; a query can have several."""


@dataclass(frozen=True)
class Query:
    """One row; target, ground truths and aspects are empty where the truth is hidden."""

    index: int
    text: str
    reference: str
    target: str
    ground_truths: tuple[str, ...]
    aspects: tuple[str, ...]


def read_circo_val(*folders: Path) -> Split:
    """Return ``circo-val``: 220 queries with 1 to 14 ground truths. Raises ImportRefused."""
    return _read_part(Folders.of(*folders), "val", "circo-val")


def read_circo_test(*folders: Path) -> Split:
    """Return ``circo-test``: 800 queries, truth hidden. Raises ImportRefused."""
    return _read_part(Folders.of(*folders), "test", "circo-test")


def read_queries(folders: Folders, part: str) -> tuple[Query, ...]:
    """Return the rows of ``val`` or ``test``, with the published counts; a query's id is its position."""
    path = folders.require(f"annotations/{part}.json", f"{part}.json")
    queries = tuple(_query(row, hidden=part == "test") for row in read_records(path))
    found = {"queries": len(queries), "ground truths": sum(len(query.ground_truths) for query in queries)}
    require_counts(PUBLISHED[part], found, str(path))
    displaced = [str(query.index) for position, query in enumerate(queries) if query.index != position]
    require_none("ids that are not the row's position", displaced, str(path))
    if part == "val":
        require_counts(ASPECTS, Counter(aspect for query in queries for aspect in query.aspects), str(path))
    return queries


def read_pool(folders: Folders) -> Pool:
    """Return unlabeled2017 from COCO's own list, a plain id list or CIRCUS's audit file; open where none is there."""
    source, ids = _read_gallery_ids(folders)
    if ids is None:
        return Pool("COCO unlabeled2017", COCO_ID, None)
    require_counts({"images": GALLERY_SIZE}, {"images": len(set(ids))}, source)
    return Pool("COCO unlabeled2017", COCO_ID, ids)


def aliases(queries: Sequence[Query]) -> dict[str, int]:
    """Return CIRCUS's spelling of each query id -> its position."""
    return {f"circo_q_test_{query.index}": position for position, query in enumerate(queries)}


def judged_lines(queries: Sequence[Query], images: Images) -> Judgments:
    """Return every ground truth as a positive, and which of them is the single target."""
    positive = [(q, images.index[name]) for q, query in enumerate(queries) for name in query.ground_truths]
    target = [(q, images.index[query.target]) for q, query in enumerate(queries) if query.target]
    return Judged(positive=positive, target=target).lines(len(queries))


def lookalike(part: str) -> Lookalike:
    """Return what marks a file made for the other part: as many queries as that part has."""
    count = PUBLISHED[part]["queries"]
    return Lookalike(
        name=f"circo-{part}",
        query_ids=frozenset(str(index) for index in range(count)),
        sentence=f"The query ids are those of CIRCO's {part} split, which has {count}: upload it to circo-{part}.",
    )


def named_images(queries: Sequence[Query]) -> set[str]:
    """Return every image that the annotations name."""
    return {name for query in queries for name in (query.reference, *query.ground_truths)}


def _query(row: Record, hidden: bool) -> Query:
    return Query(
        index=row.whole("id"),
        text=row.text("relative_caption"),
        reference=str(row.whole("reference_img_id")),
        target="" if hidden else str(row.whole("target_img_id")),
        ground_truths=() if hidden else tuple(str(number) for number in row.wholes("gt_img_ids")),
        aspects=() if hidden else tuple(row.texts("semantic_aspects")),
    )


def _read_gallery_ids(folders: Folders) -> tuple[str, tuple[str, ...] | None]:
    """Return the file that the list came from, and the ids; None where no list is at hand."""
    name = "image_info_unlabeled2017.json"
    coco = folders.find(f"COCO2017_unlabeled/annotations/{name}", f"annotations/{name}", name)
    if coco is not None:
        info = read_object(coco)
        rows = (Record(row, info.file, "images") for row in info.items("images") if isinstance(row, dict))
        return str(coco), tuple(str(row.whole("id")) for row in rows)
    plain = folders.find("unlabeled2017_ids.txt")
    if plain is not None:
        return str(plain), tuple(coco_id(line.strip()) for line in read_lines(plain))
    paths = release.read_gallery_paths(folders, "circo")
    return "gallery_paths of CIRCO", None if paths is None else tuple(coco_id(path) for path in paths)


def _read_part(folders: Folders, part: str, name: str) -> Split:
    queries, pool = read_queries(folders, part), read_pool(folders)
    images = pool.images(named_images(queries))
    return Split(
        name=name,
        version=1,
        protocol=protocols.CIRCO,
        query_ids=tuple(str(query.index) for query in queries),
        texts=tuple(query.text for query in queries),
        references=tuple((images.index[query.reference],) for query in queries),
        images=images.names,
        galleries=(pool.gallery(images),),
        gallery_of=np.zeros(len(queries), dtype=np.int32),
        judgments=judged_lines(queries, images),
        subsets={Subset.FULL: every(len(queries))},
        clusters=np.arange(len(queries), dtype=np.int32),
        groups={"aspect": _aspect_masks(queries)} if part == "val" else {},
        hidden_truth=part == "test",
        query_aliases=aliases(queries),
        image_prefix=IMAGE_PREFIX,
        lookalikes=(lookalike("test" if part == "val" else "val"),),
        licence=LICENCE,
    )


def _aspect_masks(queries: Sequence[Query]) -> Mapping[str, BoolArray]:
    return {
        aspect: mask(len(queries), (q for q, query in enumerate(queries) if aspect in query.aspects))
        for aspect in ASPECTS
    }
