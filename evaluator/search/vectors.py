"""What is wrong with vectors, as faults of the participant, each with its row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import FaultList
from evaluator.search.scores import Vectors
from evaluator.search.survey import Queries, unsound
from evaluator.types import Similarity


def sound_queries(matrix: NDArray[np.floating], similarity: Similarity, names: tuple[str, ...] = ()) -> Queries:
    """Return queries ready to be multiplied. Raises SubmissionError with a fault for each that cannot be scored."""
    vectors = Vectors(matrix, similarity)
    raw = vectors.raw(slice(0, len(matrix)))
    lengths = vectors.lengths(raw)
    faults = FaultList()
    for row in np.flatnonzero(unsound(lengths, similarity)).tolist():
        note(faults, lengths[row], f"query vector {row}", names[row] if names else "")
    faults.raise_if_any()
    return Queries.of(vectors.normalised(raw, lengths))


def note(faults: FaultList, length: float, place: str, name: str = "") -> None:
    """Note a vector of this length that cannot be scored."""
    where = f'{place} ("{name}")' if name else place
    if length == 0:
        faults.add("vector-zero", where, found="only zeros", expected="a direction")
    else:
        faults.add("vector-not-finite", where, found="NaN, infinity or a number beyond float32")


def check_dimensions(queries: NDArray[np.floating], gallery: NDArray[np.floating]) -> None:
    """Raise SubmissionError unless both are matrices with rows of one length."""
    faults = FaultList()
    for matrix, name in ((queries, "query vectors"), (gallery, "gallery vectors")):
        if matrix.ndim != 2 or not matrix.shape[1]:
            faults.add("vector-dimension", name, found=f"shape {matrix.shape}", expected="rows of one length")
    faults.raise_if_any()
    if queries.shape[1] != gallery.shape[1]:
        found = f"{queries.shape[1]} coordinates, and {gallery.shape[1]} in the gallery"
        faults.add("vector-dimension", "query vector 0", found=found, expected="as many in both")
    faults.raise_if_any()
