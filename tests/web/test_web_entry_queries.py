"""The queries of an entry one by one: the page, its CSV and the counts of the result page say the same."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from sending import BoardUnderTest, ranking, upload, work
from vectors_sent import send_vectors, vectors_of, written
from web import page_reader
from web.web_makers import DECLARED, PASSWORD, frozen, user

from demo.tiny import tiny_split
from leaderboard.models import Entry

pytestmark = pytest.mark.django_db
CONTENT = tiny_split("circus-multi")


def scored(folder: Path, **changes: Any) -> Entry:
    """Return the entry of vectors under three conditions, of Ada's team, private."""
    content = replace(CONTENT, **changes)
    board = BoardUnderTest(frozen("demo-circus", "circus-multi", **changes).split, content)
    send_vectors(user("ada@example.org"), board, written(content, folder, vectors_of(content)))
    work()
    return Entry.objects.get()


def signed_in(email: str = "ada@example.org") -> Client:
    client = Client()
    assert client.login(email=email, password=PASSWORD)
    return client


def table(client: Client, entry: Entry, query: str = "") -> list[dict[str, str]]:
    answer = client.get(f"/entries/{entry.public_id}/queries.csv{query}")
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_every_query_has_its_ranks_and_the_counts_agree(tmp_path: Path) -> None:
    content = CONTENT
    entry = scored(tmp_path)
    ada = signed_in()
    rows = table(ada, entry)
    assert [row["query"] for row in rows] == list(content.query_ids)
    full = entry.rank_counts["subsets"]["Full"]["solved"]
    assert Counter(row["solved_by"] for row in rows) == {
        name: full[name]["queries"] for name in ("both", "text-only", "image-only", "neither") if full[name]["queries"]
    }
    page = page_reader.read(ada.get(f"/entries/{entry.public_id}/queries/").content.decode())
    shown = [row.all("td") for row in page.first("table", "scores").all("tr")][1:]
    assert [[cell.text.replace(",", "") for cell in row[1:4]] for row in shown] == [
        [row[f"rank_{name}"] for name in ("multimodal", "text-only", "image-only")] for row in rows
    ]


def test_subsets_and_classes_can_be_asked_for(tmp_path: Path) -> None:
    entry = scored(tmp_path)
    ada = signed_in()
    counts = entry.rank_counts["subsets"]["V"]["solved"]
    for name in ("both", "text-only", "image-only", "neither"):
        found = table(ada, entry, f"?subset=V&solved={name}")
        assert len(found) == counts[name]["queries"]
        assert all("V" in row["subsets"].split() for row in found)
    assert table(ada, entry, "?subset=nonsense") == []
    assert ada.get(f"/entries/{entry.public_id}/queries/?page=nonsense&solved=<x>").status_code == 200


def test_no_cell_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    entry = scored(tmp_path, texts=("=HYPERLINK(1)", *CONTENT.texts[1:]))
    assert table(signed_in(), entry)[0]["text"] == "'=HYPERLINK(1)"


def test_a_private_list_is_nobodys_and_the_page_of_the_entry_leads_there(tmp_path: Path) -> None:
    entry = scored(tmp_path)
    user("grace@example.org")
    for path in (f"/entries/{entry.public_id}/queries/", f"/entries/{entry.public_id}/queries.csv"):
        assert Client().get(path).status_code == 404
        assert signed_in("grace@example.org").get(path).status_code == 404
    assert f"/entries/{entry.public_id}/queries/" in signed_in().get(f"/entries/{entry.public_id}/").content.decode()


def test_rankings_have_a_list_with_what_they_list() -> None:
    frozen("demo-circus", "circus-multi")
    user("ada@example.org")
    ada = signed_in()
    form = {**DECLARED, "method": "m", "multimodal": upload(ranking(CONTENT))}
    assert ada.post("/submit/demo-circus/", form).status_code == 302
    work()
    rows = table(ada, Entry.objects.get())
    assert set(rows[0]) == {"query", "text", "subsets", "rank_multimodal", "solved_by"}
