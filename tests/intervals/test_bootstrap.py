"""The pieces of an interval: weights, quantiles, Wilson, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluator.intervals import (
    Bootstrap,
    bootstrap_interval,
    resample,
    resampling_weights,
    student_quantile,
    widened_quantile,
    wilson_interval,
)

SIZES = (30, 12)


def bootstrap(values: np.ndarray, *, resamples: int = 2000) -> Bootstrap:
    """The mean of unclustered values, as estimates make it."""
    totals = resample(values[:, np.newaxis], (len(values),), resamples)[:, 0]
    left_out = totals[1 + resamples :] / (len(values) - 1)
    return Bootstrap(values.mean(), totals[1 : 1 + resamples] / len(values), left_out, (len(values),), len(values))


class TestWeights:
    def test_every_stratum_keeps_its_size(self) -> None:
        weights = resampling_weights(SIZES, 200)
        assert weights.shape == (200, 42)
        assert (weights[:, :30].sum(axis=1) == 30).all()
        assert (weights[:, 30:].sum(axis=1) == 12).all()

    def test_they_are_those_of_drawing_with_replacement(self) -> None:
        weights = resampling_weights((50,), 4000).astype(float)
        assert weights.mean() == 1.0
        assert weights.var() == pytest.approx(1 - 1 / 50, abs=0.02)

    def test_the_seed_is_fixed_and_the_array_kept(self) -> None:
        kept = resampling_weights(SIZES, 200)
        assert resampling_weights(SIZES, 200) is kept
        assert (resampling_weights.__wrapped__(SIZES, 200) == kept).all()
        assert not kept.flags.writeable

    def test_totals_are_whole_resampled_and_less_one(self) -> None:
        sums = np.random.default_rng(1).normal(size=(42, 3))
        totals = resample(sums, SIZES, 300)
        assert totals.shape == (1 + 300 + 42, 3)
        assert totals[0] == pytest.approx(sums.sum(axis=0))
        assert totals[1:301] == pytest.approx(resampling_weights(SIZES, 300) @ sums)
        assert totals[301 + 5] == pytest.approx(np.delete(sums, 5, axis=0).sum(axis=0))


class TestQuantiles:
    @pytest.mark.parametrize("degrees", [4, 5, 9, 39, 499, 20_000])
    def test_students_quantile_is_scipys(self, degrees: int) -> None:
        assert student_quantile(0.975, degrees) == pytest.approx(stats.t.ppf(0.975, degrees), abs=0.003)

    def test_the_widening_fades_with_the_number_of_clusters(self) -> None:
        assert widened_quantile(40) == pytest.approx(np.sqrt(40 / 39) * stats.t.ppf(0.975, 39), abs=1e-4)
        assert widened_quantile(100_000) == pytest.approx(1.96, abs=1e-3)


class TestBootstrapInterval:
    def test_is_near_students_on_a_symmetric_sample(self) -> None:
        values = np.random.default_rng(2).normal(5, 1, size=60)
        low, high = bootstrap_interval(bootstrap(values)) or (0, 0)
        theirs = stats.t.interval(0.95, 59, values.mean(), stats.sem(values))
        assert (low, high) == pytest.approx(theirs, abs=0.03)

    def test_is_near_scipys_bca_on_a_skewed_sample(self) -> None:
        values = np.random.default_rng(3).exponential(size=300)
        low, high = bootstrap_interval(bootstrap(values, resamples=9000)) or (0, 0)
        theirs = stats.bootstrap((values,), np.mean, n_resamples=9000, method="BCa", rng=4).confidence_interval
        assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.012)
        assert high - values.mean() > values.mean() - low

    def test_holds_the_value(self) -> None:
        found = Bootstrap(0.9, np.linspace(0.1, 0.3, 1000), np.full(5, 0.9), (5,), 5)
        low, high = bootstrap_interval(found) or (1, 0)
        assert low <= 0.9 <= high

    def test_one_cluster_has_none(self) -> None:
        assert bootstrap_interval(Bootstrap(0.5, np.full(100, 0.5), np.full(1, np.nan), (1,), 1)) is None

    def test_resamples_without_a_value_are_left_out_while_they_are_few(self) -> None:
        resampled = np.random.default_rng(5).random(1000)
        resampled[:10] = np.inf
        assert bootstrap_interval(Bootstrap(0.5, resampled, np.zeros(9), (9,), 9)) is not None
        resampled[:11] = np.nan
        assert bootstrap_interval(Bootstrap(0.5, resampled, np.zeros(9), (9,), 9)) is None
        assert bootstrap_interval(Bootstrap(0.5, np.full(1000, np.nan), np.zeros(9), (9,), 9)) is None

    def test_leaving_out_the_only_cluster_of_a_kind_does_no_harm(self) -> None:
        resampled = np.random.default_rng(5).random(1000)
        left_out = np.array([0.5, np.inf, 0.4])
        low, high = bootstrap_interval(Bootstrap(0.5, resampled, left_out, (3,), 3)) or (1, 0)
        assert 0 <= low < high <= 1

    @pytest.mark.parametrize("value", [0.0, 0.5])
    def test_what_no_resample_changes_is_not_certain(self, value: float) -> None:
        """A ΔmAP of 0, because no negative was retrieved, once stood on the board as 0.00 [0.00, 0.00]."""
        alike = np.full(1000, value)
        alike[7] += 1e-16
        assert bootstrap_interval(Bootstrap(value, alike, np.full(40, value), (40,), 40)) is None

    @pytest.mark.parametrize("clusters", [2, 3, 4])
    def test_very_few_clusters_reach_to_the_ends(self, clusters: int) -> None:
        resampled = np.linspace(0, 1, 1000)
        low, high = bootstrap_interval(
            Bootstrap(0.5, resampled, np.arange(clusters) ** 3.0, (clusters,), clusters)
        ) or (1, 0)
        assert low < 0.01
        assert high > 0.97


@pytest.mark.parametrize(("hits", "n"), [(0, 42), (1, 42), (21, 42), (42, 42), (3, 9)])
def test_wilson_is_scipys(hits: int, n: int) -> None:
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_interval(hits / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
