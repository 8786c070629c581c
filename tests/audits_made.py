"""Encoders and their probes for tests, made of ranks that the test chooses: no model runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def judged_of(split: Any, wanted: Sequence[int]) -> Any:
    """Return judged ranks that give query i's first positive the rank ``wanted[i]`` (0: none), any other one more."""
    from evaluator.ranks import candidates
    from evaluator.types import JudgedRanks

    ranks = np.zeros(len(split.judgments), dtype=np.int32)
    for query, rank in enumerate(wanted):
        lines = np.flatnonzero((split.judgments.query == query) & split.judgments.positive)
        ranks[lines] = np.arange(rank, rank + len(lines)) if rank else 0
    return JudgedRanks(ranks, candidates(split), complete=True)


def make_encoder(name: str, **columns: Any) -> Any:
    """Return a registered encoder of family ``files``."""
    from audit.services.encoders import register
    from evaluator.encoders import Spec

    options = columns.pop("options", {"gallery": f"{name}.gallery.npz"})
    encoder, _ = register(Spec(name, "files", name.lower(), "release 1", options=options), **columns)
    return encoder


def give_probes(encoder: Any, version: Any, wanted: Mapping[Any, Sequence[int]]) -> None:
    """Store the three probes of an encoder: condition -> rank of each query's best positive."""
    from audit.services.probes import store_probes
    from evaluator.types import Condition
    from leaderboard import bundles

    split = bundles.load(version)
    store_probes(encoder, version, {condition: judged_of(split, wanted[condition]) for condition in Condition})


def solving(
    queries: int, *, multimodal: Sequence[int] = (), text: Sequence[int] = (), image: Sequence[int] = ()
) -> Any:
    """Return ranks with 1 for the queries that are solved under a condition and 50 for all others."""
    from evaluator.types import Condition

    chosen = {Condition.MULTIMODAL: multimodal, Condition.TEXT_ONLY: text, Condition.IMAGE_ONLY: image}
    return {
        condition: [1 if query in solved else 50 for query in range(queries)] for condition, solved in chosen.items()
    }


def make_pool(name: str, *encoders: Any) -> Any:
    """Return a pool of encoders."""
    from audit.services import pools

    pool, _ = pools.ensure(name)
    for encoder in encoders:
        pools.add(pool, encoder)
    return pool
