"""Public report A23: for everyone else a private submission and its entry do not exist, and count nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from sending import ranking, upload, work
from web.web_makers import DECLARED, PASSWORD, frozen, user

from demo.tiny import tiny_split
from leaderboard.models import Entry
from submissions.models import Submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> dict[str, Client]:
    """Four browsers: nobody's, another team's, the owner's, a maintainer's. The owner has one private scored entry."""
    frozen("demo-circus", "circus-multi")
    clients = {"nobody": Client()}
    for name, rights in (("other", {}), ("owner", {}), ("maintainer", {"is_staff": True})):
        made = user(f"{name}@example.org", **rights)
        clients[name] = Client()
        assert clients[name].login(email=made.email, password=PASSWORD)
    form = {**DECLARED, "method": "Secret plan", "multimodal": upload(ranking(tiny_split("circus-multi")))}
    assert clients["owner"].post("/submit/demo-circus/", form).status_code == 302
    work()
    return clients


READS = {
    "/entries/{entry}/": (404, 404, 200, 200),
    "/api/v1/entries/{entry}/": (404, 404, 200, 200),
    "/submissions/{submission}/": (302, 404, 200, 200),
    "/submissions/{submission}/state/": (302, 404, 200, 200),
    "/api/v1/submissions/{submission}/": (403, 404, 200, 200),
}
WRITES = {f"/submissions/{{submission}}/{verb}/": (302, 404, 302, 403) for verb in ("publish", "withdraw")}


def address(pattern: str) -> str:
    return pattern.format(entry=Entry.objects.get().public_id, submission=Submission.objects.get().public_id)


@pytest.mark.parametrize("pattern", READS)
def test_reading(people: dict[str, Client], pattern: str) -> None:
    codes = tuple(people[name].get(address(pattern)).status_code for name in ("nobody", "other", "owner", "maintainer"))
    if pattern.startswith("/api/v1/submissions"):
        assert codes[0] in (401, 403)
        codes = (READS[pattern][0], *codes[1:])
    assert codes == READS[pattern]


@pytest.mark.parametrize("pattern", WRITES)
def test_writing(people: dict[str, Client], pattern: str) -> None:
    for name, expected in zip(("nobody", "other", "maintainer", "owner"), (302, 404, 403, 302), strict=True):
        assert people[name].post(address(pattern)).status_code == expected
        if name != "owner":
            assert not Entry.objects.filter(published_at__isnull=False).exists()
    assert people["owner"].get(address(pattern)).status_code == 405


@pytest.mark.parametrize(
    "page",
    ["/", "/boards/demo-circus/", "/boards/demo-circus/about/", "/api/v1/boards/", "/api/v1/boards/demo-circus/"],
)
def test_it_is_named_and_counted_nowhere(people: dict[str, Client], page: str) -> None:
    def seen(client: Client) -> Any:
        text = client.get(page).content.decode()
        assert "Secret plan" not in text
        return text

    assert seen(people["nobody"]) == seen(Client())
    assert '"count":1' not in seen(people["owner"]) or page == "/api/v1/boards/"
    for name in ("other", "owner", "maintainer"):
        seen(people[name])


def test_a_name_that_is_taken_elsewhere_is_free_here(people: dict[str, Client]) -> None:
    form = {**DECLARED, "method": "Secret plan", "multimodal": upload(ranking(tiny_split("circus-multi"), seed=7))}
    assert people["other"].post("/submit/demo-circus/", form).status_code == 302
    assert "Secret plan" in people["other"].get("/submissions/").content.decode()
    assert len(Submission.objects.values("method").distinct()) == 2


def test_files_have_no_address(people: dict[str, Client]) -> None:
    stored = Submission.objects.get().runs.get().files.get().stored
    for prefix in ("/", "/media/", "/files/", "/static/"):
        assert people["owner"].get(prefix + stored).status_code == 404
