"""The nearest images: the order of the scores and the gallery, whoever proposed them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.plain import vectors
from search.test_search_ranks import MAKERS, Maker

from evaluator.errors import EvaluatorError
from evaluator.search import devices, nearest, top_k
from evaluator.search.scores import fold
from evaluator.types import Embeddings, Similarity

AT_HAND = [
    "numpy",
    *(["cpu"] if devices.has("torch") else []),
    *(["faiss"] if devices.has("faiss") else []),
]


def plain_nearest(embeddings: Embeddings, k: int) -> tuple[list[list[int]], list[list[float]]]:
    queries, gallery = (np.array(vectors(m, embeddings.similarity)) for m in (embeddings.queries, embeddings.gallery))
    scores = [fold(gallery * query) for query in queries]
    order = [sorted(range(len(gallery)), key=lambda i: (-row[i], i))[:k] for row in scores]
    return order, [[float(row[i]) for i in chosen] for row, chosen in zip(scores, order, strict=True)]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(MAKERS),
    st.sampled_from(list(Similarity)),
    st.sampled_from([1, 3, 40, 1000]),
    st.sampled_from([5, 64, 4096]),
)
def test_the_same_whoever_proposes(seed: int, maker: Maker, similarity: Similarity, k: int, block: int) -> None:
    """A31: a k beyond the gallery gives the whole gallery, and no -1."""
    random = np.random.default_rng(seed)
    queries, gallery = maker(random, 4, int(random.integers(1, 90)), 20)
    embeddings = Embeddings(queries.astype(np.float32), gallery.astype(np.float32), similarity)
    images, scores = plain_nearest(embeddings, k)
    for device in AT_HAND:
        found = top_k(embeddings, k, device=device, block=block, threads=2)
        assert found.images.tolist() == images, device
        assert found.scores.tolist() == scores


@pytest.mark.parametrize("device", AT_HAND)
def test_more_is_asked_for_until_ties_are_told_apart(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of 5,000 images are the same: the first five of them are the nearest, whichever were proposed."""
    monkeypatch.setattr(nearest, "_CELLS", 7000)
    random = np.random.default_rng(0)
    gallery = random.standard_normal((5000, 8))
    twins = np.sort(random.choice(5000, 2500, replace=False))
    gallery[twins] = [5.0, 0, 0, 0, 0, 0, 0, 0]
    queries = np.eye(3, 8)
    found = top_k(Embeddings(queries, gallery), 5, device=device)
    assert found.images[0].tolist() == twins[:5].tolist()
    assert found.images[1:].tolist() == plain_nearest(Embeddings(queries, gallery), 5)[0][1:]


@pytest.mark.parametrize(("k", "queries"), [(0, 2), (-1, 2), (3, 0)])
def test_nothing_asked_for(k: int, queries: int) -> None:
    found = top_k(Embeddings(np.ones((queries, 3)), np.ones((4, 3))), k)
    assert found.images.shape == (queries, min(max(k, 0), 4))


def test_an_empty_gallery() -> None:
    assert top_k(Embeddings(np.ones((2, 3)), np.ones((0, 3))), 5).images.shape == (2, 0)


def test_an_unknown_device() -> None:
    with pytest.raises(EvaluatorError, match="choose one of"):
        top_k(Embeddings(np.ones((2, 3)), np.ones((4, 3))), 5, device="abacus")


@pytest.mark.gpu
@pytest.mark.parametrize("maker", MAKERS)
def test_the_same_from_a_gpu(maker: Maker) -> None:
    embeddings = Embeddings(*maker(np.random.default_rng(2), 50, 2000, 300))
    expected = top_k(embeddings, 20, device="numpy")
    found = top_k(embeddings, 20, device="cuda")
    assert found.images.tolist() == expected.images.tolist()
    assert found.scores.tolist() == expected.scores.tolist()
