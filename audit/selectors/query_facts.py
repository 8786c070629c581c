"""What the newest audit of a split says of its queries, for the pages of the layers below (``query_hooks``)."""

from __future__ import annotations

from functools import lru_cache

from django.urls import reverse

from audit import instructions
from audit.models import AuditVersion, Label
from evaluator.audit.labels import KINDS, LABELS
from leaderboard.models import SplitVersion
from leaderboard.query_hooks import QueryClasses, QueryFacts

_SHORTCUT = str(LABELS[0])
_CONDITIONS = (("multimodal", "Multimodal"), ("text", "Text only"), ("image", "Image only"))
_CHOICES = {
    **{f"{_SHORTCUT}-{kind}": f"shortcut ({kind})" for kind in KINDS},
    **{str(label): str(label) for label in LABELS[1:]},
}


def facts(version: SplitVersion, query: str) -> QueryFacts | None:
    """Return the newest audit's label of a query: kind, best ranks, the models that reached them, support."""
    audit = _newest(version)
    label = audit and Label.objects.filter(audit=audit, query__native_id=query).first()
    if not audit or not label:
        return None
    prefix = instructions.of(version.split.slug)
    kind = f" ({label.kind})" if label.kind else ""
    either = f"{label.either_support} of {_models(audit)} models from one modality alone"
    said = [("Label", f"{label.label}{kind}"), ("Solved by", either), ("Pool", f"{audit.pool.name}, K = {audit.k}")]
    if audit.version_id != version.pk:
        said.append(("Made on", f"version {audit.version.number} of the split"))
    said.append(("Instruction before the text", prefix.text or f"none. {prefix.source}"))
    return QueryFacts(
        title=f"Audit {audit.number}",
        address=reverse("audit:report", args=[version.split.slug, audit.number]),
        facts=tuple(said),
        heads=("Condition", "Best rank", "by", f"Models with a right image among {audit.k}"),
        rows=tuple(_row(label, name, words) for name, words in _CONDITIONS),
    )


def classes(version: SplitVersion) -> QueryClasses | None:
    """Return the newest audit's label of every query."""
    audit = _newest(version)
    if audit is None:
        return None
    return QueryClasses(f"Label in audit {audit.number}", _CHOICES, _labels(audit.pk, audit.digest))


def _newest(version: SplitVersion) -> AuditVersion | None:
    audits = AuditVersion.objects.filter(split=version.split_id).select_related("pool", "version").defer("report")
    return audits.order_by("-number").first()


@lru_cache(maxsize=4)
def _labels(audit: int, digest: str) -> dict[str, str]:
    """Return native id -> key. An audit version never changes; the digest is for a database that was made anew."""
    rows = Label.objects.filter(audit=audit).values_list("query__native_id", "label", "kind")
    return {query: f"{label}-{kind}" if kind else label for query, label, kind in rows}


def _models(audit: AuditVersion) -> int:
    return sum(member.get("models", 1) for member in audit.members)


def _row(label: Label, condition: str, words: str) -> tuple[str, ...]:
    rank, best, support = (getattr(label, f"{condition}_{part}") for part in ("rank", "best", "support"))
    return words, f"{rank:,}" if rank else "not ranked", best or ("unnamed" if rank else "–"), str(support)
