"""Says so when a file was made for another split (public report A28), or over another gallery (decision 3)."""

from __future__ import annotations

from itertools import chain

from evaluator.errors import FaultList
from evaluator.formats.ids import id_text
from evaluator.formats.written import Role, Written
from evaluator.types import Lookalike, Split

_ENOUGH = 0.5
"""Share of the queries, of file and split together, from which a file counts as made for a split."""


def add_lookalikes(faults: FaultList, written: Written, split: Split) -> None:
    """Note, before any other fault of the ids, that they are those of another split or gallery."""
    queries = {id_text(query) for query in written.queries}
    own = _overlap({split.query_index.get(query or "") for query in queries}, set(range(len(split))))
    for other in split.lookalikes:
        same_queries = _overlap(queries, other.query_ids) > max(own, _ENOUGH)
        # Judged images may well all lie in a smaller gallery: CIRCUS's are those of CIRR's val split.
        same_images = written.role is not Role.JUDGED and _lies_within(written, split, other)
        gallery = f"ranked over the {other.name} gallery" if same_images else ""
        if same_queries:
            found = f"these ids look like {other.name}" + (f", {gallery}" if gallery else "")
            faults.add("other-split", found=found, expected=f"the queries of {split.name}", remedy=other.sentence)
        elif gallery:
            expected = f"rankings over the {len(split.images):,} images of {split.name}"
            found = f"only images of {other.name}: {gallery}"
            faults.add("other-gallery", found=found, expected=expected, remedy=other.sentence)


def _overlap(mine: set[str | None] | set[int | None], theirs: frozenset[str] | set[int]) -> float:
    """Return the Jaccard index of two sets."""
    both = len(mine & theirs)
    return both / max(len(mine) + len(theirs) - both, 1)


def _lies_within(written: Written, split: Split, other: Lookalike) -> bool:
    """Whether every listed image is one of ``other``'s, and this split has images that are not."""
    if other.images.issuperset(split.images) or not any(written.images):
        return False
    prefix = split.image_prefix
    texts = (id_text(image) for image in chain.from_iterable(filter(None, written.images)))
    return all(text is not None and text.removeprefix(prefix) in other.images for text in texts)
