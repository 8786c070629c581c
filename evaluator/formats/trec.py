"""TREC runs: ``query Q0 image rank score run-name``, with white space between."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.errors import FaultList
from evaluator.formats.source import Limits
from evaluator.formats.tables import Table, cut_line, first_line, refuse_long
from evaluator.formats.text import lines
from evaluator.formats.written import Written
from evaluator.types import Split


def is_trec(text: str) -> bool:
    """Whether the first line has six columns, or the ``Q0`` that marks a TREC run."""
    columns = first_line(text).split()
    return len(columns) == 6 or columns[1:2] == ["Q0"]


def read_trec(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    """Read a TREC run. As in ``trec_eval`` the score orders it and the rank column is not read."""
    refuse_long(text, limits.entries)
    table = Table("trec", by_score=True, image_prefix=split.image_prefix, limits=limits)
    cut = cut_line(text)
    for line, columns in _trec_lines(text):
        if len(columns) != 6:
            code = "truncated" if line == cut else "trec-columns"
            faults.add(code, f"line {line}", found=f"{len(columns)} columns", expected="six")
        else:
            table.add(columns[0], columns[2], columns[4], line, faults)
    return table.written(faults)


def _trec_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines(text), start=1):
        columns = line.split()
        if columns:
            yield number, columns
