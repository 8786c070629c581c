"""What sign-up does beyond allauth: give the new user a team of one."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from accounts.models import User
from accounts.services import personal_team


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """allauth's adapter with this site's one addition."""

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        saved: User = super().save_user(request, user, form, commit)
        if commit:
            personal_team(saved)
        return saved
