"""A ranking as it is written: ids untouched, nothing checked but the shape of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a file is for; the values of the first two are the words of the CIRR server's ``metric`` key."""

    RANKING = "recall"
    MEMBERS = "recall_subset"
    JUDGED = "judged ranks"


@dataclass(frozen=True)
class Written:
    """Rankings in the order of the file: ``images[i]`` answers ``queries[i]``, best first; None where it is no list.

    Ids are what the file's syntax makes of them: text, or any JSON value. ``lines`` holds the line of each query (JSON
    lines), ``entry_lines`` the line of each image (tables); both are empty where a line says little, as in JSON.
    """

    format: str
    queries: Sequence[object]
    images: Sequence[Sequence[object] | None]
    role: Role = Role.RANKING
    lines: Sequence[int] = ()
    entry_lines: Sequence[Sequence[int]] = ()
    ranks: Sequence[Sequence[float]] = ()
    """The rank that a judged-ranks file gives each image; elsewhere empty, the order of the list being the ranks."""

    def place(self, row: int, entry: int = 0) -> str:
        """Where a reader of the file finds this query, or this image of its list."""
        where = f"query {quoted(self.queries[row])}"
        if self.entry_lines and self.entry_lines[row]:
            return f"{where}, line {self.entry_lines[row][entry]}"
        return f"{where}, line {self.lines[row]}" if self.lines else where

    def rank(self, row: int, entry: int) -> int:
        """The rank of this image of a list."""
        return int(self.ranks[row][entry]) if self.ranks else entry + 1


def quoted(value: object, limit: int = 80) -> str:
    """Return a value as a fault quotes it: short, and text in double quotes."""
    text = value if isinstance(value, str) else described(value)
    short = text if len(text) <= limit else text[:limit] + "…"
    return f'"{short}"' if isinstance(value, str) else short


def described(value: object) -> str:
    """Return what kind of JSON value this is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    return f"the number {value}"
