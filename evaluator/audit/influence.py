"""What a pool's labels depend on: each single model, K, and how many models there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from evaluator.audit.labels import LABELS, Label, Labelling, label
from evaluator.types import BoolArray, Split, Subset

CUTOFFS = (1, 2, 3, 5, 10, 15, 20, 30, 50, 100)
"""Values of K that a report looks at."""


@dataclass(frozen=True)
class Influence:
    """What changes when one member is taken out of the pool."""

    name: str
    models: int
    changed: int
    """Queries with another label."""
    freed: int
    """Of them, those that only this member makes a shortcut."""
    unresolved: int
    """Composition-required queries that nobody else solves with both."""
    shortcut_free: int
    """Size of SF without the member."""


def leave_one_out(whole: Labelling) -> tuple[Influence, ...]:
    """Return how much each member decides, in their order; nothing for a pool of one."""
    if len(whole.members) < 2:
        return ()
    return tuple(_without(whole, number) for number in range(len(whole.members)))


def _without(whole: Labelling, number: int) -> Influence:
    member = whole.members[number]
    others = label([other for other in whole.members if other is not member], whole.k)
    return Influence(
        name=member.name,
        models=member.models,
        changed=int((others.label != whole.label).sum()),
        freed=int((whole.has(Label.SHORTCUT) & others.shortcut_free).sum()),
        unresolved=int((whole.has(Label.COMPOSITION_REQUIRED) & others.has(Label.UNRESOLVED)).sum()),
        shortcut_free=int(others.shortcut_free.sum()),
    )


def sizes_by_k(whole: Labelling, cutoffs: Sequence[int] = CUTOFFS) -> tuple[tuple[int, dict[str, int]], ...]:
    """Return (K, label -> queries) for each K, that of ``whole`` among them."""
    chosen = sorted({*cutoffs, whole.k})
    return tuple((k, _sizes(whole if k == whole.k else label(whole.members, k))) for k in chosen)


def _sizes(labelling: Labelling) -> dict[str, int]:
    return {str(name): int(labelling.has(name).sum()) for name in LABELS}


def size_by_models(whole: Labelling) -> tuple[tuple[int, float], ...]:
    """Return (m, mean size of SF over all pools of m of the models), for m from 1 to all of them.

    A query of which s of M models know a shortcut stays in SF with probability C(M - s, m) / C(M, m): exact, without
    drawing pools. Of a frozen pool only how many of its models solve a query is known, and that is all it takes.
    """
    models = whole.models
    solvers = np.bincount(np.minimum(whole.either, models), minlength=models + 1)
    return tuple(
        (m, sum(int(count) * comb(models - s, m) / comb(models, m) for s, count in enumerate(solvers)))
        for m in range(1, models + 1)
    )


def rolled(split: Split, whole: Labelling) -> dict[Subset, BoolArray]:
    """Return SF′ and V′ (decision 39): the published SF, or Full where there is none, without new shortcuts; V ∩ SF′.

    V′ is missing where the split has no V.
    """
    free = whole.shortcut_free
    kept = {Subset.SF_ROLLED: split.subsets.get(Subset.SF, np.ones(len(split), dtype=np.bool_)) & free}
    validated = split.subsets.get(Subset.V)
    if validated is not None:
        kept[Subset.V_ROLLED] = validated & kept[Subset.SF_ROLLED]
    return kept
