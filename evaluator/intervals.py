"""Intervals by cluster bootstrap, and paired tests (decision 17).

The interval is **BCa** (Efron, J. Am. Stat. Assoc. 82, 1987), with its levels widened for the number of clusters as
Hesterberg (Am. Stat. 69, 2015) widens percentiles. Plain percentiles are too narrow by sqrt((m - 1) / m) and by normal
against Student's quantiles, and on rare hits in few clusters nearly all their misses are on one side. Measured on
generated clusters, 40 to 500 of them, this covers 93 to 96 % where percentiles cover 92 to 95 %
(``tests/intervals``). Like percentiles it stays inside [0, 1] and needs no formula for ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
_ROUNDING = 1e-12
"""Equal values summed in another order differ by less than this, relative where they pass 1."""
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
    """Return totals of ``sums`` (clusters, columns): whole, of each resample, and with each cluster left out.

    The rows are 1 + resamples + clusters, in that order.
    """
    clusters, columns = sums.shape
    totals = np.empty((1 + resamples + clusters, columns))
    sums.sum(axis=0, out=totals[0])
    weights = resampling_weights(sizes, resamples)
    for start in range(0, resamples, _BLOCK):
        block = weights[start : start + _BLOCK].astype(np.float64)
        np.matmul(block, sums, out=totals[1 + start : 1 + start + len(block)])
    np.subtract(totals[0], sums, out=totals[1 + resamples :])
    return totals


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A statistic of some data: its value, its resampled values and its values with one cluster left out."""

    value: float
    resampled: FloatArray  # (resamples,) infinite or NaN where it has no value
    left_out: FloatArray  # (all clusters,)
    sizes: tuple[int, ...]  # clusters in each stratum
    clusters: int
    """How many independent clusters the statistic rests on; others can be drawn without changing it."""


def bootstrap_interval(found: Bootstrap) -> Interval | None:
    """Return the widened BCa interval, which holds the value itself.

    None with fewer than two clusters, where more than one in a hundred resamples has no value, and where no resample
    has another value: that says nothing of what was not drawn, and [v, v] would claim certainty.
    """
    defined = np.sort(found.resampled[np.isfinite(found.resampled)])
    if found.clusters < 2 or not len(defined) or len(defined) < (1 - _MOST_UNDEFINED) * len(found.resampled):
        return None
    if defined[-1] - defined[0] <= _ROUNDING * max(1.0, abs(found.value)):
        return None
    bias = _bias(defined, found.value)
    acceleration = _acceleration(found.left_out, found.sizes)
    reach = widened_quantile(found.clusters)
    low = _quantile(defined, _corrected(bias - reach, bias, acceleration))
    high = _quantile(defined, _corrected(bias + reach, bias, acceleration))
    return min(low, found.value), max(high, found.value)


def _bias(ascending: FloatArray, value: float) -> float:
    """Return BCa's z0: where the value stands among its resampled values, those equal to it counted half."""
    below, upto = np.searchsorted(ascending, value, "left"), np.searchsorted(ascending, value, "right")
    share = (below + upto) / (2 * len(ascending))
    least = 1 / (1 + len(ascending))
    return _NORMAL.inv_cdf(min(max(share, least), 1 - least))


def _acceleration(left_out: FloatArray, sizes: tuple[int, ...]) -> float:
    """Return BCa's a: the skewness of the clusters' influence, each stratum about its own mean."""
    if not np.isfinite(left_out).all():
        return 0.0
    starts = np.cumsum((0, *sizes[:-1]), dtype=np.intp)
    means = np.add.reduceat(left_out, starts) / sizes
    influence = np.repeat(means, sizes) - left_out
    squares = influence * influence
    scale = float(squares.sum()) ** 1.5
    return float(squares @ influence) / (6 * scale) if scale > 0 else 0.0


def _corrected(z: float, bias: float, acceleration: float) -> float:
    """Return the level of the percentile that BCa reads for the normal quantile ``z`` about ``bias``."""
    stretch = 1 - acceleration * z
    if stretch <= 0:
        return 1.0 if z > 0 else 0.0
    return _NORMAL.cdf(bias + z / stretch)


@lru_cache(maxsize=4096)
def widened_quantile(clusters: int) -> float:
    """Return sqrt(m / (m - 1)) t for m clusters, with t Student's quantile for m - 1 degrees of freedom."""
    return math.sqrt(clusters / (clusters - 1)) * student_quantile((1 + LEVEL) / 2, clusters - 1)


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
