"""Finding and parsing official files. One that is missing or malformed is refused by name, never with a traceback."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.importers.refusal import Difference, FileMissing, ImportRefused


@dataclass(frozen=True)
class Folders:
    """The folders a maintainer gave, searched in order."""

    paths: tuple[Path, ...]

    @classmethod
    def of(cls, *paths: Path) -> Folders:
        """Return the folders ``paths``. Raises ImportRefused for one that is none."""
        for path in paths:
            if not path.is_dir():
                raise ImportRefused(Difference("folder", "a folder of official files", "no such folder", str(path)))
        return cls(paths)

    def find(self, *names: str) -> Path | None:
        """Return the first file that exists, trying each relative name in each folder; None where there is none."""
        return next((path for name in names for folder in self.paths if (path := folder / name).is_file()), None)

    def require(self, *names: str) -> Path:
        """As :meth:`find`, but raise FileMissing naming what was looked for."""
        found = self.find(*names)
        if found is None:
            where = ", ".join(str(folder) for folder in self.paths)
            raise FileMissing(Difference("file", " or ".join(names), "no such file", where))
        return found


@dataclass(frozen=True)
class Record:
    """One JSON object of an official file, read field by field with the type that the format promises."""

    fields: dict[str, Any]
    file: str
    place: str

    def text(self, key: str) -> str:
        return str(self._typed(key, str, "text"))

    def whole(self, key: str) -> int:
        return int(self._typed(key, int, "a whole number"))

    def flag(self, key: str) -> bool:
        return bool(self._typed(key, bool, "true or false"))

    def record(self, key: str) -> Record:
        return Record(self._typed(key, dict, "an object"), self.file, f"{self.place}, {key}")

    def items(self, key: str) -> list[Any]:
        return list(self._typed(key, list, "a list"))

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        return [value if isinstance(value, str) else self._refuse(key, "texts", value) for value in self.items(key)]

    def optional_texts(self, key: str) -> list[str | None]:
        """A list of texts with nulls in it, as PinPoint's negatives."""
        wrong = [value for value in self.items(key) if not (value is None or isinstance(value, str))]
        return self.items(key) if not wrong else self._refuse(key, "texts or nulls", wrong[0])

    def wholes(self, key: str) -> list[int]:
        """A list of whole numbers."""
        return [
            value if isinstance(value, int) and not isinstance(value, bool) else self._refuse(key, "numbers", value)
            for value in self.items(key)
        ]

    def _typed(self, key: str, kind: type, words: str) -> Any:
        value = self.fields.get(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self._refuse(key, words, value if key in self.fields else "nothing")
        return value

    def _refuse(self, key: str, words: str, value: object) -> Any:
        found = repr(value)[:80]
        raise ImportRefused(Difference(f"{self.place}, field {key!r}", words, found, self.file))


def read_json(path: Path) -> Any:
    """Return the JSON value of a file. Raises ImportRefused when it is unreadable."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ImportRefused(Difference("file", "a JSON file in UTF-8", str(error), str(path))) from error


def read_object(path: Path) -> Record:
    """Return a file that is one JSON object."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise ImportRefused(Difference("file", "a JSON object", type(value).__name__, str(path)))
    return Record(value, str(path), "the file")


def read_records(path: Path) -> list[Record]:
    """Return the rows of a file that is a JSON list of objects."""
    rows = read_json(path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ImportRefused(Difference("file", "a JSON list of objects", type(rows).__name__, str(path)))
    return [Record(row, str(path), f"row {number}") for number, row in enumerate(rows)]


def read_texts(path: Path) -> list[str]:
    """Return a file that is a JSON list of texts."""
    return Record({"list": read_json(path)}, str(path), "the file").texts("list")


def read_json_lines(path: Path) -> list[Record]:
    """Return the rows of a JSON lines file, gzipped or not."""
    return list(_parse_lines(path, read_lines(path)))


def _parse_lines(path: Path, lines: list[str]) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ImportRefused(Difference(f"line {number}", "a JSON object", str(error), str(path))) from error
        if not isinstance(row, dict):
            raise ImportRefused(Difference(f"line {number}", "a JSON object", type(row).__name__, str(path)))
        yield Record(row, str(path), f"line {number}")


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, gzipped or not, without line ends and without empty ones."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ImportRefused(Difference("file", "a text file in UTF-8", str(error), str(path))) from error
    return [line for line in text.split("\n") if line.strip()]


def read_table(path: Path, *columns: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file that has at least ``columns``; quoted cells may hold line breaks."""
    try:
        with path.open(encoding="utf-8", newline="") as opened:
            reader = csv.DictReader(opened, strict=True)
            rows = list(reader)
            header = list(reader.fieldnames or ())
    except (OSError, ValueError, csv.Error) as error:
        raise ImportRefused(Difference("file", "a CSV file in UTF-8", str(error), str(path))) from error
    missing = [column for column in columns if column not in header]
    if missing:
        raise ImportRefused(Difference("columns", ", ".join(columns), f"no {', '.join(missing)}", str(path)))
    return rows


def whole_number(text: str, what: str, file: Path) -> int:
    """Return a non-negative number written in digits. Raises ImportRefused for anything else."""
    if not (text.isascii() and text.isdigit()):
        raise ImportRefused(Difference(what, "a whole number", repr(text)[:80], str(file)))
    return int(text)


def file_stem(path: str) -> str:
    """Return the base name of a path in somebody else's file, without its extension."""
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def coco_id(path: str) -> str:
    """Return the COCO id in a file name, without leading zeros: ``COCO_val2014_000000546721.jpg`` -> ``546721``."""
    return file_stem(path).rsplit("_", 1)[-1].lstrip("0")
