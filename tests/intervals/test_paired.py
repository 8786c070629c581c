"""Paired sign-flip tests over clusters, and Holm's correction."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from evaluator.intervals import holm, paired_test


def rows(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def test_identical_entries_give_exactly_one() -> None:
    values = np.random.default_rng(1).random(500)
    assert paired_test(values, values.copy(), rows(500)) == 1.0


def test_no_queries_at_all_give_one() -> None:
    assert paired_test(np.zeros(0), np.zeros(0), rows(0)) == 1.0


def test_differences_that_cancel_give_one() -> None:
    """Public report A21: two methods that win one query each are not told apart."""
    a, b = np.zeros(42), np.zeros(42)
    a[3], b[7] = 1.0, 1.0
    assert paired_test(a, b, rows(42)) == 1.0


def test_one_query_of_many_is_a_coin_flip() -> None:
    a, b = np.zeros(42), np.zeros(42)
    a[3] = 1.0
    assert paired_test(a, b, rows(42)) == 1.0  # either sign is as far out


def test_agrees_with_all_flips_counted() -> None:
    generator = np.random.default_rng(2)
    difference = generator.normal(0.4, 1, size=12)
    flips = np.array(list(itertools.product([-1, 1], repeat=12))) @ difference
    exact = np.mean(np.abs(flips) >= abs(difference.sum()) - 1e-12)
    assert paired_test(difference, np.zeros(12), rows(12)) == pytest.approx(exact, abs=0.015)


def test_agrees_with_scipy_on_paired_samples() -> None:
    generator = np.random.default_rng(3)
    a, b = generator.random((2, 80))
    theirs = stats.permutation_test(
        (a, b), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=9999, rng=4
    )
    assert paired_test(a, b, rows(80)) == pytest.approx(theirs.pvalue, abs=0.02)


def test_clusters_flip_together() -> None:
    """Twenty copies of a request are one request: they must not turn a hint into a proof."""
    a = np.array([0.5, 0.4, 0.6, 0.1, 0.7, 0.3, 0.2, 0.9, 0.5, 0.4])
    b = np.array([0.2, 0.5, 0.3, 0.2, 0.4, 0.4, 0.0, 0.6, 0.6, 0.2])
    copies = np.repeat(rows(10), 20)
    alone = paired_test(a, b, rows(10))
    assert 0.05 < alone < 0.2
    assert paired_test(a[copies], b[copies], copies) == pytest.approx(alone, abs=0.02)
    assert paired_test(a[copies], b[copies], rows(200)) < 0.001


def test_under_no_difference_one_in_twenty_is_below_the_level() -> None:
    generator = np.random.default_rng(6)
    below = sum(
        paired_test(*generator.random((2, 40)), rows(40), draws=400, seed=trial) <= 0.05 for trial in range(400)
    )
    assert 0.02 <= below / 400 <= 0.08


def test_is_symmetric_and_repeatable() -> None:
    a, b = np.random.default_rng(7).random((2, 60))
    assert paired_test(a, b, rows(60)) == paired_test(a, b, rows(60)) == paired_test(b, a, rows(60))


def test_the_number_of_draws_may_be_any() -> None:
    a, b = np.random.default_rng(8).random((2, 30))
    p_value = paired_test(a, b, rows(30), draws=333)
    assert (p_value * 334) == pytest.approx(round(p_value * 334))


def test_shapes_and_values_are_checked() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        paired_test(np.zeros(3), np.zeros(4), rows(3))
    with pytest.raises(ValueError, match="finite"):
        paired_test(np.array([np.nan]), np.zeros(1), rows(1))


@pytest.mark.parametrize(
    ("given", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's own kind of example
        ([0.9, 0.6], [1.0, 1.0]),
        ([0.01, 0.01, 0.01], [0.03, 0.03, 0.03]),
    ],
)
def test_holm(given: list[float], adjusted: list[float]) -> None:
    assert holm(given) == pytest.approx(adjusted)
