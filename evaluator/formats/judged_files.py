"""Judged-ranks files: the whole gallery's rank of every judged image, as a table or as JSON lines (decision 22)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from evaluator.errors import FaultList
from evaluator.formats.csv_files import fields_of, numbered_rows, refuse_wide_header
from evaluator.formats.ids import add_wrong_type, id_text
from evaluator.formats.json_lines import each_record
from evaluator.formats.json_text import refuse_costly
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.tables import Table, cut_line, first_line, refuse_long
from evaluator.formats.written import Role, Written, described, quoted
from evaluator.ranks import rankable
from evaluator.types import JudgedRanks, Split

KEY = "judged-ranks"
"""What ``JudgedRanks.format`` says of a run that was read from such a file."""
HEADER = ("query", "judged_image", "gallery_rank")
"""The columns of the table, and the keys of each line of JSON."""


def is_judged_table(text: str) -> bool:
    """Whether the first line is a header with a column of judged images."""
    return HEADER[1] in map(str.lower, fields_of(first_line(text)))


def is_judged_lines(text: str) -> bool:
    """Whether the first line is an object that names a judged image."""
    line = first_line(text)
    return line.startswith("{") and f'"{HEADER[1]}"' in line


def read_judged_table(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    """Read a table with the columns of :data:`HEADER`, in any order; others are left alone."""
    refuse_long(text, limits.judged)
    refuse_wide_header(text)
    table = _table(split, limits)
    rows = numbered_rows(text)
    line, names = next(rows)
    columns = _columns(names, line)
    cut = cut_line(text)
    for line, fields in rows:
        if len(fields) == len(names):
            query, image, rank = (fields[column] for column in columns)
            table.add(query.strip(), image.strip(), rank, line, faults)
        else:
            code = "truncated" if line == cut else "csv-row"
            faults.add(code, f"line {line}", found=f"{len(fields)} fields", expected=f"{len(names)}, as in the header")
    return table.written(faults)


def read_judged_lines(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    """Read one object a line, with the keys of :data:`HEADER`."""
    refuse_long(text, limits.judged)
    refuse_costly(text, limits)
    table = _table(split, limits)
    for line, record in each_record(text, faults):
        _add_record(table, record, line, faults)
    return table.written(faults)


def write_judged(ranks: JudgedRanks, split: Split) -> str:
    """Return the table of ``ranks``, which are parallel to the judgments of ``split``."""
    return _written(split, ranks.rank[rankable(split)].tolist())


def judged_template(split: Split) -> str:
    """Return the table of everything that is to be ranked, without the ranks."""
    return _written(split, repeat("", int(rankable(split).sum())))


def _written(split: Split, ranks: Iterable[object]) -> str:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(HEADER)
    table.writerows((*pair, rank) for pair, rank in zip(_wanted(split), ranks, strict=True))
    return written.getvalue()


def _wanted(split: Split) -> Iterator[tuple[str, str]]:
    """Yield query and image of every judgment that has a rank."""
    judgments, lines = split.judgments, rankable(split)
    for query, image in zip(judgments.query[lines].tolist(), judgments.image[lines].tolist(), strict=True):
        yield split.query_ids[query], split.images[image]


def _table(split: Split, limits: Limits) -> Table:
    return Table(KEY, by_score=False, image_prefix=split.image_prefix, limits=limits, role=Role.JUDGED)


def _columns(names: list[str], line: int) -> list[int]:
    """Return where the columns of :data:`HEADER` stand. Raises UnreadableError."""
    plain = [name.strip().lower() for name in names]
    missing = [name for name in HEADER if name not in plain]
    if missing:
        found, expected = ", ".join(map(quoted, names[:8])), f"a column {' and a column '.join(missing)}"
        raise UnreadableError("csv-header", f"line {line}", found=found, expected=expected)
    return [plain.index(name) for name in HEADER]


def _add_record(table: Table, record: dict[str, Any], line: int, faults: FaultList) -> None:
    place = f"line {line}"
    if any(name not in record for name in HEADER):
        found = ", ".join(map(quoted, list(record)[:5])) or "no key"
        faults.add("line-keys", place, found=found, expected=" and ".join(map(quoted, HEADER)))
        return
    query, image, rank = (record[name] for name in HEADER)
    ids = [id_text(query), id_text(image)]
    for value, text, expected in zip((query, image), ids, ("a query id", "an image id"), strict=True):
        if text is None:
            add_wrong_type(faults, place, value, expected)
    if type(rank) is not int:
        faults.add("bad-rank", place, found=described(rank), expected="a whole number: 1, 2, 3, ...")
    elif ids[0] is not None and ids[1] is not None:
        table.add(ids[0], ids[1], str(rank), line, faults)
