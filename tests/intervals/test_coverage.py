"""95 % intervals cover the truth in 93 to 97 % of 1,000 draws of generated clusters; of rows, visibly they do not.

The draws go through the front door, so what is tested is what a board shows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from evaluator.protocols import PINPOINT
from evaluator.scoring import score
from evaluator.types import Condition, Gallery, IntArray, JudgedRanks, Judgments, Protocol, Split, Subset

DRAWS = 1000
DEPTH = 50


@dataclass(frozen=True)
class World:
    """A population of clusters whose queries resemble each other: each has its own chance of a hit."""

    clusters: int
    measure: str
    chances: Callable[[np.random.Generator, int], np.ndarray]
    sizes: tuple[int, int] = (1, 11)
    """Fewest and most queries of a cluster, all numbers alike."""

    def draw(self, generator: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the cluster and the positive's rank of each query. A miss is at 2 to 20: it is worth 1/rank to mAP."""
        sizes = generator.integers(self.sizes[0], self.sizes[1] + 1, size=self.clusters)
        cluster = np.repeat(np.arange(self.clusters, dtype=np.int32), sizes)
        chance = self.chances(generator, self.clusters)[cluster]
        hit = generator.random(len(cluster)) < chance
        rank = np.where(hit, 1, generator.integers(2, 21, size=len(cluster))).astype(np.int32)
        return cluster, rank


def skewed(generator: np.random.Generator, clusters: int) -> np.ndarray:
    """Most clusters are hard; the mean chance is 1/4."""
    return generator.beta(1, 3, size=clusters)


def even(generator: np.random.Generator, clusters: int) -> np.ndarray:
    """All chances alike; the mean is 1/2."""
    return generator.random(clusters)


MEAN_CHANCE = {skewed: 0.25, even: 0.5}
MISS_WORTH = float(np.mean(1 / np.arange(2, 21)))


def truth(world: World) -> float:
    chance = MEAN_CHANCE[world.chances]  # type: ignore[index]
    return chance if world.measure == "Recall@1" else chance + (1 - chance) * MISS_WORTH


def split_of(clusters: IntArray, protocol: Protocol, strata: IntArray | None = None) -> Split:
    """Return a split of one positive (image 0) for each query over a gallery of 50 images."""
    n = len(clusters)
    lines = np.arange(n, dtype=np.int32)
    yes, no, one = np.ones(n, np.bool_), np.zeros(n, np.bool_), np.ones(n, np.int32)
    return Split(
        name="generated",
        version=1,
        protocol=protocol,
        query_ids=("",) * n,
        texts=("",) * n,
        references=((0,),) * n,
        images=("",) * DEPTH,
        galleries=(Gallery("generated", np.arange(DEPTH, dtype=np.int32)),),
        gallery_of=np.zeros(n, dtype=np.int32),
        judgments=Judgments(lines, np.zeros(n, np.int32), yes, no, no, no, one, 0 * one),
        subsets={Subset.ALL: yes},
        clusters=clusters,
        strata={} if strata is None else {Subset.ALL: strata},
    )


def interval(clusters: IntArray, rank: IntArray, measure: str, strata: IntArray | None = None) -> tuple[float, float]:
    protocol = replace(PINPOINT, measures=(measure,), subsets=(Subset.ALL,), breakdowns=())
    run = JudgedRanks(rank, np.full(len(rank), DEPTH, dtype=np.int32), complete=True)
    found = score(split_of(clusters, protocol, strata), {Condition.MULTIMODAL: run}).find(measure, Subset.ALL)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def coverage(world: World, clusters_of: Callable[[IntArray], IntArray] = lambda cluster: cluster) -> float:
    """Return the share of draws whose interval holds the truth, when ``clusters_of`` is what gets resampled."""
    generator = np.random.default_rng([7, world.clusters])
    wanted = truth(world)
    covered = 0
    for _ in range(DRAWS):
        cluster, rank = world.draw(generator)
        low, high = interval(clusters_of(cluster), rank, world.measure)
        covered += low <= wanted <= high
    return covered / DRAWS


@pytest.mark.parametrize(
    "world",
    [
        World(40, "Recall@1", skewed),
        World(40, "mAP@50", even),
        World(100, "Recall@1", skewed),
        World(100, "mAP@50", skewed),
        World(250, "Recall@1", even),
        World(500, "mAP@50", skewed, sizes=(1, 3)),
    ],
    ids=lambda world: f"{world.clusters} clusters, {world.measure}, {world.chances.__name__}",
)
def test_resampling_clusters_covers_the_truth(world: World) -> None:
    assert 0.93 <= coverage(world) <= 0.97


def test_resampling_rows_instead_does_not() -> None:
    """Paraphrases of one request rise and fall together; rows as if independent give intervals far too short."""
    world = World(60, "Recall@1", skewed)

    def each_row(cluster: IntArray) -> IntArray:
        return np.arange(len(cluster), dtype=np.int32)

    assert 0.93 <= coverage(world) <= 0.97
    assert coverage(world, each_row) < 0.85


def test_few_unclustered_queries_take_wilson() -> None:
    """42 queries as in CIRCO V: coverage of a proportion of them, averaged over its values, is nominal."""
    generator = np.random.default_rng(7)
    clusters = np.arange(42, dtype=np.int32)
    covered = 0
    for chance in generator.uniform(0.02, 0.6, size=DRAWS):
        rank = np.where(generator.random(42) < chance, 1, 2).astype(np.int32)
        low, high = interval(clusters, rank, "Recall@1")
        covered += low <= chance <= high
    assert 0.93 <= covered / DRAWS <= 0.97


def test_strata_are_resampled_within_themselves() -> None:
    """V's solved and unsolved queries were drawn in fixed numbers: what lies between the strata is no chance at all."""
    strata = np.repeat([0, 1], [70, 80]).astype(np.int32)
    rank = np.where(strata == 0, 1, 2).astype(np.int32)
    rank[::10] = 3 - rank[::10]  # most solved queries are hits, few of the others
    clusters = np.arange(150, dtype=np.int32)
    within = interval(clusters, rank, "Recall@1", strata)
    across = interval(clusters, rank, "Recall@1")
    shares = np.array([63 / 70, 8 / 80])
    half = 1.96 * np.sqrt(np.array([70, 80]) * shares * (1 - shares) @ np.ones(2)) / 150
    assert within == pytest.approx((71 / 150 - half, 71 / 150 + half), abs=0.012)
    assert across[0] < within[0] - 0.02
    assert across[1] > within[1] + 0.02
