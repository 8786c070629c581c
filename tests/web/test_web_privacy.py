"""Public report A23: for everyone else a private submission and its entry do not exist, and count nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import get_resolver
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


def every_address(resolver: Any = None, before: str = "") -> Iterator[str]:
    """Yield the pattern of each address of the site and its API; Django's and allauth's own pages apart."""
    for part in (resolver or get_resolver()).url_patterns:
        pattern = before + str(part.pattern)
        if hasattr(part, "url_patterns"):
            yield from every_address(part, pattern)
        elif not pattern.startswith(("admin/", "account/")):
            yield pattern


@pytest.mark.parametrize("method", ["get", "head", "post", "put", "patch", "delete", "options"])
def test_no_address_tells_an_outsider_of_it(people: dict[str, Client], method: str) -> None:
    """Whatever is added later, by whatever method it is asked: no name, no id, no error of ours."""
    submission, entry = str(Submission.objects.get().public_id), str(Entry.objects.get().public_id)
    addresses = {
        f"/{pattern}".replace("<slug:slug>", "demo-circus").replace("<uuid:public_id>", name)
        for pattern in every_address()
        for name in (submission, entry)
    }
    assert len(addresses) > 20
    for address in sorted(addresses):
        for name in ("nobody", "other"):
            answer = getattr(people[name], method)(address, headers={"Tus-Resumable": "1.0.0"})
            assert answer.status_code < 500 or "/status/" in address, address  # no worker: 503, as it should be
            assert b"Secret plan" not in answer.getvalue(), address
            if submission in address or entry in address:
                assert answer.status_code in (302, 401, 403, 404, 405) or method == "options", address
    assert Entry.objects.get().published_at is None
    assert Submission.objects.get().state == "valid"


HOSTILE = ("\x00", "x" * 5_000, "<script>alert(1)</script>", "Recall@10:Z", "-", "9" * 400, "\ud800", "method")


@pytest.mark.parametrize("base", ["/boards/demo-circus/", "/api/v1/boards/demo-circus/"])
@pytest.mark.parametrize("key", ["sort", "page", "condition", "columns", "limit", "offset", "supervision", "trust"])
def test_any_question_gets_an_answer_without_it(people: dict[str, Client], base: str, key: str) -> None:
    for value in HOSTILE:
        answer = people["other"].get(f"{base}?{key}={quote(value, errors='surrogatepass')}")
        assert answer.status_code in (200, 404), value
        assert b"Secret plan" not in answer.content
        assert b"<script>alert" not in answer.content
