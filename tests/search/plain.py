"""Ranks again, in a few lines of plain Python, and splits and vectors to try them on.

Nothing here uses the search: this is the oracle. It sums as the definition says, one Python float at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.protocols import CIRR, PINPOINT
from evaluator.types import Embeddings, Gallery, Judgments, Similarity, Split, Subset

DEVICES = ("numpy", "cpu")
SCREENS = ("float32", "bfloat16", "auto")


def fold(numbers: list[float]) -> float:
    """Add the second half to the first until one number is left."""
    while (width := len(numbers)) > 1:
        half = (width + 1) // 2
        numbers = [a + b for a, b in zip(numbers, [*numbers[half:], *[0.0] * (2 * half - width)], strict=False)]
    return numbers[0]


def vectors(matrix: NDArray[np.floating], similarity: Similarity) -> list[list[float]]:
    """Cast to float32, pad to a multiple of 64, divide by the length and round to float32 again."""
    rows = []
    for row in np.asarray(matrix, dtype=np.float32).tolist():
        padded = row + [0.0] * (-len(row) % 64)
        if similarity == Similarity.COSINE:
            inverse = 1.0 / math.sqrt(fold([x * x for x in padded]))
            padded = [float(np.float32(x * inverse)) for x in padded]
        rows.append(padded)
    return rows


def plain_ranks(embeddings: Embeddings, split: Split) -> list[int]:
    """Return the rank of every judged image: 1 + higher + equal and earlier; 0 where it is no candidate."""
    queries, gallery = (vectors(m, embeddings.similarity) for m in (embeddings.queries, embeddings.gallery))
    ranks = []
    for query, image in zip(split.judgments.query.tolist(), split.judgments.image.tolist(), strict=True):
        removed = split.references[query] if split.protocol.remove_reference else ()
        rivals = [i for i in split.galleries[split.gallery_of[query]].images.tolist() if i not in removed]
        score = {i: fold([a * b for a, b in zip(queries[query], gallery[i], strict=True)]) for i in rivals}
        above = [i for i in rivals if image in score and (-score[i], i) < (-score[image], image)]
        ranks.append(1 + len(above) if image in score else 0)
    return ranks


def make_split(
    queries: int, images: int, *, judged: int = 3, remove_reference: bool = False, galleries: int = 1, seed: int = 0
) -> Split:
    """Return a split with ``judged`` random judged images a query; several galleries overlap and leave images out."""
    random = np.random.default_rng(seed)
    lines = [(q, i) for q in range(queries) for i in sorted(random.choice(images, min(judged, images), replace=False))]
    query, image = (np.array(column, dtype=np.int32) for column in zip(*lines, strict=True))
    yes, no = np.ones(len(query), dtype=bool), np.zeros(len(query), dtype=bool)
    counts = np.full(queries, min(judged, images), dtype=np.int32)
    width = len(str(images))
    return Split(
        name="made-up",
        version=1,
        protocol=CIRR if remove_reference else PINPOINT,
        query_ids=tuple(f"q{q}" for q in range(queries)),
        texts=("",) * queries,
        references=tuple(tuple(random.choice(images, 1 + q % 2).tolist()) for q in range(queries)),
        images=tuple(f"i{i:0{width}}" for i in range(images)),
        galleries=tuple(_gallery(number, images, galleries, random) for number in range(galleries)),
        gallery_of=(np.arange(queries) % galleries).astype(np.int32),
        judgments=Judgments(query, image, yes, no, no, no, counts, np.zeros_like(counts)),
        subsets={Subset.ALL: np.ones(queries, dtype=bool)},
        clusters=np.arange(queries, dtype=np.int32),
    )


def _gallery(number: int, images: int, galleries: int, random: np.random.Generator) -> Gallery:
    share = images if galleries == 1 else max(1, images // 2)
    return Gallery(f"g{number}", np.sort(random.choice(images, share, replace=False)).astype(np.int32))


def of(queries: Sequence[Sequence[float]], gallery: Sequence[Sequence[float]], similarity: Similarity) -> Embeddings:
    return Embeddings(np.array(queries, dtype=np.float32), np.array(gallery, dtype=np.float32), similarity)
