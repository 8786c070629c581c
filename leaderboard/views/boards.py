"""A board, its rules, its kit."""

from __future__ import annotations

from datetime import date

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.kits import kit_of
from leaderboard.models import Split
from leaderboard.selectors import board_query
from leaderboard.selectors.about import about_page, reference_rule
from leaderboard.selectors.board import board_page
from leaderboard.selectors.ordering import Board, load_board


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a board; its whole state is in the address."""
    query = board_query.read(request.GET)
    found = board_or_404(slug, query.as_of)
    page = board_page(found, query)
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


def board_or_404(slug: str, as_of: date | None = None) -> Board:
    """Return a board, as it stands or as of a day, or raise Http404."""
    try:
        return load_board(slug, as_of)
    except Split.DoesNotExist:
        raise Http404("There is no such board.") from None
