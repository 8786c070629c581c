"""The first page, and the project's own documents."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.selectors.documents import document
from leaderboard.selectors.home import home_page


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what this is, and every board."""
    return render(request, "leaderboard/home.html", {"sections": home_page()})


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show one of the project's own documents."""
    return render(request, "leaderboard/help.html", {"document": document(name), "name": name})
