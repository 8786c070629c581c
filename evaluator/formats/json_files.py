"""One JSON object per file: the CIRR server's two files, the CIRCO server's, PinPoint's, and the plain one.

All hold one entry a query; they differ in what an entry is and in what stands beside them. The text is parsed once,
then the first shape of :data:`SHAPES` that recognises the object reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluator.errors import FaultList
from evaluator.formats.json_lines import QUERY_KEYS, named, read_records
from evaluator.formats.json_text import JsonReader, refuse_costly
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.tables import refuse_many_queries
from evaluator.formats.written import Role, Written, described, quoted

_CIRR_HEADER = ("version", "metric")
_RETRIEVED = "retrieved_items"

Table = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """One kind of JSON object: how to know it, and how to read it."""

    recognises: Callable[[Table], bool]
    read: Callable[[Table, FaultList], Written]


def read_json(text: str, limits: Limits, faults: FaultList) -> Written:
    """Read a file of one JSON object. Raises UnreadableError where there is no such object."""
    refuse_costly(text, limits)
    reader = JsonReader()
    table = reader.read(text)
    if not isinstance(table, dict):
        raise UnreadableError("wrong-top-type", found=described(table), expected="an object")
    refuse_many_queries(len(table), limits)
    for holder, key in reader.repeats:
        code = "repeated-query" if holder is table else "repeated-key"
        faults.add(code, f"key {quoted(key)}", found="the same key twice in one object", expected="each key once")
    return next(shape for shape in SHAPES if shape.recognises(table)).read(table, faults)


def _is_cirr(table: Table) -> bool:
    return any(isinstance(table.get(key), str) for key in _CIRR_HEADER)


def _read_cirr(table: Table, faults: FaultList) -> Written:
    """The header keys may stand anywhere: the field's writers sort keys, which puts them last (protocols.md 6)."""
    lists = {query: images for query, images in table.items() if query not in _CIRR_HEADER}
    if table.get("version", "rc2") != "rc2":
        faults.add("unknown-version", 'key "version"', found=quoted(table["version"]), expected='"rc2"')
    metric = table.get("metric")
    if metric not in (Role.RANKING, Role.MEMBERS):
        raise UnreadableError(
            "unknown-metric", 'key "metric"', found=quoted(metric), expected='"recall" or "recall_subset"'
        )
    return _written("cirr", lists, faults, Role(metric))


def _is_pinpoint(table: Table) -> bool:
    return any(isinstance(value, dict) and _RETRIEVED in value for value in table.values())


def _read_pinpoint(table: Table, faults: FaultList) -> Written:
    lists = {query: _retrieved(query, value, faults) for query, value in table.items()}
    return Written("pinpoint", list(lists), list(lists.values()))


def _retrieved(query: str, value: object, faults: FaultList) -> list[object] | None:
    if isinstance(value, dict) and _RETRIEVED not in value:
        faults.add("no-retrieved-items", f"query {quoted(query)}", found="an object without this key")
        return None
    return _as_list(query, value[_RETRIEVED] if isinstance(value, dict) else value, faults)


def _is_circo(table: Table) -> bool:
    """Queries are the list positions 0..n-1, images are COCO's numbers."""
    return bool(table) and all(str(position) in table for position in range(len(table))) and _is_numeric(table["0"])


def _is_numeric(images: object) -> bool:
    return isinstance(images, list) and bool(images) and (type(images[0]) is int or str(images[0]).isdecimal())


def _read_circo(table: Table, faults: FaultList) -> Written:
    return _written("circo", table, faults)


def _is_record(table: Table) -> bool:
    """A file of JSON lines with a single line."""
    return named(table, QUERY_KEYS) is not None and not isinstance(table[str(named(table, QUERY_KEYS))], list)


def _read_record(table: Table, faults: FaultList) -> Written:
    return read_records([(1, table)], faults)


def _read_plain(table: Table, faults: FaultList) -> Written:
    return _written("json", table, faults)


SHAPES = (
    Shape(_is_cirr, _read_cirr),
    Shape(_is_pinpoint, _read_pinpoint),
    Shape(_is_circo, _read_circo),
    Shape(_is_record, _read_record),
    Shape(lambda table: True, _read_plain),
)
"""Tried in this order; the plain shape takes whatever is left."""


def _written(key: str, table: Table, faults: FaultList, role: Role = Role.RANKING) -> Written:
    return Written(key, list(table), [_as_list(query, images, faults) for query, images in table.items()], role)


def _as_list(query: str, value: object, faults: FaultList) -> list[object] | None:
    if isinstance(value, list):
        return value
    faults.add("not-a-list", f"query {quoted(query)}", found=described(value), expected="a list of image ids")
    return None
