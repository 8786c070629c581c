"""A good file of twelve queries and ten images in every format, and ways to spoil it."""

from __future__ import annotations

from dataclasses import replace

from formats.format_splits import make_split
from formats.writers import WRITERS

from evaluator import protocols
from evaluator.types import Split

QUERIES = tuple(str(query) for query in range(12))
IMAGES = tuple(str(image) for image in range(100, 110))
LISTS = {query: list(IMAGES[:5]) for query in QUERIES}


def make_twelve() -> Split:
    """Return the split that the good file fits."""
    return make_split(QUERIES, IMAGES, protocol=replace(protocols.CIRCO, list_length=5))


def written(form: str, **changes: list[str] | None) -> bytes:
    """Return the good file with the lists of some queries replaced, or left out where None; ``q3`` is query 3."""
    lists = {**LISTS, **{query.removeprefix("q"): images for query, images in changes.items()}}
    return WRITERS[form]({query: images for query, images in lists.items() if images is not None})
