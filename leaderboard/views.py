"""The public pages: fetch through a selector, render."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from csp.decorators import csp_update
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.rank_counts import SOLVED_AT
from leaderboard.kits import kit_of
from leaderboard.models import Entry, Split
from leaderboard.selectors import board_query
from leaderboard.selectors.about import about_page, reference_rule
from leaderboard.selectors.board import board_page
from leaderboard.selectors.documents import document
from leaderboard.selectors.entry import entry_page, visible_entry
from leaderboard.selectors.home import home_page
from leaderboard.selectors.ordering import Board, load_board
from leaderboard.selectors.queries import QueryList, query_list


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, and every board."""
    return render(request, "leaderboard/home.html", {"sections": home_page()})


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a board; its whole state is in the address."""
    found = board_or_404(slug)
    page = board_page(found, board_query.read(request.GET.dict()))
    return render(request, "leaderboard/board.html", {"page": page, "reference_rule": reference_rule(found.protocol)})


@require_safe
def about(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a split's rules, sizes and versions."""
    return render(request, "leaderboard/about.html", {"page": about_page(board_or_404(slug))})


@require_safe
def kit(request: HttpRequest, slug: str) -> FileResponse:
    """Hand out a split's kit (decision 35)."""
    version = board_or_404(slug).version
    if version is None:
        raise Http404("This board has no split of its own to download.")
    name = f"{slug}-v{version.number}-kit.zip"
    return FileResponse(default_storage.open(kit_of(version)), as_attachment=True, filename=name)


@csp_update({"style-src": ["'self'", "'unsafe-inline'"]})  # type: ignore[arg-type]  # Plotly styles its figure
@require_safe
def entry(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show an entry at its permanent address. A private one does not exist for others (decision 31)."""
    try:
        found = visible_entry(request.user, public_id)
    except Entry.DoesNotExist:
        raise Http404("There is no such entry.") from None
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


def _queries(request: HttpRequest, public_id: UUID) -> tuple[Entry, QueryList]:
    try:
        found = visible_entry(request.user, public_id)
        return found, query_list(found, request.GET.get("subset", ""), request.GET.get("solved", ""))
    except Entry.DoesNotExist:
        raise Http404("There is no such list.") from None


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show one of the project's own documents."""
    return render(request, "leaderboard/help.html", {"document": document(name), "name": name})


def board_or_404(slug: str) -> Board:
    """Return a board or raise Http404."""
    try:
        return load_board(slug)
    except Split.DoesNotExist:
        raise Http404("There is no such board.") from None
