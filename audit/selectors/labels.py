"""The labels of an audit version, query by query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from audit.models import AuditVersion, Label
from evaluator.audit.labels import KINDS, LABELS

ROWS = 100
HEADS = (
    *("query", "text", "label", "kind"),
    *(f"{condition}_{what}" for condition in ("multimodal", "text", "image") for what in ("rank", "best", "support")),
    "either_support",
)
_CHOICES = {
    **{f"shortcut-{kind}": (f"shortcut ({kind})", Q(label="shortcut", kind=str(kind))) for kind in KINDS},
    **{str(label): (str(label), Q(label=str(label))) for label in LABELS},
    "shortcut-free": ("SF: no shortcut", ~Q(label="shortcut")),
}


@dataclass(frozen=True)
class LabelList:
    """The labels that were asked for, in the order of the split. ``label`` and ``model`` are empty for all."""

    audit: AuditVersion
    found: QuerySet[Label]
    label: str
    model: str
    models: tuple[str, ...]

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        """What to filter by: name and words."""
        return tuple((name, words) for name, (words, _) in _CHOICES.items())

    @property
    def asked(self) -> str:
        """The filters as part of an address."""
        return urlencode({"label": self.label, "model": self.model})

    def page(self, number: str) -> Page[Label]:
        """Return one page; a number that makes no sense is the nearest that does."""
        return Paginator(self.found, ROWS).get_page(number)

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Yield every label as a row under :data:`HEADS`."""
        for each in self.found.iterator(chunk_size=2_000):
            yield (
                *(each.query.native_id, each.query.text, each.label, each.kind),
                *(each.multimodal_rank or None, each.multimodal_best, each.multimodal_support),
                *(each.text_rank or None, each.text_best, each.text_support),
                *(each.image_rank or None, each.image_best, each.image_support),
                each.either_support,
            )


def label_list(audit: AuditVersion, label: str = "", model: str = "") -> LabelList:
    """Return an audit's labels, of one class and with one model as the best in any condition, where asked for."""
    found = Label.objects.filter(audit=audit).select_related("query").order_by("query__position")
    models = _models(audit)
    label, model = label if label in _CHOICES else "", model if model in models else ""
    if label:
        found = found.filter(_CHOICES[label][1])
    if model:
        found = found.filter(Q(multimodal_best=model) | Q(text_best=model) | Q(image_best=model))
    return LabelList(audit, found, label, model, models)


def _models(audit: AuditVersion) -> tuple[str, ...]:
    """Return the models that are the best of any query, by name; a frozen pool names its own."""
    rows = Label.objects.filter(audit=audit).order_by()
    names = (
        rows.values_list(f"{condition}_best", flat=True).distinct() for condition in ("multimodal", "text", "image")
    )
    return tuple(sorted({name for found in names for name in found if name}))
