"""Which format a text is in: told from the content, never from the file's name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from evaluator.errors import FaultList
from evaluator.formats.csv_files import is_bare_csv, is_csv, read_csv, refuse_bare_csv
from evaluator.formats.json_files import read_json
from evaluator.formats.json_lines import is_json_lines, read_json_lines
from evaluator.formats.judged_files import is_judged_lines, is_judged_table, read_judged_lines, read_judged_table
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.tables import first_line
from evaluator.formats.trec import is_trec, read_trec
from evaluator.formats.written import Written, quoted
from evaluator.types import Split

_SCALAR = re.compile(r'\s*(null|true|false|NaN|-?Infinity|"[^"\n]*"|-?[\d.]+([eE][-+]?\d+)?)\s*')


@dataclass(frozen=True)
class Syntax:
    """One way to write a ranking as text: how to know it, and how to read it."""

    recognises: Callable[[str], bool]
    read: Callable[[str, Split, Limits, FaultList], Written]


def read_text(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    """Read a text in whichever syntax it is. Raises UnreadableError where it is in none."""
    for syntax in SYNTAXES:
        if syntax.recognises(text):
            return syntax.read(text, split, limits, faults)
    expected = "JSON, JSON lines, CSV with a header, or a TREC run"
    raise UnreadableError("unknown-format", "line 1", found=quoted(first_line(text).strip()), expected=expected)


def _is_json(text: str) -> bool:
    return first_line(text).lstrip()[:1] in ("{", "[") or _SCALAR.fullmatch(text[:1_000]) is not None


def _refuse_bare_csv(text: str, split: Split, limits: Limits, faults: FaultList) -> Written:
    raise refuse_bare_csv(text)


SYNTAXES = (
    Syntax(is_judged_lines, read_judged_lines),
    Syntax(is_judged_table, read_judged_table),
    Syntax(is_json_lines, lambda text, split, limits, faults: read_json_lines(text, limits, faults)),
    Syntax(_is_json, lambda text, split, limits, faults: read_json(text, limits, faults)),
    Syntax(is_csv, read_csv),
    Syntax(is_trec, read_trec),
    Syntax(is_bare_csv, _refuse_bare_csv),
)
"""Tried in this order. The last one only knows its kind to say what is missing."""
