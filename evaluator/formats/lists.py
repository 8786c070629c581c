"""Rankings as written to one array of indices: queries matched, ids looked up, repeats found, the reference dropped.

A good file costs one dictionary look-up for each id and a few passes over an array; only what is wrong is looked at
one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from evaluator.errors import FaultList
from evaluator.formats.ids import NO_IMAGE, ImageIds, add_bad_image, add_unknown_query, id_text
from evaluator.formats.lookalikes import add_lookalikes
from evaluator.formats.source import Limits
from evaluator.formats.written import Written, quoted
from evaluator.types import BoolArray, IntArray, Split

NO_ROW = -1


@dataclass(eq=False)
class Lists:
    """The lists of a file in the split's order of queries; ``n`` queries, ``width`` the longest list.

    ``images`` (n, width) holds indices, :data:`NO_IMAGE` for what has none and beyond the end. ``length`` (n,) and
    ``dropped`` (n,) count the entries left and the references taken out; ``row`` (n,) is the position in the file, or
    :data:`NO_ROW`.
    """

    written: Written
    ids: ImageIds
    images: IntArray
    length: IntArray
    dropped: IntArray
    row: IntArray

    def place(self, query: int) -> str:
        """Where in the file this query stands."""
        return self.written.place(int(self.row[query]))

    @property
    def present(self) -> BoolArray:
        """Which queries have a list (n,)."""
        return np.not_equal(self.row, NO_ROW)


def read_lists(written: Written, split: Split, limits: Limits, faults: FaultList) -> Lists:
    """Match a file to a split, noting every fault of its queries, ids and repeats, and drop the reference."""
    lists = match_lists(written, split, limits, faults)
    if split.protocol.remove_reference:
        _drop_references(lists, split)
    return lists


def match_lists(
    written: Written, split: Split, limits: Limits, faults: FaultList, needed: BoolArray | None = None
) -> Lists:
    """Do the same and leave every image where the file has it. Only ``needed`` queries (n,) may not be missing."""
    rows = [split.query_index.get(text) if (text := id_text(query)) is not None else None for query in written.queries]
    add_lookalikes(faults, written, split)
    row = _match_queries(rows, written, split, faults)
    if rows:
        _note_missing((row == NO_ROW) & (True if needed is None else needed), split, faults)
    else:
        faults.add("no-queries", found="no query", expected=f"{len(split):,}")
    _leave_out(row, written, limits, faults)
    chosen = [written.images[i] or () if i != NO_ROW else () for i in row.tolist()]
    ids = ImageIds(split)
    length = np.fromiter(map(len, chosen), np.int32, len(chosen))
    images = _indices(chosen, length, ids)
    lists = Lists(written, ids, images, length, np.zeros(len(split), dtype=np.int32), row)
    _note_bad_images(lists, faults)
    _note_repeats(lists, faults)
    return lists


def _match_queries(rows: Sequence[int | None], written: Written, split: Split, faults: FaultList) -> IntArray:
    """Return for each query of the split where the file has it; note unknown and repeated ones."""
    row = np.full(len(split), NO_ROW, dtype=np.int32)
    for position, query in enumerate(rows):
        if query is None:
            add_unknown_query(faults, written.place(position), written.queries[position], split)
        elif row[query] != NO_ROW:
            found = f"again what stands at {written.place(int(row[query]))}"
            faults.add("repeated-query", written.place(position), found=found, expected="each query once")
        else:
            row[query] = position
    return row


def _note_missing(missing: BoolArray, split: Split, faults: FaultList) -> None:
    for query in np.flatnonzero(missing).tolist():
        faults.add("missing-query", f"query {quoted(split.query_ids[query])}", found="no ranking", expected="one")


def _leave_out(row: IntArray, written: Written, limits: Limits, faults: FaultList) -> None:
    """Leave out what is no list, and lists so long that an array of all would pass the limit."""
    most = limits.entries // max(len(row), 1)
    for query in np.flatnonzero(row != NO_ROW).tolist():
        images = written.images[row[query]]
        if images is None:
            row[query] = NO_ROW
        elif len(images) > most:
            place = written.place(int(row[query]))
            faults.add("list-too-long", place, found=f"{len(images):,} images", expected=f"at most {most:,}")
            row[query] = NO_ROW


def _indices(lists: Sequence[Sequence[object]], length: IntArray, ids: ImageIds) -> IntArray:
    flat = ids.indices(list(chain.from_iterable(lists)))
    width = int(length.max(initial=0))
    if (length == width).all():
        return flat.reshape(len(length), width)
    images = np.full((len(length), width), NO_IMAGE, dtype=np.int32)
    images[np.arange(width) < length[:, None]] = flat
    return images


def _note_bad_images(lists: Lists, faults: FaultList) -> None:
    inside = np.arange(lists.images.shape[1]) < lists.length[:, None]
    found = np.argwhere((lists.images == NO_IMAGE) & inside)
    for query, entry in found[faults.first_of(len(found))].tolist():
        position = int(lists.row[query])
        value = (lists.written.images[position] or ())[entry]
        place = f"{lists.written.place(position, entry)}, rank {lists.written.rank(position, entry)}"
        add_bad_image(faults, place, value, lists.ids)


def _note_repeats(lists: Lists, faults: FaultList) -> None:
    """Note every image that stands in a list more than once, with all its ranks (public report A11)."""
    ordered = np.sort(lists.images, axis=1)
    rows, entries = np.nonzero((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_IMAGE))
    again = np.stack([rows, ordered[rows, entries]], axis=1)
    repeated = again[np.append(True, (again[1:] != again[:-1]).any(axis=1))[: len(again)]]
    for query, image in repeated[faults.first_of(len(repeated))].tolist():
        row = int(lists.row[query])
        ranks = [lists.written.rank(row, entry) for entry in np.flatnonzero(lists.images[query] == image).tolist()]
        found = f"{quoted(lists.ids.text(image))} at ranks {_joined(ranks)}"
        faults.add("repeated-image", lists.place(query), found=found, expected="each image once")


def _joined(ranks: Sequence[int]) -> str:
    *first, last = map(str, ranks) if len(ranks) <= 20 else (*map(str, ranks[:20]), f"{len(ranks) - 20} more")
    return f"{', '.join(first)} and {last}"


def _drop_references(lists: Lists, split: Split) -> None:
    """Take the reference out by id, and only that id (decision 20); what follows moves up."""
    width = max(map(len, split.references), default=0)
    padded = [(*images, *[-2] * (width - len(images))) for images in split.references]
    references = np.array(padded, dtype=np.int32).reshape(len(split), width)
    is_reference = np.zeros(lists.images.shape, dtype=np.bool_)
    for column in references.T:
        is_reference |= lists.images == column[:, None]
    hit = is_reference.any(axis=1)
    if not hit.any():
        return
    order = np.argsort(is_reference[hit], axis=1, kind="stable")
    moved = np.take_along_axis(np.where(is_reference, NO_IMAGE, lists.images)[hit], order, axis=1)
    lists.images = lists.images.copy()
    lists.images[hit] = moved
    lists.dropped = is_reference.sum(axis=1, dtype=np.int32)
    lists.length = lists.length - lists.dropped
