"""Signing up, the team's name, and tokens that are shown once."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from web import page_reader
from web.web_makers import PASSWORD, entry, frozen, user

from accounts.models import ApiToken, Membership, Team, User
from accounts.services import personal_team, token_digest

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return user("ada@example.org", "Ada's laboratory")


@pytest.fixture
def browser(ada: User) -> Client:
    client = Client()
    assert client.login(email=ada.email, password=PASSWORD)
    return client


def test_signing_up_makes_a_team_of_one_that_says_nothing_of_the_address(client: Client) -> None:
    form = {"email": "new.person@example.org", "password1": PASSWORD, "password2": PASSWORD}
    answer = client.post("/account/signup/", form)
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/submissions/"
    team = Team.objects.get(personal_of__email="new.person@example.org")
    assert team.membership_set.get().role == Membership.Role.OWNER
    assert "person" not in team.name


@pytest.mark.parametrize("page", ["login", "signup", "password/reset"])
def test_allauth_pages_wear_the_sites_clothes(client: Client, page: str) -> None:
    tree = page_reader.read(client.get(f"/account/{page}/").content.decode())
    assert tree.first("a", "brand").text == "cirboard"
    assert all(field.all("label") for field in tree.all("div", "field"))


@pytest.mark.parametrize("page", ["email", "password/change", "logout", ""])
def test_pages_of_an_account_are_there(browser: Client, page: str) -> None:
    assert browser.get(f"/account/{page}/".replace("//", "/")).status_code == 200


def test_a_wrong_password_is_said_in_the_form(client: Client, ada: User) -> None:
    answer = client.post("/account/login/", {"login": ada.email, "password": "wrong"})
    assert page_reader.read(answer.content.decode()).first("p", "error").attributes["role"] == "alert"


def test_renaming_the_team_shows_on_the_board_at_once(browser: Client, client: Client, ada: User) -> None:
    """Public report A19."""
    entry(frozen("demo-circus", "circus-multi"), "m", {("Recall_any@10", "V"): 0.5}, team=personal_team(ada))
    assert browser.post("/account/team/", {"name": "  New   name "}).status_code == 302
    assert "New name" in client.get("/boards/demo-circus/").content.decode()


def test_another_teams_name_is_refused(browser: Client) -> None:
    user("bob@example.org", "Bob & sons")
    answer = browser.post("/account/team/", {"name": "bob & SONS"})
    assert answer.status_code == 422
    assert "Another team has this name." in answer.content.decode()


@pytest.mark.parametrize("name", ["\u202eflow", "Ada\u200bs laboratory", "a\x07", "a\x00"])
def test_a_name_that_hides_or_turns_characters_is_refused(browser: Client, ada: User, name: str) -> None:
    assert browser.post("/account/team/", {"name": name}).status_code == 422
    assert personal_team(ada).name == "Ada's laboratory"


def test_a_token_is_shown_once_works_and_can_be_revoked(browser: Client, ada: User) -> None:
    made = browser.post("/account/tokens/", {"name": "laptop"})
    key = page_reader.read(made.content.decode()).first("p", "key").text
    assert re.fullmatch(r"cirb_[\w-]{43}", key)
    assert "no-store" in made.headers["Cache-Control"]
    token = ApiToken.objects.get()
    assert token.digest == token_digest(key) != key
    page = browser.get("/account/").content.decode()
    assert key not in page
    assert token.hint in page

    bearer = {"authorization": f"Bearer {key}"}
    assert Client().get("/api/v1/submissions/", headers=bearer).status_code == 200
    assert browser.post(f"/account/tokens/{token.pk}/revoke/").status_code == 302
    assert Client().get("/api/v1/submissions/", headers=bearer).status_code == 401
    assert not ApiToken.objects.exists()


def test_somebody_elses_token_does_not_exist(browser: Client) -> None:
    other = user("bob@example.org")
    token = ApiToken.objects.create(user=other, name="theirs", digest="0" * 64, hint="cirb_0")
    assert browser.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert "theirs" not in browser.get("/account/").content.decode()
    assert ApiToken.objects.exists()


@pytest.mark.parametrize("address", ["/account/team/", "/account/tokens/", "/account/tokens/1/revoke/"])
def test_writes_are_posts_with_the_forms_token(ada: User, address: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.login(email=ada.email, password=PASSWORD)
    assert strict.get(address).status_code == 405
    refused = strict.post(address, {"name": "x"})
    assert refused.status_code == 403
    assert "too old to be trusted" in refused.content.decode()
    assert Client().post(address).headers["Location"].startswith("/account/login/")
