"""A table to take along: CSV and JSON at full precision, LaTeX and Markdown as people read it."""

from collections.abc import Callable, Mapping

from leaderboard.exports.csv_text import csv_text, tame
from leaderboard.exports.json_text import json_text
from leaderboard.exports.latex import latex
from leaderboard.exports.markdown import markdown
from leaderboard.exports.sheet import FORMATS, Field, Sheet, Value

__all__ = ["FORMATS", "Field", "Sheet", "Value", "csv_text", "json_text", "latex", "markdown", "tame", "written"]

_WRITERS: Mapping[str, Callable[[Sheet], str]] = {
    "csv": csv_text,
    "json": json_text,
    "latex": latex,
    "markdown": markdown,
}


def written(sheet: Sheet, name: str) -> str:
    """Return ``sheet`` in the format called ``name``, one of :data:`FORMATS`. Raises KeyError for another."""
    return _WRITERS[name](sheet)
