"""Vectors that cannot be scored: each is named, by its row and its id."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from search.plain import make_split, plain_ranks

from evaluator.errors import Fault, SubmissionError
from evaluator.search import judged_ranks, top_k
from evaluator.types import Embeddings, Similarity

SPLIT = make_split(4, 30)


def vectors() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.standard_normal((4, 5)), random.standard_normal((30, 5))


def faults_of(run: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(SubmissionError) as caught:
        run()
    return [(fault.code, fault.place) for fault in caught.value.faults]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e39])
def test_numbers_that_are_not_finite_in_float32(number: float) -> None:
    """A13: NaN, infinities, and what float32 cannot hold."""
    queries, gallery = vectors()
    gallery[[7, 29], 3] = number
    for similarity in Similarity:
        found = faults_of(lambda: judged_ranks(Embeddings(queries, gallery, similarity), SPLIT, block=8))  # noqa: B023
        assert found == [
            ("vector-not-finite", 'gallery vector 7 ("i07")'),
            ("vector-not-finite", 'gallery vector 29 ("i29")'),
        ]
    queries[2, 0] = number
    found = faults_of(lambda: judged_ranks(Embeddings(queries, gallery), SPLIT))
    assert found == [("vector-not-finite", 'query vector 2 ("q2")')]
    assert faults_of(lambda: top_k(Embeddings(queries, gallery), 3)) == [("vector-not-finite", "query vector 2")]


def test_a_zero_vector_has_no_cosine_but_an_inner_product() -> None:
    queries, gallery = vectors()
    queries[1], gallery[3] = 0, 0
    assert faults_of(lambda: judged_ranks(Embeddings(queries, gallery), SPLIT)) == [
        ("vector-zero", 'query vector 1 ("q1")')
    ]
    queries[1] = 1
    assert faults_of(lambda: judged_ranks(Embeddings(queries, gallery), SPLIT)) == [
        ("vector-zero", 'gallery vector 3 ("i03")')
    ]
    assert faults_of(lambda: top_k(Embeddings(queries, gallery), 3)) == [("vector-zero", "gallery vector 3")]
    queries[1] = 0
    inner = Embeddings(queries, gallery, Similarity.INNER_PRODUCT)
    assert judged_ranks(inner, SPLIT).rank.tolist() == plain_ranks(inner, SPLIT)


def test_more_than_a_hundred_are_counted() -> None:
    split = make_split(1, 400)
    with pytest.raises(SubmissionError) as caught:
        judged_ranks(Embeddings(np.ones((1, 3)), np.zeros((400, 3))), split)
    assert (len(caught.value.faults), caught.value.more) == (100, 300)
    assert isinstance(caught.value.faults[0], Fault)


def test_images_of_no_gallery_are_never_read() -> None:
    queries, gallery = vectors()
    split = make_split(4, 30, galleries=2)
    unread = np.setdiff1d(np.arange(30), np.concatenate([gallery.images for gallery in split.galleries]))
    gallery[unread] = np.nan
    assert len(unread)
    assert judged_ranks(Embeddings(queries, gallery), split).rank.max() > 0


@pytest.mark.parametrize(
    ("queries", "gallery", "place"),
    [
        (np.ones((4, 5)), np.ones((30, 6)), "query vector 0"),
        (np.ones(4), np.ones((30, 6)), "query vectors"),
        (np.ones((4, 5)), np.ones((30, 5, 1)), "gallery vectors"),
        (np.ones((4, 0)), np.ones((30, 5)), "query vectors"),
    ],
)
def test_dimensions(queries: np.ndarray, gallery: np.ndarray, place: str) -> None:
    for run in (lambda e: judged_ranks(e, SPLIT), lambda e: top_k(e, 2)):
        assert faults_of(lambda: run(Embeddings(queries, gallery))) == [("vector-dimension", place)]  # noqa: B023
