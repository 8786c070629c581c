"""The account page: the team's name, and tokens for the API."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.forms import TeamForm, TokenForm
from accounts.models import ApiToken, User
from accounts.selectors import account_page
from accounts.services import make_token


@login_required
@require_safe
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """Show a person's account."""
    return _page(request)


@login_required
@require_POST
def rename_team(request: HttpRequest) -> HttpResponse:
    """Change the name that boards show."""
    team = account_page(_user(request)).team
    form = TeamForm(request.POST, instance=team, auto_id="team-%s")
    if not form.is_valid():
        return _page(request, team_form=form, status=422)
    form.save()
    messages.success(request, "Your team's name is changed, on every board at once.")
    return redirect("accounts:home")


@login_required
@require_POST
@never_cache
def new_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show its key: the only time it can be read."""
    form = TokenForm(request.POST, auto_id="token-%s")
    if not form.is_valid():
        return _page(request, token_form=form, status=422)
    token, key = make_token(_user(request), form.cleaned_data["name"])
    return render(request, "accounts/token.html", {"token": token, "key": key})


@login_required
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a token useless at once. Somebody else's token does not exist."""
    token = get_object_or_404(ApiToken, pk=pk, user=_user(request))
    token.delete()
    messages.success(request, f"The token “{token.name}” is revoked.")
    return redirect("accounts:home")


def _page(
    request: HttpRequest, *, team_form: TeamForm | None = None, token_form: TokenForm | None = None, status: int = 200
) -> HttpResponse:
    page = account_page(_user(request))
    context = {
        "page": page,
        "team_form": team_form or TeamForm(instance=page.team, auto_id="team-%s"),
        "token_form": token_form or TokenForm(auto_id="token-%s"),
    }
    return render(request, "accounts/home.html", context, status=status)


def _user(request: HttpRequest) -> User:
    return cast("User", request.user)
