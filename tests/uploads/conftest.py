"""People with tokens, and a real server for their uploads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # beside the app of the same name, the folder cannot be a package

from tus_client import Server, Tus, serving


@pytest.fixture
def server(transactional_db: None) -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def person(db: None) -> Callable[[str], str]:
    """Return what makes a person and returns a token of theirs."""
    from accounts.models import User
    from accounts.services import make_token, personal_team

    def make(name: str) -> str:
        user = User.objects.create_user(f"{name}@example.org", "a long enough password")
        personal_team(user)
        return make_token(user, "test")[1]

    return make


@pytest.fixture
def tus(server: Server, person: Callable[[str], str]) -> Tus:
    return Tus(server, person("ada"))
