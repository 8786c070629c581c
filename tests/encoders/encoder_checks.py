"""What must hold of every encoder that takes pictures and texts, whichever family it is of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from encoders.tiny_models import pictures_in, queries_of, recoloured

from evaluator.encoders.base import Encoder, Query
from evaluator.encoders.conditions import under
from evaluator.types import Condition, VectorArray

ROUNDING = 2e-5
"""Between vectors of length 1 that differ in nothing but the order of sums in float32."""


def vectors_of(encoder: Encoder, queries: list[Query], condition: Condition) -> VectorArray:
    """Return the vectors of queries that are given in full."""
    return encoder.encode_queries([under(query, condition) for query in queries], condition)


def one_by_one(encoder: Encoder, queries: list[Query], condition: Condition) -> VectorArray:
    """Return them as they come out of a batch each."""
    return np.concatenate([vectors_of(encoder, [query], condition) for query in queries])


def check_encoder(encoder: Encoder, folder: Path) -> None:
    """Run all that is below."""
    check_shapes(encoder, folder)
    check_conditions(encoder, folder)
    check_batches(encoder, folder)


def check_shapes(encoder: Encoder, folder: Path) -> None:
    """Every input gets one float32 row of length 1, and the card knows of how many coordinates."""
    pictures = pictures_in(folder / "pictures")
    queries = queries_of(pictures)
    gallery = encoder.encode_images(pictures)
    assert gallery.shape == (len(pictures), encoder.card.dimension)
    found = [gallery, *(vectors_of(encoder, queries, condition) for condition in Condition)]
    for rows in found:
        assert rows.dtype == np.float32
        assert rows.shape[1] == gallery.shape[1]
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert len(np.unique(rows.round(4), axis=0)) == len(rows), "different inputs give different vectors"
    assert set(encoder.card.conditions) == set(Condition)


def check_conditions(encoder: Encoder, folder: Path) -> None:
    """Each condition takes away exactly what decision 37 says."""
    pictures = pictures_in(folder / "pictures")
    others = recoloured(folder / "others", pictures)
    queries, recut = queries_of(pictures), queries_of(others)
    reworded = [replace(query, text="with a dark tone", instruction="another") for query in queries]
    text = vectors_of(encoder, queries, Condition.TEXT_ONLY)
    np.testing.assert_array_equal(text, vectors_of(encoder, recut, Condition.TEXT_ONLY))
    assert not np.allclose(text, vectors_of(encoder, reworded, Condition.TEXT_ONLY), atol=1e-3)
    image = vectors_of(encoder, queries, Condition.IMAGE_ONLY)
    np.testing.assert_array_equal(image, vectors_of(encoder, reworded, Condition.IMAGE_ONLY))
    assert not np.allclose(image, vectors_of(encoder, recut, Condition.IMAGE_ONLY), atol=1e-3)
    both = vectors_of(encoder, queries, Condition.MULTIMODAL)
    for changed in (recut, reworded):
        assert not np.allclose(both, vectors_of(encoder, changed, Condition.MULTIMODAL), atol=1e-3)
    for alone in (text, image):
        assert not np.allclose(both, alone, atol=1e-3)


def check_batches(encoder: Encoder, folder: Path) -> None:
    """Neighbours in a batch change nothing: padding on the wrong side, or a mask left out, would."""
    pictures = pictures_in(folder / "pictures")
    queries = queries_of(pictures)
    for condition in Condition:
        together = vectors_of(encoder, queries, condition)
        np.testing.assert_allclose(together, one_by_one(encoder, queries, condition), atol=ROUNDING)
        np.testing.assert_allclose(together[::-1], vectors_of(encoder, queries[::-1], condition), atol=ROUNDING)
    alone = np.concatenate([encoder.encode_images([picture]) for picture in pictures])
    np.testing.assert_allclose(encoder.encode_images(pictures), alone, atol=ROUNDING)
