"""Intervals by cluster bootstrap, and paired tests (decision 17).

The interval is the **expanded percentile** interval of Hesterberg (The American Statistician 69, 2015): percentiles
of the bootstrap distribution at levels widened for the number of clusters. The plain percentile interval is too
narrow by sqrt((m - 1) / m) and by normal against Student's quantiles, which at 40 clusters costs more than a point of
coverage. It keeps what percentiles are liked for: it stays inside [0, 1], follows a skewed distribution and needs no
formula for ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evaluator.types import FloatArray, IntArray

LEVEL = 0.95
RESAMPLES = 1000
SEED = 20_260_307
"""Fixed for good, the same for every split: a reload shows the same interval."""

_BLOCK = 250
"""Resamples weighed at once: bounds the memory of a split with many clusters."""
_MOST_UNDEFINED = 0.01
"""Share of resamples that may lack a value (a ratio by 0, a group that was not drawn) before there is no interval."""
_NORMAL = NormalDist()

Interval = tuple[float, float]


@lru_cache(maxsize=16)
def resampling_weights(sizes: tuple[int, ...], resamples: int) -> NDArray[np.uint16]:
    """Return how often each cluster is drawn in each resample: (resamples, sum of sizes).

    Strata of ``sizes`` clusters follow one another; each is resampled within itself. Everything that resamples the
    same numbers of clusters shares one array, which nobody may write to.
    """
    generator = np.random.default_rng([SEED, *sizes])
    weights = np.concatenate([_multinomial(generator, size, resamples) for size in sizes], axis=1)
    weights.setflags(write=False)
    return weights


def _multinomial(generator: np.random.Generator, size: int, resamples: int) -> NDArray[np.uint16]:
    """Return (resamples, size) counts of ``size`` draws with replacement."""
    drawn = generator.integers(0, size, size=(resamples, size), dtype=np.int32)
    cells = drawn + (np.arange(resamples, dtype=np.int64) * size)[:, np.newaxis]
    counts = np.bincount(cells.ravel(), minlength=resamples * size)
    return counts.reshape(resamples, size).astype(np.uint16)


def resample(sums: FloatArray, sizes: tuple[int, ...], resamples: int) -> FloatArray:
    """Return the total of ``sums`` (clusters, columns) and of each resample of its rows: (1 + resamples, columns)."""
    totals = np.empty((1 + resamples, sums.shape[1]))
    sums.sum(axis=0, out=totals[0])
    weights = resampling_weights(sizes, resamples)
    for start in range(0, resamples, _BLOCK):
        block = weights[start : start + _BLOCK].astype(np.float64)
        np.matmul(block, sums, out=totals[1 + start : 1 + start + len(block)])
    return totals


def percentile_interval(resampled: FloatArray, clusters: int) -> Interval | None:
    """Return the expanded percentile interval of a statistic's resampled values; infinite and NaN ones have no value.

    ``clusters`` is how many independent clusters the statistic rests on. None with fewer than two, or where more than
    one in a hundred resamples has no value.
    """
    defined = np.sort(resampled[np.isfinite(resampled)])
    if clusters < 2 or len(defined) < (1 - _MOST_UNDEFINED) * len(resampled) or not len(defined):
        return None
    tail = expanded_tail(clusters)
    return _quantile(defined, tail), _quantile(defined, 1 - tail)


@lru_cache(maxsize=4096)
def expanded_tail(clusters: int) -> float:
    """Return the level of the lower percentile for m clusters: Phi(-sqrt(m / (m - 1)) t), t Student's with m - 1."""
    stretched = math.sqrt(clusters / (clusters - 1)) * student_quantile((1 + LEVEL) / 2, clusters - 1)
    return _NORMAL.cdf(-stretched)


def student_quantile(probability: float, degrees: int) -> float:
    """Return Student's t quantile by the expansion of Abramowitz and Stegun 26.7.5; within 0.003 from 4 degrees on."""
    z = _NORMAL.inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / degrees**power for power, term in enumerate(terms, start=1))


def _quantile(ascending: FloatArray, level: float) -> float:
    """Return the quantile of sorted values with linear interpolation, as NumPy's default."""
    place = level * (len(ascending) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ascending) - 1)
    return float(ascending[below] + (place - below) * (ascending[above] - ascending[below]))


def wilson_interval(share: float, n: int) -> Interval:
    """Return Wilson's score interval of a ``share`` of ``n`` (J. Am. Stat. Assoc. 22, 1927)."""
    z = _NORMAL.inv_cdf((1 + LEVEL) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return min(max(0.0, centre - half), share), max(min(1.0, centre + half), share)


def paired_test(a: FloatArray, b: FloatArray, clusters: IntArray, *, draws: int = 10_000, seed: int = SEED) -> float:
    """Return the two-sided p-value of a paired sign-flip test: is the mean of ``a`` (n,) that of ``b`` (n,)?

    The differences of all queries of one cluster flip together. p = (1 + flips at least as far out) / (1 + draws), so
    identical inputs give exactly 1. Raises ValueError on shapes that differ and on values that are not finite.
    """
    if not a.shape == b.shape == clusters.shape:
        raise ValueError(f"paired values and clusters differ in shape: {a.shape}, {b.shape}, {clusters.shape}")
    difference = a - b
    if not np.isfinite(difference).all():
        raise ValueError("paired values must be finite")
    by_cluster = np.bincount(np.unique(clusters, return_inverse=True)[1], difference)
    by_cluster = by_cluster[by_cluster != 0]
    # Sums in another order differ in the last bits; a flip that is equal but for those is as far out.
    observed = abs(by_cluster.sum()) * (1 - 1e-12)
    as_far = sum(int((np.abs(flipped) >= observed).sum()) for flipped in _sign_flips(by_cluster, draws, seed))
    return (1 + as_far) / (1 + draws)


def _sign_flips(values: FloatArray, draws: int, seed: int) -> Iterator[FloatArray]:
    """Yield the sum of ``values`` with random signs, ``draws`` times in all, in blocks."""
    generator = np.random.default_rng(seed)
    for start in range(0, draws, _BLOCK):
        size = (min(_BLOCK, draws - start), len(values))
        kept = generator.integers(0, 2, size=size, dtype=np.int8).astype(np.float64)
        yield 2 * (kept @ values) - values.sum()


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values, in the order given (Scandinavian Journal of Statistics 6, 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return adjusted
