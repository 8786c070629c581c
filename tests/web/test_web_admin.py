"""The admin: every page of it opens, and it writes only what services do not."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from web.web_makers import PASSWORD, frozen, user

from accounts.models import ApiToken, User
from accounts.services import make_token, personal_team
from leaderboard.models import Method

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Client:
    made = user("boss@example.org", is_staff=True, is_superuser=True)
    make_token(made, "test")
    frozen("demo-circus", "circus-multi")
    client = Client()
    assert client.login(email=made.email, password=PASSWORD)
    return client


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=str), ids=lambda model: model.__name__)
def test_every_list_opens_and_searches(boss: Client, model: Any) -> None:
    address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    for query in ("", "?q=00000000-0000-4000-8000-000000000000", "?q=E-1234", "?q=%00"):
        assert boss.get(address + query).status_code in (200, 302), query
    row = model._default_manager.first()
    assert row is None or boss.get(f"{address}{row.pk}/change/").status_code == 200
    assert boss.get(f"{address}add/").status_code in (200, 403)


def test_no_token_is_made_here(boss: Client) -> None:
    """A key is shown once, on its owner's page; this form had no fields and ended in an error of ours."""
    assert boss.post("/admin/accounts/apitoken/add/", {}).status_code == 403
    assert ApiToken.objects.count() == 1


def test_a_method_is_not_renamed_to_its_sister(boss: Client) -> None:
    team = personal_team(User.objects.get())
    one, two = (Method.objects.create(team=team, name=name, slug=name) for name in ("one", "two"))
    answer = boss.post(f"/admin/leaderboard/method/{two.pk}/change/", {"name": one.name})
    assert answer.status_code == 200
    two.refresh_from_db()
    assert two.name == "two"
