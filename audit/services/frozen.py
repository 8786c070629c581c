"""CIRCUS's released best ranks -> the frozen probe "CIRCUS pool", from which the audit rolls on (decision 39)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.core.files.storage import default_storage
from django.db import models, transaction
from django.db.models import F

from audit.models import Encoder, Pool, PoolMember, Probe
from audit.services import probes
from evaluator.audit.labels import Labelling, Member, label, solved
from evaluator.audit.store import load_frozen, save_frozen
from evaluator.types import Condition
from leaderboard import bundles
from leaderboard.importers.pool_checks import NAME, K, read_pool
from leaderboard.importers.pool_ranks import COMMIT, MODELS, RETRIEVERS
from leaderboard.models import SplitVersion

POOL_SLUG = "circus"
_MODEL = "matteoattimonelli/CIRCUS"
_TRAINING = (
    f"Not one model: the best rank over {MODELS} retrievers, as CIRCUS released it. {len(RETRIEVERS)} are named "
    f"({', '.join(RETRIEVERS.values())}); a twelfth is unnamed: supports reach {MODELS}, and some best ranks have no "
    "name beside them. Ranks of single models were not released."
)
_CONDITIONS = {
    Condition.MULTIMODAL: "Best rank over the pool, each model given its instruction, the text and the reference.",
    Condition.TEXT_ONLY: "Best rank over the pool, the reference replaced by a black RGB image of the same size.",
    Condition.IMAGE_ONLY: "Best rank over the pool, without text and without instruction.",
}


class PoolRefused(Exception):  # noqa: N818 (a verdict)
    """The ranks cannot be stored as things are here; says what to do."""


@dataclass(frozen=True)
class Imported:
    """What an import did, or would do."""

    encoder: Encoder
    """Not saved where it was a dry run and nothing was imported before."""
    version: SplitVersion
    labelling: Labelling
    """By the pool alone, at the published K."""
    created: bool
    """False where the same ranks were there already."""


def import_pool(dataset: str, folders: Sequence[Path], *, dry_run: bool = False) -> Imported:
    """Store the pool's best ranks of one data set for the current version of its split.

    The same ranks again change nothing. Raises ImportRefused where the folders differ from what was published, and
    PoolRefused where the split is not there or has other ranks of the pool.
    """
    version = _current(dataset)
    member = read_pool(bundles.load(version), *folders)
    labelling = label([member], K)
    if dry_run:
        encoder = _known(Encoder.objects) or _described()
        return Imported(encoder, version, labelling, _check(encoder, version, member))
    with transaction.atomic():
        encoder, new = _ensure_encoder()
        created = _check(encoder, version, member)
        if created:
            _store(encoder, version, member)
        _ensure_pool(encoder, new)
    return Imported(encoder, version, labelling, created)


def _current(dataset: str) -> SplitVersion:
    slug = f"circus-{dataset}"
    version = SplitVersion.objects.select_related("split").filter(split__slug=slug, current=True).first()
    if version is None:
        raise PoolRefused(
            f"{slug} was not imported yet. Run this first, with the release's folder and that of the annotations: "
            f"manage.py import_circus --dataset {dataset} FOLDER..."
        )
    return version


def _described() -> Encoder:
    return Encoder(
        slug="circus-pool",
        name=NAME,
        family=Encoder.FROZEN,
        model=_MODEL,
        revision=COMMIT,
        conditions={str(condition): words for condition, words in _CONDITIONS.items()},
        training=_TRAINING,
        source_url=f"https://github.com/{_MODEL}/tree/{COMMIT}",
        models_in_it=MODELS,
    )


def _ensure_encoder() -> tuple[Encoder, bool]:
    """Return the pool's row, locked, and whether it is new."""
    known = _known(Encoder.objects.select_for_update())
    if known is not None:
        return known, False
    made = _described()
    made.save()
    return made, True


def _known(encoders: models.QuerySet[Encoder] | models.Manager[Encoder]) -> Encoder | None:
    """Return the pool's row where there is one. Raises PoolRefused where its name is another encoder's."""
    known = encoders.filter(name=NAME).first()
    if known is not None and not (known.is_frozen and known.revision == COMMIT):
        raise PoolRefused(f"{NAME} is the name of another encoder here: {known.model} at {known.revision}.")
    return known


def _check(encoder: Encoder, version: SplitVersion, member: Member) -> bool:
    """Return whether the ranks are new here. Raises PoolRefused where others are stored."""
    known = {} if encoder.pk is None else probes.stored(encoder, version)
    files = {probe.ranks for probe in known.values()}
    if any(not _same(load_frozen(Path(default_storage.path(name))), member) for name in files):
        raise PoolRefused(
            f"Other ranks of {NAME} are stored for {version}. Published ranks are never overwritten: labels were made "
            "from them. Compare your folder with the release before you do anything else."
        )
    return not known


def _store(encoder: Encoder, version: SplitVersion, member: Member) -> None:
    """Write one file, and a row for each condition that names it."""
    key = probes.key_of(version)
    name = f"audit/{encoder.slug}/{key[:16]}/best-ranks.npz"
    path = Path(default_storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    save_frozen(member, path)
    Probe.objects.bulk_create(
        Probe(
            encoder=encoder,
            version=version,
            condition=str(condition),
            ranks_key=key,
            ranks=name,
            recall=float(solved(member.ranks[condition], K).mean()),
        )
        for condition in Condition
    )


def _ensure_pool(encoder: Encoder, new: bool) -> None:
    """Put the encoder first in CIRCUS's pool when either is new; later a maintainer may have taken it out."""
    pool, made = Pool.objects.get_or_create(
        slug=POOL_SLUG,
        defaults={"name": NAME, "note": "CIRCUS's released best ranks and the models audited since."},
    )
    if not (made or new):
        return
    for one in PoolMember.objects.filter(pool=pool).order_by("-position"):
        PoolMember.objects.filter(pk=one.pk).update(position=F("position") + 1)
    PoolMember.objects.create(pool=pool, encoder=encoder, position=0)


def _same(one: Member, other: Member) -> bool:
    """Whether two frozen pools say the same of every query."""
    if one.frozen is None or other.frozen is None or one.name != other.name:
        return False
    return (
        (one.frozen.models, one.frozen.k, one.frozen.best) == (other.frozen.models, other.frozen.k, other.frozen.best)
        and np.array_equal(one.frozen.either, other.frozen.either)
        and all(
            np.array_equal(one.ranks[condition], other.ranks[condition])
            and np.array_equal(one.frozen.support[condition], other.frozen.support[condition])
            for condition in Condition
        )
    )
