"""Vectors of a gallery and of the queries under each condition -> judged ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluator.encoders import EncoderError
from evaluator.errors import SubmissionError
from evaluator.search import judged_ranks
from evaluator.search.devices import gpu_names
from evaluator.types import Condition, Embeddings, JudgedRanks, Similarity, Split, VectorArray

Progress = Callable[[int, int], None]
_COLUMNS = 1024
"""Images multiplied at a time on a CPU. With thousands of queries and one positive each, tiles as high as they are wide
take a tenth less than the search's own, which are wide and flat (``benchmarks/README.md``)."""


def rank_conditions(
    gallery: VectorArray,
    queries: Mapping[Condition, VectorArray],
    split: Split,
    similarity: Similarity,
    progress: Progress | None = None,
) -> dict[Condition, JudgedRanks]:
    """Return the exact ranks of every judged image under each condition. ``progress`` hears of all conditions together.

    Raises EncoderError where vectors cannot be compared.
    """
    block = 0 if gpu_names() else _COLUMNS
    ranks = {}
    for number, (condition, vectors) in enumerate(queries.items()):
        told = _share(progress, number, len(queries)) if progress else None
        try:
            ranks[condition] = judged_ranks(Embeddings(vectors, gallery, similarity), split, block=block, progress=told)
        except SubmissionError as error:
            raise EncoderError("vectors-shape", str(error)) from error
    return ranks


def _share(progress: Progress, number: int, count: int) -> Progress:
    return lambda done, total: progress(number * total + done, count * total)
