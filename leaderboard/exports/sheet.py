"""What every export is made of: fields, values at full precision, and the same cells as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Field:
    """One column. ``key`` is its head in CSV and JSON, where no heading spans several."""

    key: str
    label: str
    group: str = ""
    """The heading over it and its neighbours, in LaTeX and Markdown."""
    number: bool = False


@dataclass(frozen=True)
class Sheet:
    """One table. ``values`` and ``shown`` are parallel, row by row and field by field."""

    name: str
    """What its file is called, without ending."""
    title: str
    fields: tuple[Field, ...]
    values: tuple[tuple[Value, ...], ...]
    shown: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    address: str = ""
    """Where it comes from."""


@dataclass(frozen=True)
class Format:
    """One way to write a sheet."""

    label: str
    ending: str
    content_type: str


FORMATS: Mapping[str, Format] = {
    "csv": Format("CSV", "csv", "text/csv; charset=utf-8"),
    "json": Format("JSON", "json", "application/json"),
    "latex": Format("LaTeX", "tex", "application/x-tex; charset=utf-8"),
    "markdown": Format("Markdown", "md", "text/markdown; charset=utf-8"),
}
"""Name in an address -> format."""


def one_line(text: str) -> str:
    """Return ``text`` on one line, without characters that print nothing or turn the direction of what follows."""
    return " ".join("".join(char if _prints(char) else " " for char in text).split())


def _prints(char: str) -> bool:
    return char.isprintable() or char in _JOINERS


_JOINERS = "\u200c\u200d\ufe0f"
"""Joiners and the picture selector: emoji and scripts need them within a word."""
