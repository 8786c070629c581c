"""Vectors as files have them to vectors in the split's order; every id that is missing, extra or repeated is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import EvaluatorError, FaultList
from evaluator.formats.ids import ImageIds, add_bad_image, add_unknown_query, id_text
from evaluator.formats.source import UnreadableError
from evaluator.formats.written import quoted
from evaluator.search.scores import Vectors, parts
from evaluator.search.survey import unsound
from evaluator.search.vectors import note
from evaluator.types import BoolArray, Condition, Embeddings, IntArray, Similarity, Split
from evaluator.vectors.source import Matrix, VectorLimits, VectorTable
from evaluator.vectors.tables import read_table

_BLOCK = 4096
"""Rows looked at together for numbers that are not finite."""


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors, and the list of their ids where the file has none."""

    path: Path
    ids: Path | None = None


def read_embeddings(
    gallery: VectorFile,
    queries: Mapping[Condition, VectorFile],
    split: Split,
    *,
    similarity: Similarity = Similarity.COSINE,
    limits: VectorLimits | None = None,
) -> dict[Condition, Embeddings]:
    """Read the vectors of a gallery and of the queries under one to three conditions, in the order of ``split``.

    Raises SubmissionError with the faults of all files, OSError where one cannot be opened, and EvaluatorError where
    the gallery's list is not at hand.
    """
    if any(held.is_open for held in split.galleries):
        raise EvaluatorError(f"the gallery of {split.name} is open: ranks need the whole gallery")
    reader = _Reader(similarity, limits or VectorLimits(), FaultList())
    images = reader.read(gallery, _Side.of_gallery(split))
    runs = {condition: reader.read(file, _Side.of_queries(split)) for condition, file in queries.items()}
    read = {condition: run for condition, run in runs.items() if run is not None}
    if images is not None:
        for condition, run in read.items():
            reader.faults.file = queries[condition].path.name
            _note_dimensions(run, images, reader.faults)
    reader.faults.raise_if_any()
    if images is None:
        raise EvaluatorError("vectors that were not read, without a fault")
    return {condition: Embeddings(run, images, similarity) for condition, run in read.items()}


def _note_dimensions(queries: Matrix, gallery: Matrix, faults: FaultList) -> None:
    if queries.shape[1] != gallery.shape[1]:
        found = f"{queries.shape[1]} coordinates, and {gallery.shape[1]} in the gallery"
        faults.add("vector-dimension", found=found, expected="as many in both")


@dataclass(frozen=True, eq=False)
class _Side:
    """What the vectors of one file are of: the queries of a split, or its images."""

    word: str
    names: tuple[str, ...]
    needed: BoolArray  # (names,) images that are in no gallery may be missing
    find: Callable[[Sequence[object]], IntArray]
    """Ids as written to positions, -1 for unknown ones."""
    blame: Callable[[FaultList, str, object], None]
    """Says what is wrong with an id that has no position."""

    @classmethod
    def of_gallery(cls, split: Split) -> _Side:
        needed = np.zeros(len(split.images), dtype=np.bool_)
        for gallery in split.galleries:
            needed[gallery.images] = True
        ids = ImageIds(split)

        def blame(faults: FaultList, place: str, value: object) -> None:
            add_bad_image(faults, place, value, ids)

        return cls("image", split.images, needed, ids.indices, blame)

    @classmethod
    def of_queries(cls, split: Split) -> _Side:
        def find(ids: Sequence[object]) -> IntArray:
            texts = map(id_text, ids)
            found = (-1 if text is None else split.query_index.get(text, -1) for text in texts)
            return np.fromiter(found, np.int32, len(ids))

        def blame(faults: FaultList, place: str, value: object) -> None:
            add_unknown_query(faults, place, value, split)

        return cls("query", split.query_ids, np.ones(len(split), dtype=np.bool_), find, blame)


@dataclass(frozen=True)
class _Reader:
    """What all files of one submission are read with."""

    similarity: Similarity
    limits: VectorLimits
    faults: FaultList

    def read(self, file: VectorFile, side: _Side) -> Matrix | None:
        """Return the vectors of one file in the order of ``side.names``; None where it cannot be read."""
        self.faults.file = file.path.name
        try:
            table = read_table(file.path, file.ids, self.limits)
        except UnreadableError as error:
            self.faults.add(error.code, error.place, **error.facts)
            return None
        ids = self._ids_of(table)
        if ids is None:
            return None
        position = side.find(ids)
        row = self._rows(position, ids, side)
        self._note_unsound(table.matrix, position, ids, side)
        in_order = len(row) == len(table.matrix) and np.array_equal(row, np.arange(len(row)))
        return table.matrix if in_order else table.matrix[np.maximum(row, 0)] if len(table.matrix) else None

    def _ids_of(self, table: VectorTable) -> Sequence[object] | None:
        """Return the ids of a table, one a row; note where there are none or not as many."""
        if table.ids is None:
            self.faults.add("vector-ids", found="vectors without ids", expected="a list of ids, one a row")
        elif len(table.ids) != len(table.matrix):
            found = f"{len(table.ids):,} ids for {len(table.matrix):,} rows"
            self.faults.add("vector-ids", found=found, expected="one a row")
        else:
            return table.ids
        return None

    def _rows(self, position: IntArray, ids: Sequence[object], side: _Side) -> IntArray:
        """Return the row (names,) of each name, -1 for none; note unknown, repeated and missing ids."""
        row = np.full(len(side.names), -1, dtype=np.int32)
        known = np.flatnonzero(position >= 0)
        row[position[known[::-1]]] = known[::-1]  # of several rows the first stays
        for at in self._first(np.flatnonzero(position < 0)):
            side.blame(self.faults, f"row {at}", ids[at])
        for at in self._first(known[row[position[known]] != known]):
            found = f"{quoted(side.names[position[at]])}, as on row {row[position[at]]}"
            self.faults.add("vector-repeated", f"row {at}", found=found, expected=f"one vector for each {side.word}")
        for at in self._first(np.flatnonzero((row < 0) & side.needed)):
            place = f"{side.word} {quoted(side.names[at])}"
            self.faults.add("vector-missing", place, found="no vector", expected="one")
        return row

    def _note_unsound(self, matrix: Matrix, position: IntArray, ids: Sequence[object], side: _Side) -> None:
        """Note rows that cannot be scored, of those that will be."""
        vectors = Vectors(matrix, self.similarity)
        read = (position >= 0) & side.needed[position]
        for part in parts(len(matrix), _BLOCK):
            lengths = vectors.lengths(vectors.raw(part))
            for at in self._first(np.flatnonzero(unsound(lengths, self.similarity) & read[part])):
                note(self.faults, float(lengths[at]), f"row {part.start + at}", side.names[position[part.start + at]])

    def _first(self, found: NDArray[np.intp]) -> list[int]:
        """Return those of many faults that are looked at one by one."""
        first: list[int] = found[self.faults.first_of(len(found))].tolist()
        return first
