"""What a reader is given, what it may spend, and how it says that it cannot go on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SourceFile:
    """One file as it was sent. The name is only ever shown, never trusted and never opened."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Limits:
    """What one file may cost. With the defaults a reader stays under about 2.5 GB whatever it is fed.

    Nothing is written to disk, and an archive is never expanded beyond ``unpacked_bytes`` to see how large it is.
    """

    unpacked_bytes: int = 200_000_000
    entries: int = 12_000_000
    """Image ids in the file, and cells of the ranking (queries times the longest list): 4,181 x 2,296 fits."""
    judged: int = 1_000_000
    """Rows of a judged-ranks file; PinPoint has a third of a million judgments."""
    containers: int = 8_000_000
    """Lists and objects in a JSON file: three bytes of text each, but 60 and more of memory."""
    keys: int = 4_000_000
    """Keys of JSON objects, counted before they are read: five bytes of text each, but 200 and more of memory."""
    queries: int = 200_000
    """Queries in the file; the largest split has 30,031."""
    archive_entries: int = 1_000


DEFAULT = Limits()


class UnreadableError(Exception):
    """A file, or one line of it, that cannot be read any further: a fault on its way to the list."""

    def __init__(self, code: str, place: str = "", *, found: str = "", expected: str = "", remedy: str = "") -> None:
        self.code, self.place = code, place
        self.facts = {"found": found, "expected": expected, "remedy": remedy}
        super().__init__(code)
