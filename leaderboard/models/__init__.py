"""The tables of what is compared and what came out."""

from leaderboard.models.benchmark import Benchmark, Cluster, Judgment, Query, Split, SplitVersion, Subset
from leaderboard.models.entry import Comparison, Entry, Method, Score

__all__ = [
    "Benchmark",
    "Cluster",
    "Comparison",
    "Entry",
    "Judgment",
    "Method",
    "Query",
    "Score",
    "Split",
    "SplitVersion",
    "Subset",
]
