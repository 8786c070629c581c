"""JSON lines: one object a line, ``{"query": ..., "images": [...]}``, with the names that people give these keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evaluator.errors import FaultList
from evaluator.formats.json_text import JsonReader, refuse_costly
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.tables import cut_line, refuse_many_queries
from evaluator.formats.text import lines
from evaluator.formats.written import Written, described, quoted

QUERY_KEYS = ("query", "query_id", "qid", "pairid", "id")
IMAGE_KEYS = ("images", "image_ids", "ranking", "retrieved_items", "candidates", "predictions")
_NEXT_OBJECT = re.compile(r"\s*\{")


def is_json_lines(text: str) -> bool:
    """Whether the second line begins another object, rather than the value of a key."""
    body = text.lstrip()
    end = body.find("\n")
    if end < 0 or not body.startswith("{") or not _NEXT_OBJECT.match(body, end):
        return False
    return not body[:end].rstrip().endswith(":")


def read_json_lines(text: str, limits: Limits, faults: FaultList) -> Written:
    """Read every line; a line that is no object is a fault, and the others are still read."""
    refuse_costly(text, limits)
    refuse_many_queries(text.count("\n"), limits)
    return read_records(list(each_record(text, faults)), faults)


def each_record(text: str, faults: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line that holds one; a line that does not is a fault."""
    reader = JsonReader()
    cut = cut_line(text)
    for number, line in enumerate(lines(text), start=1):
        record = _record(reader, line, number, number == cut, faults) if line.strip() else None
        if record is not None:
            yield number, record


def read_records(records: Iterable[tuple[int, dict[str, Any]]], faults: FaultList) -> Written:
    """Turn (line number, object) pairs into a ranking as written."""
    queries: list[object] = []
    images: list[Sequence[object] | None] = []
    numbers: list[int] = []
    for number, record in records:
        query_key, images_key = named(record, QUERY_KEYS), named(record, IMAGE_KEYS)
        if query_key is None or images_key is None:
            found = ", ".join(map(quoted, list(record)[:5])) or "no key"
            faults.add("line-keys", f"line {number}", found=found, expected='"query" and "images"')
            continue
        queries.append(record[query_key])
        images.append(_images(record[images_key], number, faults))
        numbers.append(number)
    return Written("jsonl", queries, images, lines=numbers)


def named(record: dict[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of ``names`` that is a key of ``record``."""
    return next((name for name in names if name in record), None)


def _record(reader: JsonReader, line: str, number: int, last: bool, faults: FaultList) -> dict[str, Any] | None:
    place = f"line {number}"
    reader.repeats.clear()
    try:
        record = reader.read(line)
    except UnreadableError as error:
        cut_within = error.code == "truncated" and not last
        faults.add("invalid-json" if cut_within else error.code, place, **error.facts)
        return None
    for _, key in reader.repeats:
        faults.add("repeated-key", place, found=f"the key {quoted(key)} twice", expected="each key once")
    if not isinstance(record, dict):
        faults.add("wrong-top-type", place, found=described(record), expected="an object on each line")
        return None
    return record


def _images(value: object, number: int, faults: FaultList) -> list[object] | None:
    if isinstance(value, list):
        return value
    faults.add("not-a-list", f"line {number}", found=described(value), expected="a list of image ids")
    return None
