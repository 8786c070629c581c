"""Reads for the account page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import ApiToken, Team, User
from accounts.services import personal_team


@dataclass(frozen=True)
class AccountPage:
    """What the account page shows of a person."""

    team: Team
    tokens: Sequence[ApiToken]


def account_page(user: User) -> AccountPage:
    """Return a person's own team and tokens, newest token first."""
    return AccountPage(personal_team(user), list(user.api_tokens.order_by("-created_at", "-pk")))
