"""Pool and split → an audit version with its labels and report; and back to the labelling it is (decision 40)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.db import transaction

import demo
from audit.models import AuditVersion, Encoder, Label, Pool
from audit.services import pools, probes
from evaluator.audit.labels import KINDS, LABELS, K, Labelling, label
from evaluator.audit.report import report
from evaluator.types import Condition, Split
from leaderboard import bundles
from leaderboard.models import Query, SplitVersion
from leaderboard.models import Split as Board

BATCH = 2_000


class AuditRefused(Exception):  # noqa: N818 (a verdict)
    """No audit can be made of what was asked for; says why and what to do."""


def make_version(
    pool: Pool, version: SplitVersion, *, k: int = K, author: Any = None, note: str = ""
) -> tuple[AuditVersion, bool]:
    """Label a split by a pool's stored probes. Returns the audit version, and whether it is new.

    Nothing is run: a model that has no probes on this split is named by ProbesMissing. The same members, K and labels
    on the same version of the split are the same audit.
    """
    encoders = pools.encoders_of(pool)
    if not encoders:
        raise AuditRefused(f"The pool {pool.name} has no member: add one first.")
    if version.split.hidden_truth:
        raise AuditRefused(f"The truth of {version.split.name} is hidden: nobody can rank its targets here.")
    split = bundles.load(version)
    labelling = label([probes.member(encoder, version) for encoder in encoders], k)
    members = [_as_row(encoder) for encoder in encoders]
    digest = _digest(labelling, members)
    known = AuditVersion.objects.filter(version=version, pool=pool, digest=digest).first()
    if known is not None:
        return known, False
    judged = {encoder.name: probes.judged(encoder, version) for encoder in encoders if not encoder.is_frozen}
    tables = report(split, labelling, judged, planted_of(split))
    with transaction.atomic():
        board = Board.objects.select_for_update().get(pk=version.split_id)
        newest = AuditVersion.objects.filter(split=board).order_by("-number").first()
        made = AuditVersion.objects.create(
            split=board,
            version=version,
            number=newest.number + 1 if newest else 1,
            pool=pool,
            k=k,
            members=members,
            split_digest=version.digest,
            ranks_key=probes.key_of(version),
            digest=digest,
            report=tables,
            author=author,
            note=note,
        )
        _create_labels(made, labelling)
    return made, True


@lru_cache(maxsize=8)
def _labelling(pk: int, digest: str) -> Labelling:
    audit = AuditVersion.objects.select_related("version__split").get(pk=pk)
    known = {encoder.slug: encoder for encoder in Encoder.objects.filter(slug__in=_slugs(audit))}
    return label([probes.member(known[slug], audit.version) for slug in _slugs(audit)], audit.k)


def labelling_of(audit: AuditVersion) -> Labelling:
    """Return the labelling that an audit version is, from the probes of the members it had. Cached: both are frozen."""
    return _labelling(audit.pk, audit.digest)


def planted_of(split: Split) -> Mapping[str, str] | None:
    """Return query id → the label it was built for, for the demo's split; None for real ones."""
    if split.name != demo.circus_split().name:
        return None
    planted = {query: str(name) for query, name in demo.planted_labels().items()}
    return planted if set(planted) == set(split.query_ids) else None


def _slugs(audit: AuditVersion) -> list[str]:
    return [row["encoder"] for row in audit.members]


def _as_row(encoder: Encoder) -> dict[str, Any]:
    return {
        "encoder": encoder.slug,
        "name": encoder.name,
        "model": encoder.model,
        "revision": encoder.revision,
        "models": encoder.models_in_it,
    }


def _digest(labelling: Labelling, members: list[dict[str, Any]]) -> str:
    whole = hashlib.sha256(json.dumps([members, labelling.k], sort_keys=True).encode())
    for array in (labelling.label, labelling.kind, *(labelling.rank[condition] for condition in Condition)):
        whole.update(array.astype("<i4").tobytes())
    return whole.hexdigest()


def _create_labels(audit: AuditVersion, labelling: Labelling) -> None:
    queries = Query.objects.filter(version=audit.version).order_by("position").values_list("pk", flat=True)
    Label.objects.bulk_create(
        (_label(audit, pk, labelling, number) for number, pk in enumerate(queries)), batch_size=BATCH
    )


def _label(audit: AuditVersion, query: int, labelling: Labelling, number: int) -> Label:
    kind = int(labelling.kind[number])
    both, text, image = Condition.MULTIMODAL, Condition.TEXT_ONLY, Condition.IMAGE_ONLY
    return Label(
        audit=audit,
        query_id=query,
        label=str(LABELS[labelling.label[number]]),
        kind=str(KINDS[kind]) if kind >= 0 else "",
        multimodal_rank=int(labelling.rank[both][number]),
        text_rank=int(labelling.rank[text][number]),
        image_rank=int(labelling.rank[image][number]),
        multimodal_best=labelling.best_name(both, number),
        text_best=labelling.best_name(text, number),
        image_best=labelling.best_name(image, number),
        multimodal_support=int(labelling.support[both][number]),
        text_support=int(labelling.support[text][number]),
        image_support=int(labelling.support[image][number]),
        either_support=int(labelling.either[number]),
    )
