"""CSV: one head for each field, numbers at full precision, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io

from leaderboard.exports.sheet import Sheet, Value

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(sheet: Sheet) -> str:
    """Return the sheet as RFC 4180 has it, but with line feeds."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([tame(field.key) for field in sheet.fields])
    writer.writerows([[_cell(value) for value in row] for row in sheet.values])
    return file.getvalue()


def tame(text: str) -> str:
    """Return a cell of text that no spreadsheet runs. Numbers are not text: a minus sign before one stays."""
    return f"'{text}" if text.startswith(_RUN_BY_SPREADSHEETS) else text


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return tame(value) if isinstance(value, str) else repr(value)
