"""An entry at its permanent address, and its single queries."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.rank_counts import SOLVED_AT
from leaderboard.models import Entry
from leaderboard.selectors.entry import entry_page, visible_entry
from leaderboard.selectors.queries import QueryList, query_list


@csp_update({"style-src": ["'self'", "'unsafe-inline'"]})  # type: ignore[arg-type]  # Plotly styles its figure
@require_safe
def entry(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show an entry at its permanent address. A private one does not exist for others (decision 31)."""
    found = entry_or_404(request, public_id)
    return render(request, "leaderboard/entry.html", {"page": entry_page(found, request.GET.get("subset", ""))})


@require_safe
def entry_queries(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show where the first right image of each query stands."""
    found, queries = _queries(request, public_id)
    asked = urlencode({"subset": queries.subset, "solved": queries.solved})
    rows = queries.page(request.GET.get("page", ""))
    context = {"entry": found, "list": queries, "rows": rows, "asked": asked, "k": SOLVED_AT}
    return render(request, "leaderboard/queries.html", context)


@require_safe
def entry_queries_csv(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Hand out the same rows, all of them, as CSV."""
    _, queries = _queries(request, public_id)
    name = f"queries-{public_id}.csv"
    return HttpResponse(
        queries.csv(), "text/csv; charset=utf-8", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def entry_or_404(request: HttpRequest, public_id: UUID) -> Entry:
    """Return an entry that the person may see, or raise Http404."""
    try:
        return visible_entry(request.user, public_id)
    except Entry.DoesNotExist:
        raise Http404("There is no such entry.") from None


def _queries(request: HttpRequest, public_id: UUID) -> tuple[Entry, QueryList]:
    found = entry_or_404(request, public_id)
    try:
        return found, query_list(found, request.GET.get("subset", ""), request.GET.get("solved", ""))
    except Entry.DoesNotExist:
        raise Http404("There is no such list.") from None
