"""What a ranking must be before it is scored (decision 23): whole, within the gallery, as long as the protocol asks."""

from __future__ import annotations

import numpy as np

from evaluator.errors import FaultList
from evaluator.formats.ids import NO_IMAGE
from evaluator.formats.lists import Lists, read_lists
from evaluator.formats.source import Limits
from evaluator.formats.written import Written, quoted
from evaluator.ranks import candidates
from evaluator.types import BoolArray, IntArray, Ranking, Split


def check_ranking(written: Written, split: Split, limits: Limits, faults: FaultList) -> Ranking:
    """Return the ranking of a file. It holds only if ``faults`` is still empty afterwards."""
    lists = read_lists(written, split, limits, faults)
    _note_outside_gallery(lists, split, faults)
    _note_wrong_lengths(lists, split, faults)
    width = int(lists.length.max(initial=0))
    return Ranking(lists.images[:, :width], lists.length, lists.ids.unseen, format=written.format)


def check_members(written: Written, split: Split, limits: Limits, faults: FaultList) -> IntArray:
    """Return CIRR's subset ranking (n, 3): the first images of each query's image set, the reference left out."""
    lists = read_lists(written, split, limits, faults)
    wanted = split.protocol.member_list_length
    _note_non_members(lists, split, faults)
    _note_short(lists, np.full(len(split), wanted, dtype=np.int32), faults)
    return lists.images[:, :wanted]


def _note_outside_gallery(lists: Lists, split: Split, faults: FaultList) -> None:
    """Note known images that are not candidates of this query: another category's, for example."""
    for number, gallery in enumerate(split.galleries):
        queries = np.flatnonzero(split.gallery_of == number)
        inside = lists.ids.within(gallery)
        if inside.all():
            continue
        images = lists.images[queries]
        outside = ~inside[images] & (images != NO_IMAGE)
        expected = f"an image of this query's gallery, {gallery.name}"
        _note_images(lists, queries, outside, "not-in-gallery", expected, faults)


def _note_non_members(lists: Lists, split: Split, faults: FaultList) -> None:
    judged, known = split.judgments, len(split.images) + len(lists.ids.unseen)
    members = judged.query[judged.member].astype(np.int64) * known + judged.image[judged.member]
    queries = np.arange(len(split))
    outside = ~np.isin(queries[:, None] * known + lists.images, members) & (lists.images != NO_IMAGE)
    _note_images(lists, queries, outside, "not-a-member", "an image of the query's image set", faults)


def _note_images(
    lists: Lists,
    queries: np.ndarray[tuple[int], np.dtype[np.int64]],
    wrong: BoolArray,
    code: str,
    expected: str,
    faults: FaultList,
) -> None:
    found = np.argwhere(wrong)
    for row, entry in found[faults.first_of(len(found))].tolist():
        query = int(queries[row])
        image = quoted(lists.ids.text(int(lists.images[query, entry])))
        faults.add(code, lists.place(query), found=image, expected=expected)


def _note_wrong_lengths(lists: Lists, split: Split, faults: FaultList) -> None:
    """Note lists that end before the protocol's length, unless that is all of the gallery."""
    _note_short(lists, np.minimum(split.protocol.list_length, candidates(split)), faults)


def _note_short(lists: Lists, wanted: IntArray, faults: FaultList) -> None:
    for query in np.flatnonzero((lists.length < wanted) & lists.present).tolist():
        left, dropped, enough = int(lists.length[query]), int(lists.dropped[query]), int(wanted[query])
        if left + dropped >= enough:
            found = f"{left + dropped} images, the reference among them, which leaves {left}"
            faults.add("reference-in-list", lists.place(query), found=found, expected=f"{enough} without the reference")
        else:
            faults.add("list-too-short", lists.place(query), found=f"{left} images", expected=f"at least {enough}")
