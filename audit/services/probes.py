"""Stored probes: judged ranks as files, read back as what labels are made of (decision 36)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage

from audit.models import Encoder, Probe
from evaluator import bundle, store
from evaluator.audit.labels import K, Member, best_ranks, solved
from evaluator.audit.store import load_frozen
from evaluator.errors import EvaluatorError
from evaluator.types import Condition, JudgedRanks, Ranking
from leaderboard import bundles
from leaderboard.models import SplitVersion


class ProbesMissing(Exception):  # noqa: N818 (a verdict)
    """An encoder has not been run over a split yet."""


def key_of(version: SplitVersion) -> str:
    """Return the ``ranks_key`` of a version: its probes hold for every version that shares it."""
    return _key(version.digest, version.pk)


@lru_cache(maxsize=64)
def _key(digest: str, pk: int) -> str:
    return bundle.ranks_key(bundles.load(SplitVersion.objects.get(pk=pk)))


def stored(encoder: Encoder, version: SplitVersion) -> dict[Condition, Probe]:
    """Return the probes that an encoder has on a split, none to three."""
    rows = Probe.objects.filter(encoder=encoder, ranks_key=key_of(version))
    return {Condition(probe.condition): probe for probe in rows}


def is_complete(encoder: Encoder, version: SplitVersion) -> bool:
    """Whether all three conditions were run."""
    return len(stored(encoder, version)) == len(Condition)


def judged(encoder: Encoder, version: SplitVersion) -> dict[Condition, JudgedRanks]:
    """Return the rank of every positive under each condition.

    Raises ProbesMissing, and EvaluatorError for a frozen pool, of which only best ranks are known.
    """
    if encoder.is_frozen:
        raise EvaluatorError(f"of {encoder} only best ranks are known")
    return {condition: _read(probe) for condition, probe in _complete(encoder, version).items()}


def member(encoder: Encoder, version: SplitVersion) -> Member:
    """Return an encoder as a member of a pool. Raises ProbesMissing."""
    if encoder.is_frozen:
        probe = _complete(encoder, version)[Condition.MULTIMODAL]
        return load_frozen(Path(default_storage.path(probe.ranks)))
    split = bundles.load(version)
    ranks = {condition: best_ranks(found, split) for condition, found in judged(encoder, version).items()}
    return Member(encoder.name, ranks)


def store_probes(
    encoder: Encoder, version: SplitVersion, found: Mapping[Condition, JudgedRanks], **columns: Any
) -> list[Probe]:
    """Write judged ranks to storage and their rows; what is there already is left alone. Call it in a transaction."""
    split = bundles.load(version)
    known = stored(encoder, version)
    for condition, ranks in found.items():
        if condition in known:
            continue
        name = f"audit/{encoder.slug}/{key_of(version)[:16]}/{condition}.npz"
        path = Path(default_storage.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        store.save_run(ranks, path)
        recall = float(solved(best_ranks(ranks, split), K).mean())
        known[condition] = Probe.objects.create(
            encoder=encoder,
            version=version,
            condition=str(condition),
            ranks_key=key_of(version),
            ranks=name,
            recall=recall,
            **columns,
        )
    return list(known.values())


def _complete(encoder: Encoder, version: SplitVersion) -> dict[Condition, Probe]:
    found = stored(encoder, version)
    absent = [str(condition) for condition in Condition if condition not in found]
    if absent:
        how = "import its ranks with `manage.py import_circus_pool`" if encoder.is_frozen else "run it first"
        raise ProbesMissing(f"{encoder} was not run over {version.split} ({', '.join(absent)}): {how}.")
    return found


def _read(probe: Probe) -> JudgedRanks:
    run = store.load_run(Path(default_storage.path(probe.ranks)))
    if isinstance(run, Ranking):
        raise EvaluatorError(f"{probe.ranks} holds a ranking, not judged ranks")
    return run
