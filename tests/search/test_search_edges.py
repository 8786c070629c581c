"""Images at the very ends of the proven bands, and one hard case over every block, thread count, screen and device."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from search.plain import DEVICES, SCREENS, make_split, plain_ranks

from evaluator.search import bounds, devices, judged_ranks
from evaluator.types import Embeddings, Similarity

AT_HAND = [device for device in DEVICES if device == "numpy" or devices.has("torch")]
BASE = 0.5


def offsets(dimension: int) -> list[float]:
    """Return distances from a score: each radius of the search, just inside and just outside, and the last bits."""
    length, longest = np.array([np.sqrt(2.0)]), 1.0
    radii = [
        bounds.float32_radius(length, longest, dimension)[0],
        bounds.float32_radius(length, longest, dimension, slice_=dimension)[0],
        bounds.float64_radius(length, longest, dimension)[0],
        bounds.bfloat16_radius(length, length * bounds.BFLOAT16, longest, bounds.BFLOAT16, dimension)[0],
        *(2.0**-power for power in (8, 24, 26, 27, 52, 53, 54)),
    ]
    factors = (0.5, 1 - 2.0**-20, 1.0, 1 + 2.0**-20, 2.0)
    return [0.0, 0.0, *(sign * r * factor for r in radii for factor in factors for sign in (-1, 1))]


def at_the_edges(dimension: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return one query, three times, and images that score 0.5 plus each of the distances, in a mixed order."""
    distances = np.random.default_rng(0).permutation(offsets(dimension))
    queries, gallery = np.zeros((3, dimension)), np.zeros((len(distances), dimension))
    queries[:, [0, -1]] = 1
    gallery[:, 0], gallery[:, -1] = BASE, distances
    return queries.astype(np.float32), gallery.astype(np.float32)


@pytest.mark.parametrize("judged", [1, 7, 60])
@pytest.mark.parametrize("dimension", [2, 64, 300, 1024])
def test_images_at_the_ends_of_the_bands(judged: int, dimension: int) -> None:
    """An end that is off by one float32 would count an image twice or never."""
    embeddings = Embeddings(*at_the_edges(dimension), Similarity.INNER_PRODUCT)
    split = make_split(3, len(embeddings.gallery), judged=judged)
    expected = plain_ranks(embeddings, split)
    for device, screen in itertools.product(AT_HAND, SCREENS):
        assert judged_ranks(embeddings, split, device=device, screen=screen).rank.tolist() == expected, (device, screen)


def test_every_block_thread_count_screen_and_device() -> None:
    """Ties, twins of the references, near-ties at the last bits and ordinary images in one gallery."""
    random = np.random.default_rng(6)
    base = random.standard_normal((30, 70)).astype(np.float32)
    bits = (np.tile(base[:1], (30, 1)).view(np.int32) + random.integers(-1, 2, (30, 70))).astype(np.int32)
    whole = random.integers(-1, 2, (30, 70)) + np.eye(1, 70)
    gallery = np.concatenate([base, bits.view(np.float32), whole, base[::-1]]).astype(np.float32)
    gallery = gallery[random.permutation(len(gallery))]
    embeddings = Embeddings(gallery[:5] + np.float32(0.25), gallery)
    split = make_split(5, len(gallery), judged=25, remove_reference=True, galleries=2)
    expected = plain_ranks(embeddings, split)
    for block, threads in itertools.product((1, 5, 8, 64, 120, 1000), (1, 2, 4)):
        for device, screen in itertools.product(AT_HAND, SCREENS):
            found = judged_ranks(embeddings, split, block=block, threads=threads, device=device, screen=screen)
            assert found.rank.tolist() == expected, (block, threads, device, screen)


def test_another_order_of_the_gallery_moves_only_ties() -> None:
    """A30: without ties, neither the names nor the places of images have a part in a rank."""
    random = np.random.default_rng(7)
    split = make_split(6, 80, judged=80)
    queries, gallery = random.standard_normal((6, 40)), random.standard_normal((80, 40))
    order = random.permutation(80)
    before = judged_ranks(Embeddings(queries, gallery), split).rank.reshape(6, 80)
    after = judged_ranks(Embeddings(queries, gallery[order]), split).rank.reshape(6, 80)
    assert after.tolist() == before[:, order].tolist()
