"""A split out of a folder of pictures and a file of queries, for those who have no bundle."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.probing.pictures import picture_files
from evaluator.protocols import CIRCUS_MULTI
from evaluator.types import Gallery, Judgments, Split, Subset

FIELDS = ("id", "reference", "text", "targets")
SEPARATOR = "|"
"""Between several ids in one field of a CSV file."""
_LISTED = 50
_NO_AUDIT = "these queries have not been audited yet"


@dataclass(frozen=True)
class Wrong:
    """One fault of a file of queries."""

    line: int
    """From 1; 0 for the file as a whole."""
    found: str
    remedy: str

    def __str__(self) -> str:
        return f"{f'line {self.line}: ' if self.line else ''}{self.found}. {self.remedy}"


class QuestionsError(EvaluatorError):
    """A file of queries, or a folder of pictures, that gives no split: every fault, with its line."""

    def __init__(self, path: Path, faults: list[Wrong]) -> None:
        self.faults = tuple(faults)
        shown = [f"  {fault}" for fault in faults[:_LISTED]]
        more = [f"  and {len(faults) - _LISTED:,} more"] if len(faults) > _LISTED else []
        number = f"{len(faults):,} fault{'s' * (len(faults) > 1)}"
        super().__init__("\n".join([f"{path}: {number}", *shown, *more]))


@dataclass(frozen=True)
class _Question:
    id: str
    references: tuple[str, ...]
    text: str
    targets: tuple[str, ...]


def read_questions(path: Path, folder: Path) -> Split:
    """Return the queries of ``path`` as a split whose gallery is every picture below ``folder``.

    Each line is an object of JSON, or a row of CSV under the header ``id,reference,text,targets``: one or two ids of
    reference pictures, one or more of targets; several are a JSON list, or stand in one CSV field with ``|`` between
    them. A picture's id is its file's name without ending. Raises QuestionsError with every fault, OSError.
    """
    images, faults = _image_ids(folder)
    known = frozenset(images)
    seen: set[str] = set()
    questions = []
    for line, row in _rows(path, faults):
        question = _question(row)
        wrong = list(_faults(row, question, known, seen))
        faults += [Wrong(line, *fault) for fault in wrong]
        if not wrong:
            questions.append(question)
        seen.add(question.id)
    if not faults and not questions:
        faults.append(Wrong(0, "no query", "Write one query a line."))
    if faults:
        raise QuestionsError(path, faults)
    return _split(path.stem, questions, images)


def _image_ids(folder: Path) -> tuple[list[str], list[Wrong]]:
    """Return the ids of all pictures in byte order, and what is wrong with the folder."""
    counts = Counter(path.stem for path in picture_files(folder))
    twice = sorted(name for name, count in counts.items() if count > 1)
    remedy = "Give every picture a name of its own."
    faults = [Wrong(0, f"several pictures in {folder} are named {name}", remedy) for name in twice]
    if not counts:
        faults.append(Wrong(0, f"no picture in {folder}", "Give the folder that holds the pictures."))
    return sorted(counts, key=str.encode), faults


def _rows(path: Path, faults: list[Wrong]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (line, fields) of every row that can be read; note those that cannot."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        faults.append(Wrong(0, f"byte {error.start} is no UTF-8", "Save the file as UTF-8."))
        return
    if text.lstrip().startswith("{"):
        yield from _json_rows(text, faults)
    else:
        yield from _csv_rows(text, faults)


def _json_rows(text: str, faults: list[Wrong]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.append(Wrong(number, f"not JSON: {error}", "Write one object on each line."))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            faults.append(Wrong(number, "no object of JSON", f"Write an object with {', '.join(FIELDS)}."))


def _csv_rows(text: str, faults: list[Wrong]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        lacking = [name for name in FIELDS if name not in header]
        if lacking:
            faults.append(Wrong(1, f"no column {', '.join(lacking)}", f"Begin with the header {','.join(FIELDS)}."))
            return
        begins = rows.line_num + 1
        for row in rows:
            if row and len(row) != len(header):
                found = f"{len(row)} fields instead of {len(header)}"
                faults.append(Wrong(begins, found, "Put a text with commas into quotation marks."))
            elif row:
                fields = dict(zip(header, row, strict=True))
                yield begins, {**fields, **{name: _several(fields[name]) for name in ("reference", "targets")}}
            begins = rows.line_num + 1
    except csv.Error as error:
        faults.append(Wrong(rows.line_num, f"not CSV: {error}", "Write the file with a CSV library."))


def _several(field: str) -> list[str]:
    return [part.strip() for part in field.split(SEPARATOR) if part.strip()]


def _question(row: Mapping[str, Any]) -> _Question:
    """Return what a row says, empty where it says something of another kind."""

    def ids(name: str) -> tuple[str, ...]:
        value = row.get(name)
        listed = value if isinstance(value, list) else [value]
        return tuple(_id(part) for part in listed) if all(map(_id, listed)) else ()

    text = row.get("text")
    return _Question(_id(row.get("id")), ids("reference"), text if isinstance(text, str) else "", ids("targets"))


def _id(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value).strip() if whole or isinstance(value, str) else ""


def _faults(
    row: Mapping[str, Any], question: _Question, known: frozenset[str], seen: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield (what is wrong, what to do)."""
    if not question.id:
        yield "no id", "Give every query an id of its own."
    elif question.id in seen:
        yield f"the id {question.id} stands twice", "Give every query an id of its own."
    if not 1 <= len(question.references) <= 2:
        yield f"{len(question.references)} reference pictures", "Give the id of one reference picture, or of two."
    if not isinstance(row.get("text"), str) or not question.text.strip():
        yield "no text", "Write what is to be changed; an audit compares with and without it."
    if not question.targets:
        yield "no target", "Give the id of at least one picture that answers the query."
    for name, ids in (("reference", question.references), ("target", question.targets)):
        if repeated := sorted(image for image, count in Counter(ids).items() if count > 1):
            yield f"the {name} {', '.join(repeated)} stands twice", "Give each picture once."
        for image in dict.fromkeys(ids):
            if image not in known:
                yield f"the {name} {image} is no picture of the folder", "Use its file's name without the ending."


def _split(name: str, questions: list[_Question], images: list[str]) -> Split:
    place = {image: spot for spot, image in enumerate(images)}
    lines = sorted(
        (query, place[image], number == 0)
        for query, question in enumerate(questions)
        for number, image in enumerate(question.targets)
    )
    references = tuple(tuple(place[image] for image in question.references) for question in questions)
    numbers: dict[tuple[int, ...], int] = {}
    yes, no = np.ones(len(lines), dtype=np.bool_), np.zeros(len(lines), dtype=np.bool_)
    return Split(
        name=name,
        version=1,
        protocol=CIRCUS_MULTI,
        query_ids=tuple(question.id for question in questions),
        texts=tuple(question.text for question in questions),
        references=references,
        images=tuple(images),
        galleries=(Gallery("pictures", np.arange(len(images), dtype=np.int32)),),
        gallery_of=np.zeros(len(questions), dtype=np.int32),
        judgments=Judgments(
            query=np.array([line[0] for line in lines], dtype=np.int32),
            image=np.array([line[1] for line in lines], dtype=np.int32),
            positive=yes,
            negative=no,
            target=np.array([line[2] for line in lines], dtype=np.bool_),
            member=no,
            positives_released=np.array([len(question.targets) for question in questions], dtype=np.int32),
            negatives_released=np.zeros(len(questions), dtype=np.int32),
        ),
        subsets={Subset.FULL: np.ones(len(questions), dtype=np.bool_)},
        clusters=np.array([numbers.setdefault(shown, len(numbers)) for shown in references], dtype=np.int32),
        cluster_name="reference image",
        absent={subset: _NO_AUDIT for subset in CIRCUS_MULTI.subsets if subset != Subset.FULL},
    )
