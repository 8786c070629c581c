"""An audited demo split for the pages' tests: two versions, the second with one model more; ranks drawn with a seed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from audits_made import give_probes, make_encoder, make_pool

TRAINING = "A small encoder of this project: two linear heads, trained on other scenes."


def drawn(queries: int, seed: int) -> Any:
    """Return ranks by condition from 1 to 1,000, low ones more often; about one in thirty is not ranked."""
    from evaluator.types import Condition

    generator = np.random.default_rng(seed)
    found = {}
    for condition, reach in zip(Condition, (5, 7, 7), strict=True):
        ranks = np.exp(generator.random(queries) * reach).astype(int)
        found[condition] = np.where(generator.random(queries) < 0.03, 0, ranks).tolist()
    return found


def planned(split: Any, seed: int, slip: float = 0.1) -> Any:
    """Return ranks by condition that find what the demo's queries were built to be, but for a share of them."""
    import demo
    from evaluator.types import Condition

    generator = np.random.default_rng(seed)
    solves = {
        Condition.MULTIMODAL: ("text", "image", "both", "composition-required"),
        Condition.TEXT_ONLY: ("text", "both"),
        Condition.IMAGE_ONLY: ("image", "both"),
    }
    built = [str(demo.planted_labels()[query]) for query in split.query_ids]
    ranks = {}
    for condition, known in solves.items():
        low, high = generator.integers(1, 11, len(built)), generator.integers(11, 120, len(built))
        right = generator.random(len(built)) >= slip
        ranks[condition] = [int(low[n] if (name in known) and right[n] else high[n]) for n, name in enumerate(built)]
    return ranks


def audited(slug: str = "demo-circus", *, models: int = 2) -> Any:
    """Freeze the demo's CIRCUS split as ``slug``, audit it with ``models`` models, then with one more.

    Returns both audit versions.
    """
    import demo
    from audit.services import pools
    from audit.services.versions import make_version
    from leaderboard.services.splits import freeze_split

    split = replace(demo.circus_split(), name=slug)
    version, _ = freeze_split(split)
    names = [f"Model {letter}" for letter in "ABCDEFGHIJKL"[: models + 1]]
    encoders = [make_encoder(name) for name in names]
    for number, encoder in enumerate(encoders):
        ranks = planned(split, number) if number == 0 else drawn(len(split), number)
        give_probes(encoder, version, ranks)
    encoders[0].training = TRAINING
    encoders[0].conditions = {
        "multimodal": "Both vectors, averaged.",
        "text-only": "Black picture.",
        "image-only": "No text.",
    }
    encoders[0].save()
    pool = make_pool("Demo pool", *encoders[:-1])
    first, _ = make_version(pool, version, note="The first audit.")
    pools.add(pool, encoders[-1])
    second, _ = make_version(pool, version)
    return first, second


def job(state: str = "running", **columns: Any) -> Any:
    """Make a job of Model A on the audited split."""
    from audit.models import Encoder, Job
    from leaderboard.models import SplitVersion

    version = SplitVersion.objects.get(current=True, split__slug="demo-circus")
    encoder = Encoder.objects.get(name="Model A")
    progress = {"phase": "text-only", "done": 250, "total": 1000, "rate": 12.5, "seconds_left": 60.0}
    return Job.objects.create(encoder=encoder, version=version, ranks_key="0" * 64, state=state, **progress | columns)
