"""From the upload form to the result, to the board and off it again, as a person with a browser sees it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from sending import ranking, upload, work
from web import page_reader
from web.web_makers import PASSWORD, frozen, user

from accounts.models import User
from demo.tiny import tiny_split
from evaluator.formats import write_judged
from evaluator.ranks import candidates
from evaluator.types import JudgedRanks
from leaderboard.models import Entry, Method
from submissions.models import Evaluation, Quota, Submission

pytestmark = pytest.mark.django_db

SAID = {
    "method": "My method",
    "supervision": "zero-shot",
    "training_overlap": ["none"],
    "query_text": "as-released",
    "system": "single",
    "weights": "open",
    "backbone": "CLIP ViT-L/14",
}


@pytest.fixture
def ada() -> User:
    return user("ada@example.org", "Ada's laboratory")


@pytest.fixture
def browser(ada: User) -> Client:
    client = Client()
    assert client.login(email=ada.email, password=PASSWORD)
    return client


def send(client: Client, slug: str = "demo-circus", kind: str = "circus-multi", **changes: Any) -> Any:
    """Fill in the form and send it."""
    lists = changes.pop("lists", None) or ranking(tiny_split(kind))
    return client.post(f"/submit/{slug}/", {**SAID, "multimodal": upload(lists), **changes})


def detail(client: Client, answer: Any) -> page_reader.Node:
    page = client.get(answer.headers["Location"])
    assert page.status_code == 200
    return page_reader.read(page.content.decode())


def test_an_upload_of_nobody_is_not_read() -> None:
    """A stranger's files were spooled to disk in search of the form's token before anybody asked who it is."""
    frozen("demo-circus", "circus-multi")
    answer = send(Client(enforce_csrf_checks=True))
    assert (answer.status_code, answer.wsgi_request.__dict__.get("_files")) == (302, None)


def test_from_the_form_to_the_board_and_off_it(browser: Client, client: Client) -> None:
    frozen("demo-circus", "circus-multi")
    sent = send(browser, paper_url="https://example.org/paper")
    assert sent.status_code == 302
    assert detail(browser, sent).first("div", "state").first("span", "mark").text == "received"
    work()
    page = detail(browser, sent)
    assert page.first("div", "state").first("span", "mark").text == "scored"
    entry = Entry.objects.get()
    score = entry.scores.get(measure="Recall_any@10", subset="V", condition="multimodal", group="")
    assert score.shown in page.text
    assert "My method" not in client.get("/boards/demo-circus/").content.decode()

    assert browser.post(f"{sent.headers['Location']}publish/").status_code == 302
    assert page_reader.ranked(client.get("/boards/demo-circus/").content.decode()) == [("1", "My method")]
    assert client.get(f"/entries/{entry.public_id}/").status_code == 200

    assert browser.post(f"{sent.headers['Location']}withdraw/").status_code == 302
    assert page_reader.ranked(client.get("/boards/demo-circus/").content.decode()) == []
    assert client.get(f"/entries/{entry.public_id}/").status_code == 404
    assert browser.get(f"/entries/{entry.public_id}/").status_code == 200
    assert Entry.objects.get().scores.exists()


def test_a_bad_file_gets_every_fault_with_place_and_remedy(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    lists: dict[str, Any] = ranking(tiny_split("circus-multi"))
    missing, short, repeated = list(lists)[:3]
    del lists[missing]
    lists[short] = lists[short][:20]
    lists[repeated] = [lists[repeated][1], *lists[repeated][1:]]
    sent = send(browser, lists=lists)
    work()
    page = detail(browser, sent)
    assert page.first("div", "state").first("span", "mark").text == "invalid"
    faults = {group.first("a").attributes["href"]: group.text for group in page.all("section", "faults")}
    assert set(faults) == {f"/help/formats/#{code}" for code in ("missing-query", "list-too-short", "repeated-image")}
    assert missing in faults["/help/formats/#missing-query"]
    assert "ranking.json" in faults["/help/formats/#list-too-short"]
    assert "20 images" in faults["/help/formats/#list-too-short"]
    assert "10 of 10" in browser.get("/submit/demo-circus/").content.decode().replace("<strong>", "")


def test_more_faults_than_are_listed_are_counted(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    lists = {query: images + ["none-1", "none-2"] * 10 for query, images in ranking(tiny_split("circus-multi")).items()}
    sent = send(browser, lists=lists)
    work()
    submission = Submission.objects.get()
    assert submission.more_faults > 0
    page = detail(browser, sent)
    assert f"And {submission.more_faults} more like these." in page.text
    groups = page.all("section", "faults")
    assert sum(len(table.first("tbody").all("tr")) for group in groups for table in group.all("table")) == 100
    assert "more of this kind" in groups[0].first("details").text, "many of a kind are folded away"


def test_what_is_wrong_with_the_form_stands_at_its_field_and_the_rest_is_kept(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    answer = send(
        browser, supervision="", code_url="javascript:alert(1)", method="Kept <b>", training_overlap=["none", "m-beir"]
    )
    assert answer.status_code == 422
    page = page_reader.read(answer.content.decode())
    wrong = [node for node in page.all("div", "field") if "wrong" in node.classes]
    assert [node.all("input")[0].attributes["name"] for node in wrong] == ["supervision"]
    again = send(browser, code_url="javascript:alert(1)", method="Kept <b>", training_overlap=["none", "m-beir"])
    page = page_reader.read(again.content.decode())
    wrong = [node for node in page.all("div", "field") if "wrong" in node.classes]
    assert [node.all("input")[0].attributes["name"] for node in wrong] == ["code_url", "training_overlap"]
    fields = {node.attributes.get("name"): node.attributes.get("value") for node in page.all("input")}
    assert fields["method"] == "Kept <b>"
    assert not Submission.objects.exists()
    assert not Method.objects.exists()


def test_a_picture_is_refused_at_once_next_to_its_field(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    answer = send(browser, multimodal=upload(b"\x89PNG\r\n\x1a\n" + b"0" * 40, "cat.png"))
    assert answer.status_code == 422
    (field,) = [
        node for node in page_reader.read(answer.content.decode()).all("div", "field") if "wrong" in node.classes
    ]
    assert "This is a PNG image." in field.text


def test_three_runs_give_the_shortcut_leak(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    more = {
        name: upload(ranking(tiny_split("circus-multi"), seed=seed))
        for seed, name in enumerate(("text_only", "image_only"))
    }
    send(browser, **more)
    work()
    leak = Entry.objects.get().scores.get(measure="ShortcutLeak@10", subset="V")
    assert leak.value is not None


def test_ranks_made_at_home_are_taken_and_said_on_the_board(browser: Client, client: Client) -> None:
    frozen("demo-circus", "circus-multi")
    assert "judged-ranks file" in browser.get("/submit/demo-circus/").content.decode()
    split = tiny_split("circus-multi")
    best = JudgedRanks(np.ones(len(split.judgments), dtype=np.int32).cumsum(dtype=np.int32), candidates(split), True)
    text = write_judged(replace(best, rank=best.rank % len(split.images) + 1), split)
    sent = send(browser, multimodal=upload(text.encode(), "ranks.csv"))
    work()
    assert detail(browser, sent).first("div", "state").first("span", "mark").text == "scored"
    browser.post(f"{sent.headers['Location']}publish/")
    (row,) = page_reader.board_rows(client.get("/boards/demo-circus/").content.decode())
    assert row.marks == ["file scored", "ranks by author"]
    assert "ranks by author" in client.get(f"/entries/{Entry.objects.get().public_id}/").content.decode()


def test_cirr_takes_its_subset_file_and_only_beside_the_main_one(browser: Client) -> None:
    frozen("cirr-val", "cirr")
    names = {
        node.attributes.get("name")
        for node in page_reader.read(browser.get("/submit/cirr-val/").content.decode()).all("input")
    }
    assert {"multimodal_subset", "text_only_subset", "image_only_subset"} <= names
    answer = send(browser, "cirr-val", "cirr", text_only_subset=upload({"a": ["b"]}))
    assert answer.status_code == 422
    assert "A subset file needs its main file." in answer.content.decode()


def test_hidden_truth_ends_as_checked_with_a_link_to_the_official_server(browser: Client) -> None:
    frozen("circo-test", "circo", hidden_truth=True)
    sent = send(browser, "circo-test", "circo")
    work()
    page = detail(browser, sent)
    assert page.first("div", "state").first("span", "mark").text == "checked"
    assert "https://circo.micc.unifi.it/" in [link.attributes["href"] for link in page.all("a")]
    assert not page.all("summary")
    assert not Evaluation.objects.exists()


def test_beyond_the_quota_the_page_says_when_it_begins_anew(browser: Client, ada: User) -> None:
    version = frozen("demo-circus", "circus-multi")
    day = timezone.now().astimezone(UTC).date()
    Quota.objects.create(split=version.split, team=ada.personal_team, day=day, used=10)
    reset = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)
    answer = send(browser)
    assert answer.status_code == 429
    page = page_reader.read(answer.content.decode())
    assert page.first("time", "both").attributes["datetime"] == f"{reset:%Y-%m-%dT%H:%M:%SZ}"
    assert f"{reset:%Y-%m-%d} 00:00 UTC" in page.first("p", "error").text + page.text


def test_the_same_files_lead_to_the_same_submission(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    assert send(browser).headers["Location"] == send(browser).headers["Location"]
    assert Submission.objects.count() == 1


def test_a_known_method_is_offered_by_name(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    send(browser)
    page = page_reader.read(browser.get("/submit/demo-circus/").content.decode())
    assert [option.attributes["value"] for option in page.first("datalist").all("option")] == ["My method"]


def test_an_oversized_request_is_refused_before_it_is_read(browser: Client, settings: Any) -> None:
    frozen("demo-circus", "circus-multi")
    answer = browser.post("/submit/demo-circus/", {}, headers={"content-length": str(settings.UPLOAD_MAX_BYTES * 7)})
    assert answer.status_code == 413


def test_the_live_state_is_cheap_while_nothing_changes(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    sent = send(browser)
    address = f"{sent.headers['Location']}state/"
    first = browser.get(address)
    assert json.loads(first.content)["state"] == "received"
    assert json.loads(first.content)["ahead"] == 0
    again = browser.get(address, headers={"if-none-match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    work()
    after = browser.get(address, headers={"if-none-match": first.headers["ETag"]})
    assert after.status_code == 200
    assert json.loads(after.content)["fingerprint"] != json.loads(first.content)["fingerprint"]


def test_the_page_knows_its_place_in_the_queue(browser: Client) -> None:
    """Public report A1."""
    frozen("demo-circus", "circus-multi")
    send(browser, method="first")
    second = send(browser, method="second")
    assert "1 before it" in detail(browser, second).first("div", "state").text
    assert "No worker for queue cpu" in page_reader.read(browser.get("/status/").content.decode()).text


def test_cancelling_before_scoring_gives_the_quota_back(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    sent = send(browser)
    assert browser.post(f"{sent.headers['Location']}cancel/").status_code == 302
    assert detail(browser, sent).first("div", "state").first("span", "mark").text == "cancelled"
    assert Quota.objects.get().used == 0
    again = browser.post(f"{sent.headers['Location']}cancel/", follow=True).content.decode()
    assert "there is nothing left to cancel" in again


def test_a_failure_of_ours_shows_its_reference(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    sent = send(browser)
    now = timezone.now()
    Submission.objects.update(state="failed", reference="R-1234", reason="ours", finished_at=now)
    page = detail(browser, sent)
    assert "Reference number: R-1234" in page.text
    assert page.first("div", "state").first("span", "mark").text == "failed"


def test_every_write_needs_the_token_of_its_form(ada: User) -> None:
    frozen("demo-circus", "circus-multi")
    strict = Client(enforce_csrf_checks=True)
    strict.login(email=ada.email, password=PASSWORD)
    assert send(strict).status_code == 403
    assert not Submission.objects.exists()


def test_the_list_costs_the_same_however_long_it_is(browser: Client, django_assert_max_num_queries: Any) -> None:
    frozen("demo-circus", "circus-multi")

    def queries() -> int:
        with django_assert_max_num_queries(10) as captured:
            assert browser.get("/submissions/").status_code == 200
        return len(captured)

    send(browser, method="m0")
    few = queries()
    for number in range(1, 5):
        send(browser, method=f"m{number}")
    assert queries() == few


def test_a_dry_run_is_offered_beside_the_upload_and_can_be_scored_afterwards(browser: Client) -> None:
    frozen("demo-circus", "circus-multi")
    assert "Only check the files" in browser.get("/submit/demo-circus/").content.decode()
    sent = send(browser, check_only="true")
    work()
    page = detail(browser, sent)
    assert page.first("div", "state").first("span", "mark").text == "checked"
    assert "Score it" in page.text
    submission = Submission.objects.get()
    browser.post(f"/submissions/{submission.public_id}/score/")
    work()
    assert detail(browser, sent).first("div", "state").first("span", "mark").text == "scored"
