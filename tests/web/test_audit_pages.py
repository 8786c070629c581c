"""The audit's pages: what is stored is what they say, as page, CSV and JSON; nothing of hidden splits is there."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from web.audit_pages import TRAINING, audited, job
from web.page_reader import read

pytestmark = pytest.mark.django_db


def table(html: str, name: str) -> list[list[str]]:
    """Return the cells of a table's body, as read."""
    found = [node for node in read(html).all("table") if node.attributes.get("id") == name]
    assert found, name
    rows = found[0].first("tbody").all("tr")
    return [[cell.text for cell in row.children if not isinstance(cell, str)] for row in rows]


def get(path: str, status: int = 200, **query: str) -> str:
    answer = Client().get(path, query)
    assert answer.status_code == status, path
    return answer.content.decode()


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_first_page_counts_the_newest_audit_and_shows_what_runs() -> None:
    _, second = audited()
    running = job()
    html = get("/audits/")
    row = next(row for row in table(html, "audits-table") if "Audit 2" in row[1])
    counts = second.report["counts"]
    assert row[3:6] == [str(counts[name]) for name in ("shortcut", "composition-required", "unresolved")]
    assert f"/audits/jobs/{running.pk}/" in html
    listed = table(get("/audits/demo-circus/"), "versions-table")
    assert [row[0] for row in listed] == ["Audit 2", "Audit 1"]
    assert listed[0][4:7] == row[3:6]
    assert listed[1][-1] == "The first audit."


def test_tables_figures_csv_and_json_say_the_same() -> None:
    _, audit = audited()
    html = get("/audits/demo-circus/2/")
    keys = [each["key"] for each in audit.report["tables"]]
    assert keys == [
        "counts",
        "rolled",
        "planted",
        "recall",
        "support",
        "ranks",
        "points",
        "gap",
        "leak",
        "by-k",
        "by-models",
        "leave-one-out",
    ]
    for stored in audit.report["tables"]:
        key, heads = stored["key"], [column["key"] for column in stored["columns"]]
        assert json.loads(get(f"/api/v1/audits/demo-circus/2/tables/{key}/")) == stored
        exported = rows_of(get(f"/audits/demo-circus/2/tables/{key}.csv"))
        assert [[row[head] for head in heads] for row in exported] == [
            ["" if cell is None else str(cell) for cell in row] for row in stored["rows"]
        ]
        if key != "points":
            assert len(table(html, f"table-{key}")) == len(stored["rows"])
        assert f'id="figure-{key}-1"' in html, "each table has its figure"
    support = json.loads(re.search(r'<script id="figure-support-1" type="application/json">(.*?)</script>', html)[1])  # type: ignore[index]
    assert [series["values"] for series in support["series"]] == [
        [row[place] for row in _stored(audit, "support")] for place in range(1, 5)
    ]
    assert support["x"] == "Models that solve a query"
    assert support["y"] == "Queries"


def _stored(audit: Any, key: str) -> list[list[Any]]:
    return next(each for each in audit.report["tables"] if each["key"] == key)["rows"]


def test_the_report_says_what_its_labels_come_from() -> None:
    _, audit = audited()
    html = get("/audits/demo-circus/2/")
    assert [row[0] for row in table(html, "pool-table")] == ["Model A", "Model B", "Model C"]
    for said in (audit.digest, audit.split_digest, TRAINING, "K = 10", "no: the split"):
        assert said in html
    assert "/audits/demo-circus/1/to/2/" in html
    assert "newer one" in get("/audits/demo-circus/1/"), "an older version stays readable and says so"


def test_styles_are_loosened_where_figures_are_and_scripts_nowhere() -> None:
    audited()
    for path, loose in (("/audits/demo-circus/2/", True), ("/audits/demo-circus/1/to/2/", True), ("/audits/", False)):
        policy = Client().get(path).headers["Content-Security-Policy"]
        assert ("unsafe-inline" in policy) == loose, path
        assert "script-src" not in policy


def test_labels_can_be_filtered_paged_and_exported() -> None:
    _, audit = audited()
    shown = table(get("/audits/demo-circus/2/queries/"), "labels-table")
    assert len(shown) == 100
    assert len(table(get("/audits/demo-circus/2/queries/", page="2"), "labels-table")) == 50
    for name, stored in (
        ("shortcut-text", audit.labels.filter(label="shortcut", kind="text")),
        ("unresolved", audit.labels.filter(label="unresolved")),
        ("shortcut-free", audit.labels.exclude(label="shortcut")),
    ):
        exported = rows_of(get("/audits/demo-circus/2/queries.csv", label=name))
        assert [row["query"] for row in exported] == [
            each.query.native_id for each in stored.order_by("query__position")
        ]
        answered = json.loads(get("/api/v1/audits/demo-circus/2/labels/", label=name, limit="1000"))
        assert [row["query"] for row in answered["results"]] == [row["query"] for row in exported]
    by_c = rows_of(get("/audits/demo-circus/2/queries.csv", model="Model C"))
    assert by_c
    assert all("Model C" in (row["multimodal_best"], row["text_best"], row["image_best"]) for row in by_c)
    assert len(rows_of(get("/audits/demo-circus/2/queries.csv", label="<script>", model="nobody"))) == 150


def test_the_flow_counts_every_query_once_and_names_the_new_model() -> None:
    first, second = audited()
    html = get("/audits/demo-circus/1/to/2/")
    before, after = ({each.query_id: _words(each) for each in audit.labels.all()} for audit in (first, second))
    wanted = {}
    for query, was in before.items():
        wanted[was, after[query]] = wanted.get((was, after[query]), 0) + 1
    rows = {(was, was if now == "the same" else now): int(size) for was, now, size in table(html, "flow-table")}
    assert rows == wanted
    moved = sum(size for (was, now), size in wanted.items() if was != now)
    assert table(html, "because-table") == [["Model C", str(moved)]]
    exported = rows_of(get("/audits/demo-circus/1/to/2/moved.csv"))
    assert len(exported) == moved
    assert {row["because"] for row in exported} == {"Model C"}
    answered = json.loads(get("/api/v1/audits/demo-circus/1/to/2/"))
    assert answered["came"] == ["Model C"]
    assert [each["query"] for each in answered["moved"]] == [row["query"] for row in exported]
    figure = json.loads(re.search(r'<script id="figure-flow" type="application/json">(.*?)</script>', html)[1])  # type: ignore[index]
    assert sum(link["value"] for link in figure["links"]) == 150
    one = next(pair for pair in wanted if pair[0] != pair[1])
    chosen = table(get("/audits/demo-circus/1/to/2/", before=one[0], after=one[1]), "moved-table")
    assert len(chosen) == wanted[one]
    back = table(get("/audits/demo-circus/2/to/1/"), "because-table")
    assert back == [["Model C", str(moved)]], "the other way it is the model that is gone"


def _words(label: Any) -> str:
    return f"{label.label} ({label.kind})" if label.kind else label.label


def test_the_chooser_leads_to_the_comparison() -> None:
    audited()
    answer = Client().get("/audits/demo-circus/", {"from": "1", "to": "2"})
    assert answer.headers["Location"] == "/audits/demo-circus/1/to/2/"
    get("/audits/demo-circus/", **{"from": "x", "to": "²"})


def test_audits_of_other_queries_are_not_compared() -> None:
    from audit.models import AuditVersion

    _, second = audited()
    AuditVersion.objects.filter(pk=second.pk).update(ranks_key="f" * 64)
    assert "cannot be compared" in get("/audits/demo-circus/1/to/2/", status=409)
    get("/audits/demo-circus/1/to/2/moved.csv", status=404)


def test_nothing_is_told_of_a_split_whose_truth_is_hidden() -> None:
    from leaderboard.models import Split

    audited()
    made = job()
    Split.objects.filter(slug="demo-circus").update(hidden_truth=True)
    pages = ("", "2/", "2/queries/", "2/queries.csv", "2/tables/counts.csv", "1/to/2/", "1/to/2/moved.csv")
    for path in (*(f"/audits/demo-circus/{page}" for page in pages), f"/audits/jobs/{made.pk}/"):
        get(path, status=404)
    for page in ("2/", "2/tables/counts/", "2/labels/", "1/to/2/"):
        get(f"/api/v1/audits/demo-circus/{page}", status=404)
    assert json.loads(get("/api/v1/audits/"))["results"] == []
    assert "demo-circus" not in get("/audits/")
    assert "not run on any split yet" in get("/encoders/model-a/")


@pytest.mark.parametrize(
    "path",
    [
        "/audits/",
        "/audits/demo-circus/",
        "/audits/demo-circus/2/",
        "/audits/demo-circus/2/queries/",
        "/encoders/model-a/",
    ],
)
def test_the_number_of_database_queries_does_not_grow(path: str, django_assert_max_num_queries: Any) -> None:
    """Twelve models or two, a page asks the database as often."""
    audited(models=6)
    with django_assert_max_num_queries(9):
        get(path)


def test_names_and_texts_of_others_are_text() -> None:
    from audit.models import AuditVersion, Encoder, Label
    from leaderboard.models import Query

    _, audit = audited()
    Query.objects.filter(version=audit.version, position=0).update(text="=HYPERLINK(1)<script>alert(1)</script>")
    Label.objects.filter(audit=audit).update(text_best="@evil<b>")
    Encoder.objects.filter(name="Model A").update(training="<img src=x onerror=alert(1)>")
    report = audit.report
    report["tables"][3]["rows"][0][0] = "</script><script>alert(2)</script>"
    AuditVersion.objects.filter(pk=audit.pk).update(report=report)
    for path in ("/audits/demo-circus/2/queries/", "/audits/demo-circus/2/", "/encoders/model-a/"):
        assert not re.search(r"<(script>alert|img src=x|b>)", get(path)), path
    row = rows_of(get("/audits/demo-circus/2/queries.csv"))[0]
    assert row["text"].startswith("'=HYPERLINK")
    assert row["text_best"].startswith("'@evil")


def test_the_card_of_an_encoder_has_its_probes() -> None:
    from audit.models import Probe

    audited()
    assert "Model A" in get("/encoders/")
    html = get("/encoders/model-a/")
    recalls = [
        f"{100 * Probe.objects.get(encoder__slug='model-a', condition=name).recall:.2f}"
        for name in ("multimodal", "text-only", "image-only")
    ]
    assert table(html, "probes-table")[0][2:] == recalls
    assert TRAINING in html
    assert "Both vectors, averaged." in html
    get("/encoders/nobody/", status=404)


def test_a_job_says_where_it_stands_and_why_it_failed() -> None:
    audited()
    made = job()
    html = get(f"/audits/jobs/{made.pk}/")
    assert "text-only: 250 of 1,000 inputs, 12.5 a second, about 60 s left" in html
    asked = Client().get(f"/audits/jobs/{made.pk}/state/")
    assert asked.json()["percent"] == 25
    again = Client().get(f"/audits/jobs/{made.pk}/state/", headers={"If-None-Match": asked.headers["ETag"]})
    assert again.status_code == 304
    failed = job("failed", reason="Weights are missing: put them where the description says.")
    html = get(f"/audits/jobs/{failed.pk}/")
    assert "put them where" in html
    assert "submission.js" not in html, "nothing to follow any more"


def test_what_circus_printed_stands_beside_as_reported() -> None:
    """Sizes of CIRR from the release; 0.137, 0.313, 0.361 from the page; the twelfth model is named as unnamed."""
    from audit.models import AuditVersion
    from leaderboard.services.splits import ensure_boards

    ensure_boards()
    audited("circus-cirr")
    html = get("/audits/circus-cirr/1/")
    sizes = {row[0]: row[1] for row in table(html, "published-sizes")}
    assert sizes["Shortcut"] == "3,485"
    assert sizes["V"] == "303"
    assert "Full 0.137, SF 0.313, V 0.361" in " ".join(html.split())
    assert "a twelfth" in html
    recall = {row[0]: row[1:] for row in table(html, "published-recall")}
    assert recall["E5-Omni"] == ["55.16", "47.55", "17.19", "56.81", "11.8", "15.2"]
    assert [sum(int(row[place].replace(",", "")) for row in table(html, "published-support")) for place in (1,)] == [
        3550
    ]
    AuditVersion.objects.update(report={"counts": {}})
    assert "before reports had tables" in get("/audits/circus-cirr/1/")


def test_pages_lead_to_the_audit() -> None:
    audited()
    for path in ("/boards/demo-circus/", "/boards/demo-circus/about/"):
        assert 'href="/audits/demo-circus/"' in get(path), path
    assert 'href="/audits/"' in get("/")
