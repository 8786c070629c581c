"""What judged ranks must be before they are scored: one possible rank for every judged image, and no other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import FaultList
from evaluator.formats.ids import NO_IMAGE
from evaluator.formats.judged_files import KEY
from evaluator.formats.lists import Lists, match_lists
from evaluator.formats.source import Limits
from evaluator.formats.written import Written, quoted
from evaluator.ranks import UNBOUNDED, candidates, rankable
from evaluator.types import IntArray, JudgedPairs, JudgedRanks, Split


def check_judged(written: Written, split: Split, limits: Limits, faults: FaultList) -> JudgedRanks | None:
    """Return the judged ranks of a file; they hold only if ``faults`` is still empty afterwards.

    Nothing is read where the truth is hidden: which images are judged is what is hidden. Over an open gallery ranks
    have no upper bound, and the run does not count as complete: what needs the whole gallery is not available
    (decision 42).
    """
    if split.hidden_truth:
        faults.add("ranks-not-taken", found="judged ranks", expected="a ranking of images")
        return None
    needed = np.bincount(split.judgments.query[rankable(split)], minlength=len(split)) > 0
    lists = match_lists(written, split, limits, faults, needed)
    rows = _Rows.of(lists)
    _note_impossible(rows, lists, split, faults)
    rank = _by_judgment(rows, lists, split, faults)
    whole = all(gallery.size is not None for gallery in split.galleries)
    pairs = JudgedPairs(split.judgments.query, split.judgments.image)
    return JudgedRanks(rank, candidates(split), whole, pairs=pairs, format=KEY)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a file whose query and image are known, in the order of queries."""

    query: IntArray  # (r,)
    entry: IntArray  # (r,) place in the query's list
    image: IntArray  # (r,)
    rank: NDArray[np.int64]  # (r,)

    @classmethod
    def of(cls, lists: Lists) -> _Rows:
        query, entry = np.nonzero(lists.images != NO_IMAGE)
        written = [lists.written.ranks[row] if row >= 0 else () for row in lists.row.tolist()]
        ranks = np.zeros(lists.images.shape, dtype=np.int64)
        for row, given in zip(ranks, written, strict=True):
            row[: len(given)] = given
        image = lists.images[query, entry]
        return cls(query.astype(np.int32), entry.astype(np.int32), image, ranks[query, entry])


def _note_impossible(rows: _Rows, lists: Lists, split: Split, faults: FaultList) -> None:
    """Note ranks that no image of the query's gallery can have."""
    most = candidates(split)
    wrong = np.flatnonzero((rows.rank < 1) | (rows.rank > most[rows.query]))
    for row in wrong[faults.first_of(len(wrong))].tolist():
        limit = int(most[rows.query[row]])
        expected = "1 or more" if limit == UNBOUNDED else f"1 to {limit:,}, the images that are ranked"
        faults.add("rank-outside-gallery", _place(lists, rows, row), found=f"rank {rows.rank[row]}", expected=expected)


def _by_judgment(rows: _Rows, lists: Lists, split: Split, faults: FaultList) -> IntArray:
    """Return the rank (J,) of each judgment; note images that are not judged, and judged ones without a rank."""
    judgments, width = split.judgments, len(split.images) + len(lists.ids.unseen)
    keys = judgments.query.astype(np.int64) * width + judgments.image
    wanted = np.flatnonzero(rankable(split))
    ours, theirs = keys[wanted], rows.query.astype(np.int64) * width + rows.image
    known = np.flatnonzero(np.isin(theirs, ours))
    rank = np.zeros(len(judgments), dtype=np.int32)
    rank[wanted[np.searchsorted(ours, theirs[known])]] = rows.rank[known]
    _note_unjudged(rows, np.setdiff1d(np.arange(len(theirs)), known), lists, faults)
    _note_unranked(wanted[~np.isin(ours, theirs)], lists, split, faults)
    return rank


def _note_unjudged(rows: _Rows, wrong: NDArray[np.intp], lists: Lists, faults: FaultList) -> None:
    for row in wrong[faults.first_of(len(wrong))].tolist():
        found = quoted(lists.ids.text(int(rows.image[row])))
        faults.add("not-judged", _place(lists, rows, row), found=found, expected="an image judged for this query")


def _note_unranked(lines: NDArray[np.intp], lists: Lists, split: Split, faults: FaultList) -> None:
    """Note judged images without a rank, of queries that the file has."""
    judgments = split.judgments
    lines = lines[lists.present[judgments.query[lines]]]
    for line in lines[faults.first_of(len(lines))].tolist():
        image = quoted(split.images[judgments.image[line]])
        place = f"query {quoted(split.query_ids[judgments.query[line]])}"
        faults.add("judged-without-rank", place, found=f"no rank of {image}", expected="one")


def _place(lists: Lists, rows: _Rows, row: int) -> str:
    return lists.written.place(int(lists.row[rows.query[row]]), int(rows.entry[row]))
