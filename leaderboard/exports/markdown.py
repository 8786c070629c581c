"""Markdown: a table as GitHub has it. Nothing in a cell is taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

from leaderboard.exports.sheet import Field, Sheet, one_line

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~$:@^=-])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def markdown(sheet: Sheet) -> str:
    """Return title, table and notes."""
    numbers = [field.number for field in sheet.fields]
    lines = [
        f"**{_text(sheet.title)}**",
        "",
        _row(_head(field) for field in sheet.fields),
        _row("--:" if number else ":--" for number in numbers),
        *(_row(map(_cell, row, numbers)) for row in sheet.shown),
    ]
    notes = [f"* {_text(note)}" for note in sheet.notes]
    source = [f"Source: <{sheet.address}>"] if sheet.address else []
    return "\n".join([*lines, *(["", *notes] if notes else []), *(["", *source] if source else [])]) + "\n"


def _head(field: Field) -> str:
    return _text(f"{field.group}, {field.label}" if field.group else field.label)


def _cell(shown: str, number: bool) -> str:
    return one_line(shown) if number and re.fullmatch(r"-?[\d.]+", shown) else _text(shown)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Return words that Markdown prints as they are, inside a table too."""
    kept = "".join(_HTML.get(char, char) for char in one_line(text))
    return _MARKUP.sub(r"\\\1", kept.replace("&amp;", "&amp;"))
