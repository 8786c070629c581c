"""The proven bounds hold, and are not so wide that they would be useless."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.plain import fold as plain_fold

from evaluator.search import bounds, devices
from evaluator.search.kernels import Kernel, NumpyKernel, count_true, true_cells
from evaluator.search.keys import MOST_COLUMNS, column_of, key
from evaluator.search.scan import spread
from evaluator.search.scores import fold, pair_scores
from evaluator.search.survey import Queries, row_lengths


def kernels() -> list[Kernel]:
    found: list[Kernel] = [NumpyKernel()]
    return [*found, devices.TorchCpuKernel(), devices.TorchKernel("cpu")] if devices.has("torch") else found


def hard(random: np.random.Generator, rows: int, dimension: int) -> np.ndarray:
    """Vectors of length about 1 whose float32 and bfloat16 products go wrong: one sign, half-way values, cancelling."""
    kind = random.integers(0, 4)
    if kind == 0:
        vectors = random.standard_normal((rows, dimension))
    elif kind == 1:
        vectors = 1 + random.random((rows, dimension)) * 1e-3
    elif kind == 2:
        vectors = np.full((rows, dimension), 1 + 2.0**-8) * random.choice([-1, 1], (rows, dimension))
    else:
        vectors = np.where(np.arange(dimension) % 2, 1.0, -1.0) * (1 + random.random((rows, dimension)) * 1e-5)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 64, 256, 257, 768, 2048]), st.sampled_from([64, 256, 1 << 20]))
def test_products_are_within_the_radius(seed: int, dimension: int, slice_: int) -> None:
    random = np.random.default_rng(seed)
    queries, gallery = Queries.of(hard(random, 6, dimension)), hard(random, 9, dimension)
    exact = (queries.rows.astype(np.float64) @ gallery.T.astype(np.float64)) * queries.scale[:, np.newaxis]
    longest = float(row_lengths(gallery).max())
    worst = float(row_lengths(gallery - bounds.to_bfloat16(gallery)).max())
    float32 = bounds.float32_radius(queries.lengths, longest, dimension, slice_=min(slice_, dimension))
    bfloat16 = bounds.bfloat16_radius(queries.lengths, queries.errors, longest, worst, dimension)
    for kernel in kernels():
        for rounded, radius in ((False, float32), (True, bfloat16)):
            left, right = (kernel.put(rows, rounded=rounded) for rows in (queries.scaled, gallery))
            products = kernel.fetch(kernel.product(left, right, slice_))
            low, high = bounds.band(exact, radius[:, np.newaxis], rounded=rounded)
            assert ((low <= products) & (products <= high)).all(), (type(kernel).__name__, rounded)


def test_the_bounds_are_narrow() -> None:
    one = np.ones(1)
    assert bounds.float32_radius(one, 1.0, 768)[0] < 1.6e-5
    assert bounds.float32_radius(one, 1.0, 768, slice_=768)[0] < 4.7e-5
    assert bounds.bfloat16_radius(one, 0.0017 * one, 1.0, 0.0017, 768)[0] < 3.6e-3
    assert bounds.float64_radius(one, 1.0, 768)[0] < 4e-13


@given(st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=1, max_size=200))
def test_rounding_to_bfloat16_is_to_nearest(numbers: list[float]) -> None:
    values = np.array(numbers, dtype=np.float32)
    rounded = bounds.to_bfloat16(values)
    assert (rounded.view(np.uint32) & 0xFFFF == 0).all()
    assert (np.abs(values.astype(np.float64) - rounded) <= np.abs(values) * bounds.BFLOAT16 + 2.0**-133).all()
    if devices.has("torch"):
        import torch

        assert np.array_equal(torch.from_numpy(values).bfloat16().float().numpy(), rounded)


class TestTheScore:
    """A sum in a fixed order: not the library's, not the processor's."""

    @given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=130))
    def test_folds_as_written(self, numbers: list[float]) -> None:
        assert fold(np.array([numbers, numbers]))[1] == plain_fold(numbers)

    def test_by_hand(self) -> None:
        """1e16 + 1 loses the 1, so (1e16 + -1e16) + (1 + 1) and other orders differ."""
        assert fold(np.array([[1e16, 1.0, -1e16, 1.0]]))[0] == 2.0
        assert fold(np.array([[1e16, -1e16, 1.0, 1.0]]))[0] == (1e16 + 1.0) + (-1e16 + 1.0) == 0.0
        assert fold(np.array([[1.0, 2.0, 3.0]]))[0] == 6.0

    def test_equal_vectors_score_the_same_to_the_bit_wherever_they_stand(self) -> None:
        random = np.random.default_rng(0)
        query, vector = (random.standard_normal((1, 768)).astype(np.float32) for _ in range(2))
        gallery = np.tile(vector, (333, 1))
        scores = pair_scores(query, gallery, np.zeros(333, dtype=np.intp), np.arange(333))
        assert len(set(scores.tolist())) == 1


class TestReadingOff:
    """Counts and positions of a mask, keys and ranges: by the plain NumPy that they replace."""

    @given(st.integers(0, 2**32 - 1), st.sampled_from([(3, 7), (5, 8), (2, 1024), (3, 3072)]), st.floats(0, 1))
    @settings(max_examples=40, deadline=None)
    def test_masks(self, seed: int, shape: tuple[int, int], share: float) -> None:
        mask = np.random.default_rng(seed).random(shape) < share
        assert count_true(mask).tolist() == mask.sum(axis=1).tolist()
        assert true_cells(mask).tolist() == np.flatnonzero(mask).tolist()

    @given(st.lists(st.floats(-3.5, 3.5, width=32), min_size=2, max_size=50))
    def test_keys_sort_by_row_then_product(self, numbers: list[float]) -> None:
        values = np.array(numbers, dtype=np.float32)
        column = np.arange(len(values))
        keys = key(np.zeros(len(values), dtype=np.intp), values, column)
        assert (np.diff(values[np.argsort(keys)]) >= -(2.0**-26)).all()
        assert column_of(keys).tolist() == column.tolist()
        assert keys.max() < key(np.ones(1, dtype=np.intp), np.float32(-3.5), 0).min()
        assert column_of(np.array([MOST_COLUMNS - 1])).item() == MOST_COLUMNS - 1

    def test_ranges(self) -> None:
        numbers, owner = spread(np.array([3, 9, 20]), np.array([5, 9, 23]))
        assert numbers.tolist() == [3, 4, 20, 21, 22]
        assert owner.tolist() == [0, 0, 2, 2, 2]


@pytest.mark.torch
def test_torchs_precision_is_raised_for_the_search_and_restored() -> None:
    import torch

    torch.set_float32_matmul_precision("medium")
    seen = []
    try:
        devices.over_blocks(
            [devices.TorchCpuKernel()], 1, 1, lambda *_: seen.append(torch.get_float32_matmul_precision())
        )
        assert seen == ["highest"]
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
