"""Embeddings -> judged ranks over the whole gallery (architecture.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import EvaluatorError, FaultList
from evaluator.ranks import candidates, member_ranks
from evaluator.search.devices import SCREENS, open_kernels
from evaluator.search.kernels import Kernel
from evaluator.search.plan import Lines
from evaluator.search.scan import Scan
from evaluator.search.scores import Vectors
from evaluator.search.settle import add_spans, place, tie_rule
from evaluator.search.steps import READ, Progress, Steps
from evaluator.search.survey import Pairs, Queries, Survey, survey
from evaluator.search.vectors import check_dimensions, note, sound_queries
from evaluator.types import Embeddings, IndexArray, IntArray, JudgedRanks, Split


def judged_ranks(
    embeddings: Embeddings,
    split: Split,
    *,
    block: int = 0,
    device: str = "auto",
    screen: str = "auto",
    threads: int = 0,
    progress: Progress | None = None,
) -> JudgedRanks:
    """Return the exact rank of every judged image of ``split``, over the whole gallery of its query.

    rank = 1 + #(images that score higher) + #(images that score the same and come earlier in the gallery), a score
    being what :mod:`evaluator.search.scores` says. Images that the protocol removes, a query's own references, are not
    counted and have rank 0, as has an image outside the query's gallery. Nothing but the time and the memory depends
    on

    * ``block``: images multiplied at a time (0: what suits the device);
    * ``device``: ``numpy``, ``cpu`` (torch), ``cuda`` (every GPU that torch sees), or ``auto``, the last of them at
      hand;
    * ``screen``: the products that screen, ``float32`` or ``bfloat16``, or ``auto``, the faster one for each query;
    * ``threads``: workers on a CPU (0: one for each core).

    ``progress`` is called in the calling thread with (work done, work in all), a few times a second, over all
    galleries. What it raises ends the work: it passes through here once the workers have finished their blocks.

    Memory beyond the queries, for each worker: two copies of a block of vectors, and some 50 bytes for each cell of a
    tile of 2^20 products (2^24 on a GPU). Raises SubmissionError with a fault for each vector that cannot be scored,
    and EvaluatorError where the gallery is open, the device is not at hand, or the vectors are not parallel to the
    split.
    """
    if screen not in SCREENS:
        raise EvaluatorError(f"no screen {screen}: choose one of {', '.join(SCREENS)}")
    _check_shapes(embeddings, split)
    kernels = open_kernels(device, threads)
    queries = sound_queries(embeddings.queries, embeddings.similarity, split.query_ids)
    searches = [_Search(embeddings, split, queries, number) for number in range(len(split.galleries))]
    block = block or kernels[0].block
    steps = Steps(progress, sum(search.work for search in searches))
    faults = FaultList()
    for search in searches:
        search.look(kernels, block, screen, faults, steps)
    faults.raise_if_any()
    rank = np.zeros(len(split.judgments), dtype=np.int32)
    for search in searches:
        search.rank(kernels, block, screen, rank, steps)
    steps.end()
    return JudgedRanks(rank, candidates(split), complete=True, member_rank=member_ranks(split.judgments, rank))


def _check_shapes(embeddings: Embeddings, split: Split) -> None:
    check_dimensions(embeddings.queries, embeddings.gallery)
    if len(embeddings.queries) != len(split) or len(embeddings.gallery) != len(split.images):
        held = f"{len(embeddings.queries)} query and {len(embeddings.gallery)} gallery vectors"
        raise EvaluatorError(f"{held} are not parallel to {split.name}")
    if any(gallery.is_open for gallery in split.galleries):
        raise EvaluatorError(f"the gallery of {split.name} is open: ranks need the whole gallery")


@dataclass(frozen=True, eq=False)
class _Share:
    """What one gallery has to do: its queries' judged images and removed references, with the judgments they are."""

    judged: Pairs
    line: IndexArray
    removed: Pairs

    @classmethod
    def of(cls, split: Split, number: int) -> _Share:
        images = split.galleries[number].images
        removed = _references(split, number) if split.protocol.remove_reference else _pairs([])
        judgments = split.judgments
        line = np.flatnonzero(split.gallery_of[judgments.query] == number)
        query, image = judgments.query[line].astype(np.intp), judgments.image[line]
        spot = np.searchsorted(images, image)
        here = np.append(images, -1)[spot] == image
        keys = removed.query * len(images) + removed.image
        here &= ~np.isin(query * len(images) + spot, keys)
        return cls(Pairs(query[here], spot[here]), line[here], removed)


def _references(split: Split, number: int) -> Pairs:
    """Return the references of a gallery's queries that it holds, by position."""
    positions = {image: spot for spot, image in enumerate(split.galleries[number].images.tolist())}
    return _pairs(
        (query, positions[image])
        for query in np.flatnonzero(split.gallery_of == number).tolist()
        for image in sorted(set(split.references[query]))
        if image in positions
    )


def _pairs(found: Iterable[tuple[int, int]]) -> Pairs:
    table = np.array(list(found), dtype=np.intp).reshape(-1, 2)
    return Pairs(table[:, 0], table[:, 1])


class _Search:
    """One gallery of a split."""

    def __init__(self, embeddings: Embeddings, split: Split, queries: Queries, number: int) -> None:
        images = split.galleries[number].images
        whole = len(images) == len(split.images)
        chosen = None if whole else images.astype(np.intp)
        self._vectors = Vectors(embeddings.gallery, embeddings.similarity, chosen)
        self._names = split.images
        self._queries = queries
        self._share = _Share.of(split, number)
        self._survey: Survey | None = None

    @property
    def work(self) -> int:
        """How much there is to do, in the unit of :mod:`evaluator.search.steps`."""
        return len(self._vectors) * (READ + self._multiplied)

    @property
    def _multiplied(self) -> int:
        return len(np.unique(self._share.judged.query))

    def look(self, kernels: list[Kernel], block: int, screen: str, faults: FaultList, steps: Steps) -> None:
        """Survey the gallery and note its faults."""
        if not len(self._vectors):
            return
        judged, removed = self._share.judged, self._share.removed
        both = Pairs(np.append(judged.query, removed.query), np.append(judged.image, removed.image))
        rounded = screen == "bfloat16" or (screen == "auto" and kernels[0].fast_bfloat16)
        self._survey = survey(
            self._queries.rows, self._vectors, both, kernels, block, rounded=rounded, told=steps.of(READ)
        )
        for position in sorted(self._survey.bad):
            row = self._vectors.row(position)
            note(faults, self._survey.lengths[position], f"gallery vector {row}", self._names[row])

    def rank(self, kernels: list[Kernel], block: int, screen: str, rank: IntArray, steps: Steps) -> None:
        """Write the ranks of the judged images."""
        judged, removed = self._share.judged, self._share.removed
        if self._survey is None or not len(judged):
            return
        lines = Lines.sort(judged.query, judged.image, self._survey.scores[: len(judged)])
        scan = Scan(self._queries, self._vectors, lines, self._survey, screen)
        counts = scan.counts(kernels, block, steps.of(self._multiplied))
        counts -= _removed_above(lines, removed, self._survey.scores[len(judged) :])
        rank[self._share.line[lines.source]] = 1 + counts


def _removed_above(lines: Lines, removed: Pairs, scores: NDArray[np.float64]) -> IndexArray:
    """Return how many removed images stand above each line."""
    first = np.searchsorted(lines.query, removed.query)
    end = np.searchsorted(lines.query, removed.query, side="right")
    differences = np.zeros(len(lines) + 1, dtype=np.intp)
    add_spans(differences, first, place(first, end, tie_rule(lines, scores, removed.image)))
    return np.cumsum(differences)[:-1]
