"""Ranking -> judged ranks: the one table that every measure is computed from (architecture.md, section 4).

A ranking is an order already, so nothing is compared here; where scores become an order, ties follow decision 19
(higher score first, then gallery order).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import EvaluatorError
from evaluator.types import BoolArray, IntArray, JudgedPairs, JudgedRanks, Judgments, Ranking, Run, Split

_TABLE_CELLS = 1 << 21
"""Cells of the look-up table of :func:`_positions`: few enough for a processor's cache, enough for few rounds."""

UNBOUNDED = int(np.iinfo(np.int32).max)
"""How many candidates an open gallery is taken to have: more than any list."""


def judged_ranks(split: Split, ranking: Ranking) -> JudgedRanks:
    """Return the rank of every judged image of ``split`` in ``ranking``; 0 means below the end of the list.

    ``member_rank`` comes from the subset file where it was given, else from the main list if that holds every member
    of every image set, else it is None (decision 22). Raises EvaluatorError when the ranking is not one of this
    split's.
    """
    if len(ranking.images) != len(split) or len(ranking.length) != len(split):
        raise EvaluatorError(f"the ranking holds {len(ranking.images)} queries, the split {split.name} {len(split)}")
    rank = _positions(split, ranking.images)
    if ranking.members is None:
        member_rank = member_ranks(split.judgments, rank)
    else:
        member_rank = np.where(split.judgments.member, _positions(split, ranking.members), 0).astype(np.int32)
    complete = bool((ranking.length >= candidates(split)).all())
    return JudgedRanks(rank, ranking.length.astype(np.int32), complete, member_rank)


def as_judged_ranks(split: Split, run: Run) -> JudgedRanks:
    """Return the judged ranks of any run, parallel to the judgments of ``split``.

    Raises EvaluatorError for a run of another shape, or one that an author ranked for other judgments.
    """
    if isinstance(run, Ranking):
        return judged_ranks(split, run)
    if run.pairs is not None:
        return _rows_of(split, run, run.pairs)
    if run.rank.shape != (len(split.judgments),) or run.depth.shape != (len(split),):
        raise EvaluatorError(f"the judged ranks are not parallel to the judgments of {split.name}")
    if run.member_rank is not None:
        return run
    return replace(run, member_rank=member_ranks(split.judgments, run.rank))


def covers(split: Split, run: Run) -> bool:
    """Whether a run can be scored on ``split``, whose queries and galleries it fits: an author ranked what is judged.

    A ranking always can.
    """
    if isinstance(run, Ranking) or run.pairs is None:
        return True
    return bool((_found(split, run.pairs) | ~rankable(split)).all())


def rankable(split: Split) -> BoolArray:
    """Return which judgments (J,) have a rank: the image is in the query's gallery and is no removed reference."""
    judgments, known = split.judgments, len(split.images)
    inside = np.zeros((len(split.galleries), known), dtype=np.bool_)
    for held, gallery in zip(inside, split.galleries, strict=True):
        held[gallery.images if gallery.size is not None else slice(None)] = True
    ranked = inside[split.gallery_of[judgments.query], judgments.image]
    if split.protocol.remove_reference:
        removed = [query * known + image for query, images in enumerate(split.references) for image in images]
        ranked &= ~np.isin(_keys(split, judgments.query, judgments.image), removed)
    return ranked


def _keys(split: Split, query: IntArray, image: IntArray) -> NDArray[np.int64]:
    """Return one number for each pair, in the order of (query, image)."""
    return query.astype(np.int64) * len(split.images) + image


def _found(split: Split, pairs: JudgedPairs) -> BoolArray:
    judgments = split.judgments
    wanted = _keys(split, judgments.query, judgments.image)
    return np.isin(wanted, _keys(split, pairs.query, pairs.image))


def _rows_of(split: Split, run: JudgedRanks, pairs: JudgedPairs) -> JudgedRanks:
    """Return the ranks of the judgments of ``split`` out of those that an author wrote."""
    found = _found(split, pairs)
    if run.rank.shape != pairs.query.shape or run.depth.shape != (len(split),) or (rankable(split) & ~found).any():
        raise EvaluatorError(f"the judged ranks are not those of the judgments of {split.name}")
    judgments = split.judgments
    place = np.searchsorted(_keys(split, pairs.query, pairs.image), _keys(split, judgments.query, judgments.image))
    rank = np.zeros(len(judgments), dtype=np.int32)
    rank[found] = run.rank[place[found]]
    return JudgedRanks(rank, run.depth, run.complete, member_ranks(judgments, rank), format=run.format)


def member_ranks(judgments: Judgments, rank: IntArray) -> IntArray | None:
    """Return the rank (J,) of each image-set member among its own set, from ranks (J,) in the gallery.

    None where there are no image sets, or where any member is below the end of its list: the order of a set must be
    whole.
    """
    lines = np.flatnonzero(judgments.member)
    if not len(lines) or (rank[lines] == 0).any():
        return None
    query = judgments.query[lines]
    order = np.lexsort((rank[lines], query))
    first_of_set = np.searchsorted(query, query)
    among_set = np.zeros_like(rank)
    among_set[lines[order]] = np.arange(1, len(lines) + 1) - first_of_set
    return among_set


def candidates(split: Split) -> IntArray:
    """Return how many images (n,) a whole ranking of each query holds, references dropped where they must be."""
    sizes = [UNBOUNDED if gallery.size is None else gallery.size for gallery in split.galleries]
    whole = np.array(sizes, dtype=np.int32)[split.gallery_of]
    return whole - _references_in_gallery(split) if split.protocol.remove_reference else whole


def _references_in_gallery(split: Split) -> IntArray:
    """Return how many of each query's references (n,) its own gallery holds."""
    contents = [frozenset(gallery.images.tolist()) for gallery in split.galleries]
    pairs = zip(split.references, split.gallery_of.tolist(), strict=True)
    return np.array([len(contents[gallery].intersection(images)) for images, gallery in pairs], dtype=np.int32)


def _positions(split: Split, images: IntArray) -> IntArray:
    """Return the 1-based place (J,) of each judged image in its query's row of ``images`` (n, width); 0 if not listed.

    Rows are written into a table (queries x images) a block at a time and the judged cells read back: no sorting, and
    the work is the number of listed and judged images. Padding and ids the split does not know share one more column
    that nobody reads.
    """
    judgments = split.judgments
    columns = len(split.images) + 1
    known = np.where((images < 0) | (images >= len(split.images)), columns - 1, images).astype(np.int64)
    block = max(1, min(len(split), _TABLE_CELLS // columns))
    table = np.zeros(block * columns, dtype=np.int32)
    places = np.tile(np.arange(1, images.shape[1] + 1, dtype=np.int32), block)
    rank = np.empty(len(judgments), dtype=np.int32)
    starts = np.arange(0, len(split), block)
    bounds = np.searchsorted(judgments.query, np.append(starts, len(split)))
    for start, low, high in zip(starts.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = known[start : start + block]
        cells = (rows + (np.arange(len(rows)) * columns)[:, np.newaxis]).ravel()
        table[cells] = places[: len(cells)]
        offset = (judgments.query[low:high] - start).astype(np.int64) * columns
        rank[low:high] = table[offset + judgments.image[low:high]]
        table[cells] = 0
    return rank
