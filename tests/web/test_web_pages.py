"""Pages as such: every one is there, holds nothing inline, and the help covers every fault and measure."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from web import page_reader
from web.web_makers import PASSWORD, add_scores, entry, frozen, user

from evaluator.errors import FAULTS
from evaluator.measures.registry import REGISTRY
from leaderboard import boards
from leaderboard.models import Benchmark, Entry, Split
from leaderboard.selectors.documents import PAGES, document
from leaderboard.selectors.measures import words
from leaderboard.selectors.notes import NOTES
from leaderboard.services.splits import ensure_boards

pytestmark = pytest.mark.django_db

PUBLIC = ("/", "/submit/", "/status/", *(f"/help/{name}/" for name in PAGES), "/account/login/")


def test_every_board_has_its_pages_before_anything_was_imported(client: Client) -> None:
    """Decision 43: a board can be reported-only."""
    ensure_boards()
    for board in boards.BOARDS:
        for page in ("", "about/"):
            answer = client.get(f"/boards/{board.slug}/{page}")
            assert answer.status_code == 200
            assert board.name in page_reader.read(answer.content.decode()).text
        assert client.get(f"/boards/{board.slug}/kit.zip").status_code == 404
        assert client.get("/submit/" + board.slug + "/").status_code == 302
    assert client.get("/").status_code == 200


def test_the_first_page_says_who_leads_and_counts_what_is_public(client: Client) -> None:
    version = frozen("demo-circus", "circus-multi")
    for name, value in (("ahead", 0.9), ("level", 0.9), ("behind", 0.1)):
        entry(version, name, {("Recall_any@10", "V"): value})
    entry(version, "private", {("Recall_any@10", "V"): 1.0}, published_at=None)
    rows = page_reader.read(client.get("/").content.decode()).all("tr")
    (line,) = [row for row in rows if row.text.startswith("Demo of CIRCUS")]
    assert [cell.text for cell in line.all("td")][1:3] == ["3", "ahead and 1 more"]
    assert "90.00" in line.text


@pytest.mark.parametrize(
    ("slug", "kind", "rule"),
    [
        ("cirr-val", "cirr", "removed from every ranking by its id"),
        ("circo-val", "circo", "stays in the ranking"),
    ],
)
def test_the_split_page_prints_rule_sizes_digest_and_other_boards(
    client: Client, slug: str, kind: str, rule: str
) -> None:
    """Public reports A27 and A28: the rule stands beside the measures, the gallery's size and hash on the page."""
    version = frozen(slug, kind)
    text = page_reader.read(client.get(f"/boards/{slug}/about/").content.decode()).text
    assert text.count(rule) >= 2
    assert version.digest in text
    assert f"{version.gallery_size} images" in text
    assert rule in page_reader.read(client.get(f"/boards/{slug}/").content.decode()).text


def test_pinpoints_page_tells_the_story_of_the_stand_ins(client: Client) -> None:
    frozen("pinpoint", "pinpoint")
    text = page_reader.read(client.get("/boards/pinpoint/about/").content.decode()).text
    assert "3,410 of the 7,635 rows" in text
    assert set(NOTES) == {board.slug for board in boards.BOARDS}


def test_the_kit_is_a_zip_with_the_offline_checkers_bundle(client: Client) -> None:
    version = frozen("demo-circus", "circus-multi")
    answer = client.get("/boards/demo-circus/kit.zip")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="demo-circus-v1-kit.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as kit:  # type: ignore[attr-defined]
        assert kit.testzip() is None
        assert len(kit.namelist()) > 3
    assert version.number == 1


def test_an_entry_shows_all_scores_with_interval_count_and_reason(client: Client) -> None:
    version = frozen("demo-pinpoint", "pinpoint")
    made = entry(version, "m", {("mAP@10", "All"): 0.5, ("mAP@10", "Original"): 0.4, ("Recall@1", "All"): None})
    add_scores(made, {("mAP@10", "All"): 0.3}, condition="text-only")
    add_scores(made, {("mAP@10", "All"): 0.2}, group="skin_tone=Light")
    tree = page_reader.read(client.get(f"/entries/{made.public_id}/").content.decode())
    tables = [(table.first("thead").text, table.first("tbody").text) for table in tree.all("table", "scores")]
    assert [head for head, _ in tables] == ["Measure All Original", "Measure All Original", "Skin tone mAP@10"]
    assert "mAP@10 50.00 49.00–51.00 n=12 40.00 39.00–41.00 n=12" in tables[0][1]
    assert "not available: needs more" in tables[0][1]
    assert "mAP@10 30.00" in tables[1][1]
    assert tables[2][1] == "Light 20.00 19.00–21.00 n=12"
    assert "How was the method trained for this task? zero-shot" in tree.text
    answer = client.get(f"/api/v1/entries/{made.public_id}/")
    assert {score["value"] for score in json.loads(answer.content)["scores"]} == {0.5, 0.4, None, 0.3, 0.2}


def every_page(client: Client) -> list[str]:
    version = frozen("demo-circus", "circus-multi")
    made = entry(version, "m", {("Recall_any@10", "V"): 0.5})
    boards_pages = [f"/boards/demo-circus/{part}" for part in ("", "?columns=all&supervision=zero-shot", "about/")]
    return [*PUBLIC, *boards_pages, f"/entries/{made.public_id}/", "/submissions/", "/submit/demo-circus/", "/account/"]


def test_nothing_is_inline_and_every_page_is_well_made(client: Client) -> None:
    ada = user("ada@example.org")
    pages = every_page(client)
    client.login(email=ada.email, password=PASSWORD)
    for address in [page for page in pages if page != "/account/login/"]:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        html = answer.content.decode()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)", html), address
        tree = page_reader.read(html)
        assert len(tree.all("h1")) == 1, address
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert len(ids) == len(set(ids)), (address, ids)
        for head in tree.all("th"):
            assert head.attributes.get("scope") or not head.text, (address, head.text)
        for control in [*tree.all("input"), *tree.all("select")]:
            kind = control.attributes.get("type")
            labelled = f'for="{control.attributes.get("id")}"' in html
            assert kind in ("hidden", "submit") or labelled, (address, control.attributes)


@pytest.mark.django_db(transaction=True)  # closing an answer closes the connection
def test_links_within_the_site_lead_somewhere(client: Client) -> None:
    ada = user("ada@example.org")
    pages = every_page(client)
    client.login(email=ada.email, password=PASSWORD)
    targets: dict[str, str] = {}
    for page in [page for page in pages if page != "/account/login/"]:
        for link in page_reader.read(client.get(page).content.decode()).all("a"):
            href = link.attributes["href"].partition("#")[0]
            if href.startswith("/"):
                targets[href] = page
    for target, page in targets.items():
        answer = client.get(target)
        assert answer.status_code in (200, 302), f"{page} links to {target}"
        answer.close()


@pytest.mark.parametrize("name", PAGES)
def test_documents_become_pages_without_inline_style_or_raw_markup(client: Client, name: str) -> None:
    page = document(name)
    assert page.title
    assert page.headings or name == "glossary"
    assert ".md" not in "".join(re.findall(r'href="([^"]*)"', page.html))
    assert "style=" not in page.html
    assert page_reader.read(client.get(f"/help/{name}/").content.decode()).first("h1").text == page.title


def test_every_fault_and_measure_that_a_page_links_to_has_its_heading() -> None:
    def anchors(name: str) -> set[str]:
        return set(re.findall(r'id="([^"]+)"', document(name).html))

    assert set(FAULTS) <= anchors("formats")
    families = {words(f"{label}@10").anchor or label.lower() for label in REGISTRY}
    assert families <= anchors("measures")


def test_markup_in_a_document_stays_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "x.md").write_text("# T\n\n<script>alert(1)</script> [a](javascript:alert(1))\n")
    monkeypatch.setattr("leaderboard.selectors.documents.DOCS", tmp_path)
    assert "<script" not in document("x").html
    assert "href=" not in document("x").html


def test_error_pages_are_the_sites(client: Client) -> None:
    answer = client.get("/nothing/")
    assert answer.status_code == 404
    assert page_reader.read(answer.content.decode()).first("h1").text == "There is nothing here"


def test_an_error_of_ours_has_a_page_that_needs_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("leaderboard.views.home.home_page", broken)
    client.raise_request_exception = False
    answer = client.get("/")
    assert answer.status_code == 500
    assert "it is our fault" in answer.content.decode()


def test_the_schema_describes_the_read_api_without_a_warning(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = json.loads(client.get("/api/v1/schema/?format=json").content)
    assert {"/api/v1/boards/", "/api/v1/boards/{slug}/", "/api/v1/entries/{public_id}/"} <= set(schema["paths"])
    parameters = schema["paths"]["/api/v1/boards/{slug}/"]["get"]["parameters"]
    assert {"sort", "supervision", "reported", "limit", "offset"} <= {one["name"] for one in parameters}
    assert "leaderboard" not in capsys.readouterr().err
    assert client.get("/api/v1/docs/").status_code == 200


def test_there_is_one_small_style_sheet() -> None:
    sheet = finders.find("cirboard.css")
    assert isinstance(sheet, str)
    text = Path(sheet).read_text(encoding="utf-8")
    assert len(text) < 32_000
    assert "prefers-color-scheme: dark" in text
    assert "@import" not in text
    assert "url(" not in text


def test_a_board_that_lost_its_definition_and_has_no_version_is_not_found(client: Client) -> None:
    ensure_boards()
    family = Benchmark.objects.get(slug="demo")
    Split.objects.create(slug="gone", name="Gone", benchmark=family)
    assert client.get("/boards/gone/").status_code == 404
    assert "Gone" not in client.get("/").content.decode()


def test_maintainers_see_everything_and_write_only_what_services_do_not(client: Client) -> None:
    entry(frozen("demo-circus", "circus-multi"), "m", {("Recall_any@10", "V"): 0.5})
    boss = user("boss@example.org", is_staff=True, is_superuser=True)
    assert client.get("/admin/leaderboard/entry/").status_code == 302
    client.login(email=boss.email, password=PASSWORD)
    for app, models in (
        ("accounts", ("user", "team", "apitoken")),
        ("leaderboard", ("split", "splitversion", "method", "entry")),
        ("submissions", ("submission", "evaluation", "quota")),
    ):
        for model in models:
            assert client.get(f"/admin/{app}/{model}/").status_code == 200, model
    made = Entry.objects.get()
    assert client.post(f"/admin/leaderboard/entry/{made.pk}/change/", {"source": "x"}).status_code == 403
    split = made.split
    assert client.post(f"/admin/leaderboard/split/{split.pk}/change/", {"daily_quota": "3"}).status_code == 302
    split.refresh_from_db()
    assert (split.open, split.daily_quota) == (False, 3)
    assert client.get("/submit/demo-circus/").status_code == 404
