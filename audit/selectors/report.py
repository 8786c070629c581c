"""Audit versions and their pages: which there are, and one report with tables, figures and what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from audit import instructions
from audit.figures import figures_of
from audit.models import AuditVersion, Encoder, Job
from audit.selectors.published import Published, notes, published
from evaluator.audit.labels import LABELS, Label
from leaderboard.models import Split

_NUMERIC = ("queries", "share", "number", "models", "rank")
_NOT_SHOWN = ("points",)
"""Tables of a row a query: their page is the list of queries."""


@dataclass(frozen=True)
class CellView:
    """A cell as it is read; ``reason`` where there is no number in a column of numbers."""

    text: str
    number: bool
    reason: bool


@dataclass(frozen=True)
class HeadView:
    """The head of a column."""

    text: str
    number: bool


@dataclass(frozen=True)
class TableView:
    """A table of a report as its page prints it."""

    key: str
    title: str
    note: str
    heads: tuple[HeadView, ...]
    rows: tuple[tuple[CellView, ...], ...]
    figures: tuple[tuple[str, dict[str, Any]], ...]
    """(id in the page, what ``figure.js`` draws)"""
    shown: bool


@dataclass(frozen=True)
class MemberView:
    """A member of the pool, as it was; ``encoder`` is None where it is no longer registered."""

    row: Mapping[str, Any]
    encoder: Encoder | None


@dataclass(frozen=True)
class ReportPage:
    """Everything the page of an audit version prints."""

    audit: AuditVersion
    members: tuple[MemberView, ...]
    models: int
    instruction: instructions.Instruction
    tables: tuple[TableView, ...]
    published: Published | None
    notes: tuple[str, ...]
    others: tuple[AuditVersion, ...]
    """All versions of this split's audit, newest first, without reports."""

    @property
    def before(self) -> AuditVersion | None:
        """The version before this one."""
        older = [other for other in self.others if other.number < self.audit.number]
        return older[0] if older else None


@dataclass(frozen=True)
class SplitLine:
    """One split on the first page of audits: its newest audit, None where there is none yet."""

    split: Split
    audit: AuditVersion | None
    versions: int
    counts: Mapping[str, int]

    @property
    def labels(self) -> tuple[tuple[str, int], ...]:
        """(label, queries) in the order of the labels."""
        return tuple((str(label), self.counts.get(str(label), 0)) for label in LABELS)


@dataclass(frozen=True)
class IndexPage:
    """All splits that can be audited, and the jobs under way."""

    lines: tuple[SplitLine, ...]
    jobs: tuple[Job, ...]


def public_audits() -> QuerySet[AuditVersion]:
    """Return the audit versions that anybody may see; none of a split whose truth is hidden."""
    return AuditVersion.objects.filter(split__hidden_truth=False).select_related("split__benchmark", "version", "pool")


def listed_audits() -> QuerySet[AuditVersion]:
    """Return the same without their reports, but with the ``counts`` that these hold."""
    return public_audits().defer("report").annotate(counts=KeyTransform("counts", "report"))


def index_page() -> IndexPage:
    """Return the first page of audits in a fixed number of queries."""
    found: dict[int, list[AuditVersion]] = {}
    for audit in listed_audits().order_by("split__benchmark__position", "split__position", "-number"):
        found.setdefault(audit.split_id, []).append(audit)
    splits = Split.objects.filter(hidden_truth=False, versions__current=True).select_related("benchmark")
    ordered = splits.order_by("benchmark__position", "benchmark__slug", "position", "slug")
    lines = tuple(_line(split, found.get(split.pk, [])) for split in ordered)
    return IndexPage(lines, tuple(jobs_shown().filter(state__in=Job.WAITING)[:50]))


def jobs_shown() -> QuerySet[Job]:
    """Return the jobs of splits whose truth is not hidden, newest first."""
    return Job.objects.filter(version__split__hidden_truth=False).select_related("encoder", "version__split")


def versions_of(slug: str) -> tuple[AuditVersion, ...]:
    """Return a split's audit versions, newest first, without reports. Raises Split.DoesNotExist."""
    split = Split.objects.get(slug=slug, hidden_truth=False)
    counted = KeyTransform(str(Label.COMPOSITION_REQUIRED), KeyTransform("counts", "report"))
    return tuple(listed_audits().annotate(composition=counted).filter(split=split).order_by("-number"))


def find_audit(slug: str, number: int) -> AuditVersion:
    """Return one audit version with its report. Raises AuditVersion.DoesNotExist."""
    return public_audits().select_related("author", "frozen").get(split__slug=slug, number=number)


def table_of(audit: AuditVersion, key: str) -> Mapping[str, Any]:
    """Return one table of a report. Raises KeyError."""
    tables: dict[str, Mapping[str, Any]] = {table["key"]: table for table in audit.report.get("tables", ())}
    return tables[key]


def report_page(audit: AuditVersion) -> ReportPage:
    """Return the page of an audit version in a fixed number of queries."""
    known = {
        encoder.slug: encoder for encoder in Encoder.objects.filter(slug__in=[m["encoder"] for m in audit.members])
    }
    return ReportPage(
        audit=audit,
        members=tuple(MemberView(row, known.get(row["encoder"])) for row in audit.members),
        models=sum(row.get("models", 1) for row in audit.members),
        instruction=instructions.of(audit.split.slug),
        tables=tuple(_view(table, audit.k) for table in audit.report.get("tables", ())),
        published=published(audit.split.slug),
        notes=notes(audit.split.slug, audit.members),
        others=versions_of(audit.split.slug),
    )


def _line(split: Split, audits: list[AuditVersion]) -> SplitLine:
    newest = audits[0] if audits else None
    return SplitLine(split, newest, len(audits), getattr(newest, "counts", None) or {})


def _view(table: Mapping[str, Any], k: int) -> TableView:
    units = [column["unit"] for column in table["columns"]]
    shown = table["key"] not in _NOT_SHOWN
    rows = table["rows"] if shown else ()
    return TableView(
        key=table["key"],
        title=table["title"],
        note=table["note"],
        heads=tuple(_head(column) for column in table["columns"]),
        rows=tuple(tuple(_cell(cell, unit) for cell, unit in zip(row, units, strict=True)) for row in rows),
        figures=tuple(
            (f"figure-{table['key']}-{number}", figure | {"untitled": figure["title"] == table["title"]})
            for number, figure in enumerate(figures_of(table, k), start=1)
        ),
        shown=shown,
    )


def _head(column: Mapping[str, Any]) -> HeadView:
    title = f"{column['title']}, %" if column["unit"] == "share" else column["title"]
    return HeadView(title, column["unit"] in _NUMERIC)


def _cell(cell: Any, unit: str) -> CellView:
    if cell is None:
        return CellView("–", unit in _NUMERIC, reason=False)
    if isinstance(cell, str) or unit not in _NUMERIC:
        return CellView(str(cell), unit in _NUMERIC, reason=unit in _NUMERIC)
    if unit == "share":
        return CellView(f"{100 * cell:.2f}", number=True, reason=False)
    if unit == "number":
        return CellView(f"{cell:,.3f}", number=True, reason=False)
    return CellView(f"{cell:,}", number=True, reason=False)
