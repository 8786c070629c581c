"""LaSCo's queries as CIRCUS audited them, from ``lasco_val.json`` or the traces of CIRCUS's release; its val corpus.

A query's number is its row in ``lasco_val.json``. The audit skipped a row, without renumbering, when its text is
empty or an image of it is missing, so the 30,031 numbers are **not** 0 … 30030. Licence: MIT (levymsn/LaSCo).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.importers import release
from leaderboard.importers.official import Folders, Record, coco_id, read_records
from leaderboard.importers.pool import COCO_ID, Pool
from leaderboard.importers.refusal import Difference, ImportRefused, require_counts, require_none

LICENCE = "MIT (annotations)"
IMAGE_PREFIX = "lasco_img_"
_QUERY_PREFIX = "lasco_q_test_"
QUERIES, GALLERY_SIZE = 30_031, 39_826
_NATIVE_FILES = ("lasco_val.json", "downloads/lasco_val.json")
_CORPUS_FILES = ("lasco_val_corpus.json", "downloads/lasco_val_corpus.json")


@dataclass(frozen=True)
class Query:
    """One audited query; ``alias`` is its id in CIRCUS's query files, empty where that is not known."""

    index: int
    alias: str
    text: str
    reference: str
    target: str


def read_pool(folders: Folders) -> Pool:
    """Return the val corpus from its file or CIRCUS's audit file; open where neither is there."""
    path = folders.find(*_CORPUS_FILES)
    if path is not None:
        ids: tuple[str, ...] | None = tuple(str(row.whole("id")) for row in read_records(path))
    else:
        paths = release.read_gallery_paths(folders, "lasco")
        ids = None if paths is None else tuple(coco_id(entry) for entry in paths)
    if ids is not None:
        require_counts({"images": GALLERY_SIZE}, {"images": len(set(ids))}, str(path or "gallery_paths of LaSCo"))
    return Pool("LaSCo val corpus", COCO_ID, ids)


def read_queries(folders: Folders, pool: Pool) -> tuple[Query, ...]:
    """Return the audited queries in row order. Raises ImportRefused unless there are exactly 30,031."""
    traced = release.read_traces(folders, "lasco")
    native_file = folders.find(*_NATIVE_FILES)
    if traced is None:
        native = _read_native(folders.require(*_NATIVE_FILES, "shortcut_free_subsets/lasco/…/*.trace.csv"))
        queries = [query for query in native if _is_audited(query, pool)]
    else:
        queries = [_from_trace(row) for row in traced]
        if native_file is not None:
            queries = _with_native_ids(queries, _read_native(native_file), native_file)
    require_counts({"audited queries": QUERIES}, {"audited queries": len(queries)}, str(native_file or "LaSCo traces"))
    return tuple(queries)


def aliases(queries: Sequence[Query]) -> dict[str, int]:
    """Return alias -> position for the ids that name exactly one query: that qids never repeat is not published."""
    times = Counter(query.alias for query in queries)
    return {query.alias: q for q, query in enumerate(queries) if query.alias and times[query.alias] == 1}


def _read_native(path: Path) -> list[Query]:
    return [_native_query(number, row) for number, row in enumerate(read_records(path))]


def _native_query(number: int, row: Record) -> Query:
    return Query(
        index=number,
        alias=f"{_QUERY_PREFIX}{row.whole('qid')}",
        text=row.text("query-text"),
        reference=_image_id(row, "query-image"),
        target=_image_id(row, "target-image"),
    )


def _image_id(row: Record, key: str) -> str:
    """Return the id of an ``[id, path]`` pair."""
    pair = row.items(key)
    if len(pair) != 2 or not str(pair[0]).isdigit():
        raise ImportRefused(Difference(f"{row.place}, field {key!r}", "[id, path]", repr(pair)[:80], row.file))
    return str(int(pair[0]))


def _is_audited(query: Query, pool: Pool) -> bool:
    """Whether the audit's skip rule, as far as it can be told without the images, keeps the row."""
    inside = pool.members is None or (query.reference in pool.lookup and query.target in pool.lookup)
    return bool(query.text.strip()) and inside


def _from_trace(row: release.TraceRow) -> Query:
    target = row.positive_id.removeprefix(IMAGE_PREFIX)
    return Query(row.index, row.native_id, row.text, coco_id(row.reference_path), target)


def _with_native_ids(traced: list[Query], native: list[Query], file: Path) -> list[Query]:
    """Return the native rows that were audited, having checked that the traces number the same file."""
    named = [query for query in traced if query.index < len(native)]
    rows = [native[query.index] for query in named]
    shifted = [str(one.index) for one, row in zip(named, rows, strict=True) if _content(one) != _content(row)]
    beyond = [str(query.index) for query in traced if query.index >= len(native)]
    require_none("query_idx whose row differs from the trace", shifted + beyond, str(file))
    return rows


def _content(query: Query) -> tuple[str, str, str]:
    return query.text, query.reference, query.target
