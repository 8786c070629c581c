"""The audit's public pages: fetch through a selector, render."""

from __future__ import annotations

import hashlib
import json
from urllib.parse import urlencode

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from audit import exports
from audit.models import AuditVersion, Encoder, Job
from audit.selectors.encoders import encoder_page, job_standing
from audit.selectors.flow import HEADS as FLOW_HEADS
from audit.selectors.flow import FlowPage, NotComparable, flow_page
from audit.selectors.labels import HEADS as LABEL_HEADS
from audit.selectors.labels import LabelList, label_list
from audit.selectors.report import find_audit, index_page, report_page, table_of, versions_of
from leaderboard.models import Split

_PLOTLY_STYLES = {"style-src": ["'self'", "'unsafe-inline'"]}


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Show every split with its newest audit, and what is running."""
    return render(request, "audit/index.html", {"page": index_page()})


@require_safe
def split(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the audits of a split, newest first."""
    try:
        versions = versions_of(slug)
        board = Split.objects.select_related("benchmark").get(slug=slug)
    except Split.DoesNotExist:
        raise Http404("There is no such split.") from None
    asked = (request.GET.get("from", ""), request.GET.get("to", ""))
    if all(number.isascii() and number.isdecimal() for number in asked):
        return redirect("audit:flow", slug, *map(int, asked))
    return render(request, "audit/split.html", {"split": board, "versions": versions})


@csp_update(_PLOTLY_STYLES)  # type: ignore[arg-type]  # Plotly styles its figure
@require_safe
def report(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the report of an audit version."""
    return render(request, "audit/report.html", {"page": report_page(audit_or_404(slug, number))})


@require_safe
def table_csv(request: HttpRequest, slug: str, number: int, key: str) -> HttpResponse:
    """Hand out one table of a report as CSV, at full precision."""
    try:
        table = table_of(audit_or_404(slug, number), key)
    except KeyError:
        raise Http404("This report has no such table.") from None
    text = exports.written([column["key"] for column in table["columns"]], table["rows"])
    return _csv(text, f"audit-{slug}-{number}-{key}.csv")


@require_safe
def queries(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Show the labels of an audit version, query by query."""
    found = _labels(request, slug, number)
    return render(request, "audit/queries.html", {"list": found, "rows": found.page(request.GET.get("page", ""))})


@require_safe
def queries_csv(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Hand out the same labels, all of them, as CSV."""
    text = exports.written(LABEL_HEADS, _labels(request, slug, number).rows())
    return _csv(text, f"audit-{slug}-{number}-queries.csv")


@csp_update(_PLOTLY_STYLES)  # type: ignore[arg-type]  # Plotly styles its figure
@require_safe
def flow(request: HttpRequest, slug: str, first: int, second: int) -> HttpResponse:
    """Show which queries moved between two versions, and because of which model."""
    before, after = audit_or_404(slug, first), audit_or_404(slug, second)
    try:
        page = flow_page(before, after)
    except NotComparable as error:
        context = {"before": before, "after": after, "reason": str(error)}
        return render(request, "audit/not_comparable.html", context, status=409)
    asked = {"before": request.GET.get("before", ""), "after": request.GET.get("after", "")}
    rows = page.page(request.GET.get("page", ""), **asked)
    return render(request, "audit/flow.html", {"page": page, "rows": rows, "chosen": asked, "asked": urlencode(asked)})


@require_safe
def flow_csv(request: HttpRequest, slug: str, first: int, second: int) -> HttpResponse:
    """Hand out every moved query as CSV."""
    found = flow_or_404(slug, first, second)
    text = exports.written(FLOW_HEADS, (query.row() for query in found.moved))
    return _csv(text, f"audit-{slug}-{first}-to-{second}.csv")


@require_safe
def encoders(request: HttpRequest) -> HttpResponse:
    """Show every registered encoder."""
    return render(request, "audit/encoders.html", {"encoders": Encoder.objects.all()})


@require_safe
def encoder(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the card of an encoder."""
    try:
        return render(request, "audit/encoder.html", {"page": encoder_page(slug)})
    except Encoder.DoesNotExist:
        raise Http404("There is no such encoder.") from None


@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """Show where a job stands; the page follows it."""
    try:
        return render(request, "audit/job.html", {"standing": job_standing(pk)})
    except Job.DoesNotExist:
        raise Http404("There is no such job.") from None


@require_safe
def job_state(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Answer the live script: a fingerprint of the page and the progress, or 304."""
    try:
        body = json.dumps(job_standing(pk).state()).encode()
    except Job.DoesNotExist:
        raise Http404("There is no such job.") from None
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    response = HttpResponse(body, content_type="application/json", headers=headers)
    return get_conditional_response(request, etag=etag, response=response) or response


def audit_or_404(slug: str, number: int) -> AuditVersion:
    """Return an audit version or raise Http404."""
    try:
        return find_audit(slug, number)
    except AuditVersion.DoesNotExist:
        raise Http404("There is no such audit.") from None


def flow_or_404(slug: str, first: int, second: int) -> FlowPage:
    """Return what moved between two versions or raise Http404."""
    try:
        return flow_page(audit_or_404(slug, first), audit_or_404(slug, second))
    except NotComparable as error:
        raise Http404(str(error)) from None


def _labels(request: HttpRequest, slug: str, number: int) -> LabelList:
    return label_list(audit_or_404(slug, number), request.GET.get("label", ""), request.GET.get("model", ""))


def _csv(text: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, "text/csv; charset=utf-8", headers=headers)
