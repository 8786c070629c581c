"""CSV: a header, then one image a row. Comma, tab or semicolon, whichever the header uses."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from evaluator.errors import FaultList
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.tables import LONGEST_LOOK, Table, cut_line, first_line, refuse_long
from evaluator.formats.text import lines
from evaluator.formats.written import Written, quoted
from evaluator.types import Split

COLUMNS = {
    "query": ("query", "query_id", "qid", "pairid", "topic"),
    "image": ("image", "image_id", "candidate", "docid", "doc_id", "docno"),
    "rank": ("rank", "position"),
    "score": ("score", "similarity", "sim"),
}
"""Column -> the names it may have in a header, in any case."""
_DELIMITERS = (",", "\t", ";")


def is_csv(text: str) -> bool:
    """Whether the first line is a header: fields between delimiters, one of them a name that a column may have."""
    return any(_column(name) for name in fields_of(first_line(text)))


def read_csv(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    """Read a CSV file: ``query``, ``image``, and ``rank`` or ``score``; the rank decides where there are both."""
    refuse_long(text, limits.entries)
    refuse_wide_header(text)
    rows = numbered_rows(text)
    line, names = next(rows)
    columns = _header(names, line)
    table = Table("csv", "rank" not in columns, split.image_prefix, limits)
    query, image, order = columns["query"], columns["image"], columns["score" if table.by_score else "rank"]
    cut = cut_line(text)
    for line, fields in rows:
        if len(fields) == len(names):
            table.add(fields[query].strip(), fields[image].strip(), fields[order], line, faults)
        else:
            code, expected = "truncated" if line == cut else "csv-row", f"{len(names)}, as in the header"
            faults.add(code, f"line {line}", found=f"{len(fields)} fields", expected=expected)
    return table.written(faults)


def numbered_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank with their line numbers. Raises UnreadableError."""
    rows = csv.reader(lines(text), delimiter=_delimiter(first_line(text)), strict=True)
    try:
        for fields in rows:
            if fields and fields != [" " * len(fields[0])]:
                yield rows.line_num, fields
    except csv.Error as error:
        code = "truncated" if "unexpected end" in str(error) else "csv-row"
        raise UnreadableError(code, f"line {rows.line_num}", found=str(error), expected="fields, quoted") from error


def refuse_wide_header(text: str) -> None:
    """Refuse a header of millions of names before each is looked at."""
    if len(first_line(text)) == LONGEST_LOOK:
        found = f"a first line of {LONGEST_LOOK:,} characters or more"
        raise UnreadableError("csv-header", "line 1", found=found, expected="a header: query,image,rank")


def _header(names: list[str], line: int) -> dict[str, int]:
    """Return column -> position; unknown columns are left alone. Raises UnreadableError."""
    columns: dict[str, int] = {}
    for position, name in enumerate(names):
        columns.setdefault(_column(name), position)
    missing = [column for column in ("query", "image") if column not in columns]
    if not {"rank", "score"} & set(columns):
        missing.append("rank or score")
    if missing:
        found, expected = ", ".join(map(quoted, names[:8])), f"a column {' and a column '.join(missing)}"
        raise UnreadableError("csv-header", f"line {line}", found=found, expected=expected)
    return columns


def _column(name: str) -> str:
    plain = name.strip().lower()
    return next((column for column, names in COLUMNS.items() if plain in names), "")


def _delimiter(line: str) -> str:
    return max(_DELIMITERS, key=line.count)


def fields_of(line: str) -> list[str]:
    """Return the names in a header; none where it has no delimiter."""
    return [name.strip().strip('"') for name in line.split(_delimiter(line))] if _delimiter(line) in line else []


def is_bare_csv(text: str) -> bool:
    """Whether it looks like a CSV file whose header was left out."""
    return len(fields_of(first_line(text))) >= 3


def refuse_bare_csv(text: str) -> UnreadableError:
    """Return the fault for a CSV file without a header."""
    found = quoted(first_line(text).strip())
    return UnreadableError("csv-header", "line 1", found=found, expected="a header: query,image,rank")
