"""The entry page's ranks: the table and the figure say the same, from this host alone, and without a script too.

A figure that another host must serve is blank where people have no network, and one that differs from its table lies.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from web.web_makers import FIRST_DAY, add_scores, entry, frozen

from demo.tiny import tiny_split
from evaluator.rank_counts import rank_counts
from evaluator.ranks import candidates
from evaluator.types import Condition, JudgedRanks
from leaderboard.finders import PLOTLY
from leaderboard.models import Split

GAP = {("CompositionGap", subset): 0.25 for subset in ("Full", "SF", "V")}


def counts_of(kind: str = "circus-multi") -> dict[str, Any]:
    split = tiny_split(kind)
    generator = np.random.default_rng(0)
    ranks = {}
    for condition in Condition:
        rows = [generator.permutation(60)[:size] + 1 for size in np.bincount(split.judgments.query)]
        flat = np.concatenate(rows).astype(np.int32)
        ranks[condition] = JudgedRanks(flat, candidates(split), complete=True)
    return rank_counts(split, ranks)


def made_entry(slug: str = "demo-circus", **fields: Any) -> Any:
    version = frozen(slug, "circus-multi")
    made = entry(version, f"Full ranks of {slug}", {("Recall_any@10", "V"): 0.5}, rank_counts=counts_of(), **fields)
    add_scores(made, GAP, condition="")
    for condition in Condition:
        add_scores(made, {("nDCG", "Full"): 0.4}, condition=str(condition))
    return made


def table_of(html: str, name: str) -> list[list[str]]:
    body = re.search(rf'<table class="scores" id="{name}">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)
    assert body is not None
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]


@pytest.mark.django_db
@pytest.mark.parametrize("subset", ["Full", "SF", "V"])
def test_table_and_figure_say_the_same(subset: str) -> None:
    made = made_entry()
    html = Client().get(f"/entries/{made.public_id}/?subset={subset}").content.decode()
    found = re.search(r'<script id="ranks-data" type="application/json">(.*?)</script>', html)
    assert found is not None
    figure = json.loads(found[1])
    rows = table_of(html, "ranks-table")
    assert [row[0] for row in rows] == figure["labels"]
    for place, series in enumerate(figure["series"], start=1):
        assert [int(row[place]) for row in rows] == series["values"]
        stored = made.rank_counts["subsets"][subset]["conditions"]
        assert sum(series["values"]) == stored[series["name"].lower().replace(" ", "-")]["n"]
    assert subset in figure["title"]


@pytest.mark.django_db
@pytest.mark.parametrize("asked", ["", "nowhere", "<script>", "\x00"])
def test_an_unknown_subset_is_the_board_s_first(asked: str) -> None:
    html = Client().get(f"/entries/{made_entry().public_id}/", {"subset": asked}).content.decode()
    assert "first right image, V" in html
    assert "<script>&" not in html


@pytest.mark.django_db
def test_styles_are_loosened_on_this_page_alone_and_scripts_nowhere() -> None:
    made = made_entry()
    loose = Client().get(f"/entries/{made.public_id}/").headers["Content-Security-Policy"]
    strict = Client().get("/boards/demo-circus/").headers["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in loose
    assert "unsafe" not in strict
    assert "script-src" not in loose, "default-src 'self' holds for scripts"


@pytest.mark.django_db
def test_printed_gaps_stand_beside_it_where_they_apply_only() -> None:
    """0.137 on Full and 0.361 on V are CIRR's: on another board they would compare what differs."""
    made = made_entry("circus-cirr")
    rows = table_of(Client().get(f"/entries/{made.public_id}/").content.decode(), "gap-table")
    assert [(row[0], row[-1]) for row in rows] == [("Full", "0.137"), ("SF", "0.313"), ("V", "0.361")]
    other = Client().get(f"/entries/{made_entry('demo-circus').public_id}/").content.decode()
    assert "gap-table" in other
    assert "0.361" not in other


@pytest.mark.django_db
def test_nothing_of_ranks_is_told_where_truth_is_hidden_or_nothing_was_counted() -> None:
    made = made_entry()
    Split.objects.filter(pk=made.split_id).update(hidden_truth=True)
    assert "ranks-data" not in Client().get(f"/entries/{made.public_id}/").content.decode()
    bare = entry(made.version, "bare", {("Recall_any@10", "V"): 0.5})
    Split.objects.filter(pk=made.split_id).update(hidden_truth=False)
    assert "figure.js" not in Client().get(f"/entries/{bare.public_id}/").content.decode(), "no script without a figure"


@pytest.mark.django_db
def test_how_vectors_were_compared_is_on_the_page_and_in_the_api() -> None:
    made = made_entry(similarity="inner product")
    assert "ranked here from embeddings" in Client().get(f"/entries/{made.public_id}/").content.decode()
    said = Client().get(f"/api/v1/entries/{made.public_id}/").json()
    assert said["similarity"] == "inner product"
    assert said["rank_counts"] == made.rank_counts


def test_plotly_is_found_and_nothing_else_of_its_package() -> None:
    assert finders.find(PLOTLY)
    assert finders.find("plotly/widgetbundle.js") is None
    listed = [name for finder in finders.get_finders() for name, _ in finder.list(None) if "plotly" in name]
    assert listed == ["plotly.min.js"]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_figure_is_drawn_from_this_host_alone(
    chromium: Any, live_server: Any, width: int, scheme: str, tmp_path: Any
) -> None:
    made = made_entry(published_at=FIRST_DAY)
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{live_server.url}/entries/{made.public_id}/")
    page.locator("#ranks").scroll_into_view_if_needed()
    page.wait_for_selector("[data-drawn]", timeout=20_000)
    assert page.locator("[data-ranks-figure] .bars .point").count() > 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith((live_server.url, "data:", "blob:")) for url in asked), asked
    page.screenshot(path=tmp_path / f"{scheme}-{width}.png", full_page=True)
    context.close()
    assert complaints == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_without_scripts_the_table_is_there_and_no_hole(chromium: Any, live_server: Any) -> None:
    made = made_entry()
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/entries/{made.public_id}/")
    assert page.locator("#ranks-table tbody tr").count() > 3
    assert not page.locator("[data-ranks-figure]").is_visible()
    context.close()
