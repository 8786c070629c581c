"""The board: order, ranks, empty cells, filters, and that its cost does not grow with its rows."""

from __future__ import annotations

import html as markup
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from web import page_reader
from web.web_makers import add_scores, entry, frozen, user

from accounts.services import personal_team
from demo.tiny import tiny_split
from leaderboard.models import Comparison, Entry, SplitVersion
from leaderboard.selectors import board, board_query, ordering

pytestmark = pytest.mark.django_db

FIRST = ("Recall_any@10", "V")


@pytest.fixture
def circus() -> SplitVersion:
    return frozen("demo-circus", "circus-multi")


def page(client: Client, query: str = "") -> str:
    answer = client.get(f"/boards/demo-circus/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def rows_of_api(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/boards/demo-circus/{query}")
    assert answer.status_code == 200
    rows: list[dict[str, Any]] = answer.json()["results"]
    return rows


def test_order_and_ranks_follow_the_full_precision_and_ties_the_date(client: Client, circus: SplitVersion) -> None:
    """Public report A17: both values are shown as 70.15."""
    entry(circus, "late twin", {FIRST: 0.701511}, day=9)
    entry(circus, "lower", {FIRST: 0.701489}, day=1)
    entry(circus, "early twin", {FIRST: 0.701511}, day=2)
    shown = page_reader.board_rows(page(client))
    assert [(row.rank, row.method) for row in shown] == [("1", "early twin"), ("1", "late twin"), ("3", "lower")]
    assert all(row.cells[0].startswith("70.15") for row in shown)
    assert [row["rank"] for row in rows_of_api(client)] == [1, 1, 3]
    assert rows_of_api(client)[2]["scores"][0]["value"] == 0.701489


@pytest.mark.parametrize(
    "sort", ["", "?sort=Recall_any@10:V", "?sort=-Recall_any@10:V", "?sort=method", "?sort=-published"]
)
def test_a_row_without_the_first_measure_is_never_above_a_ranked_one(
    client: Client, circus: SplitVersion, sort: str
) -> None:
    """Public report A16: whatever the order asked for."""
    entry(circus, "empty", {FIRST: None}, day=0)
    entry(circus, "good", {FIRST: 0.9}, day=5)
    entry(circus, "bad", {FIRST: 0.0}, day=3)
    entry(circus, "nothing at all", {}, day=4)
    shown = page_reader.board_rows(page(client, sort))
    assert {row.method for row in shown[:2]} == {"good", "bad"}
    assert [row.rank for row in shown[2:]] == ["–", "–"]
    why = {row.method: row.why for row in shown[2:]}
    assert why["empty"] == "not available: needs more"
    assert why["nothing at all"].startswith("No Recall_any@10 on V")


def test_taking_a_row_off_lets_the_next_one_up(client: Client, circus: SplitVersion) -> None:
    best = entry(circus, "best", {FIRST: 0.9})
    entry(circus, "next", {FIRST: 0.8})
    Entry.objects.filter(pk=best.pk).update(published_at=None)
    assert page_reader.ranked(page(client)) == [("1", "next")]


def test_rows_with_numbers_over_other_queries_stand_unranked_with_the_reason(
    client: Client, circus: SplitVersion
) -> None:
    """Decision 6: the GPT-5 rows of PinPoint cover 7,566 of 7,635 queries."""
    entry(circus, "partial", {FIRST: 0.99}, trust=Entry.Trust.REPORTED, unranked_reason="Covers 7 of 12 queries.")
    entry(circus, "whole", {FIRST: 0.5})
    first, second = page_reader.board_rows(page(client))
    assert (first.rank, first.method) == ("1", "whole")
    assert (second.rank, second.why, second.cells[0]) == ("–", "Covers 7 of 12 queries.", "99.00")


def test_sorting_by_another_column_puts_rows_without_it_last_both_ways(client: Client, circus: SplitVersion) -> None:
    other = ("mAP@10", "SF")
    entry(circus, "a", {FIRST: 0.9, other: 0.1})
    entry(circus, "b", {FIRST: 0.8, other: 0.3})
    entry(circus, "c", {FIRST: 0.7, other: None})
    assert page_reader.ranked(page(client, "?sort=mAP@10:SF")) == [("2", "b"), ("1", "a"), ("3", "c")]
    assert page_reader.ranked(page(client, "?sort=-mAP@10:SF")) == [("1", "a"), ("2", "b"), ("3", "c")]


def test_where_less_is_better_less_comes_first(client: Client) -> None:
    version = frozen("demo-pinpoint", "pinpoint")
    entry(version, "trapped", {("mAP@10", "All"): 0.9, ("NegRecall@10", "All"): 0.4})
    entry(version, "careful", {("mAP@10", "All"): 0.1, ("NegRecall@10", "All"): 0.2})
    answer = client.get("/boards/demo-pinpoint/?sort=NegRecall@10:All").content.decode()
    assert [row.method for row in page_reader.board_rows(answer)] == ["careful", "trapped"]
    head = [cell for cell in page_reader.read(answer).all("th") if cell.attributes.get("aria-sort")]
    assert [(cell.text, cell.attributes["aria-sort"]) for cell in head] == [("NegRecall@10 All", "ascending")]


class AnyValues(TestCase):
    """Page and API agree with a plain sort whatever the values are."""

    @settings(max_examples=15, deadline=None)
    @given(
        st.lists(st.none() | st.sampled_from([0.0, 0.1, 0.1 + 1e-16, 0.3, 0.1 + 0.2, 1.0]), max_size=7), st.booleans()
    )
    def test_order(self, values: list[float | None], worst_first: bool) -> None:
        version = frozen("demo-circus", "circus-multi")
        for number, value in enumerate(values):
            entry(version, f"m{number}", {FIRST: value}, day=number)
        sign = 1 if worst_first else -1
        have = sorted(
            (number for number, value in enumerate(values) if value is not None), key=lambda n: sign * values[n]
        )
        lack = [number for number, value in enumerate(values) if value is None]
        query = f"?sort={'-' if worst_first else ''}Recall_any@10:V"
        shown = page_reader.board_rows(page(self.client, query))
        assert [row.method for row in shown] == [f"m{number}" for number in have + lack]
        for row, number in zip(shown, have, strict=False):
            assert int(row.rank) == 1 + sum(value is not None and value > values[number] for value in values)
        api = rows_of_api(self.client, query)
        assert [row["entry"]["method"] for row in api] == [row.method for row in shown]


def test_subsets_stand_side_by_side_with_their_sizes(client: Client, circus: SplitVersion) -> None:
    entry(circus, "m", {("Recall_any@10", subset): 0.5 for subset in ("Full", "SF", "V")})
    sizes = {subset.name: subset.size for subset in circus.subsets.all()}
    head = page_reader.read(page(client)).first("table", "board").first("thead")
    assert [cell.text for cell in head.all("th", "value")] == [
        f"{name} n={sizes[name]}" for name in ("Full", "SF", "V")
    ]
    assert [cell.text for cell in head.all("th", "group")] == ["Recall_any@10"]


def test_an_absent_subset_says_why(client: Client) -> None:
    split = tiny_split("circus-multi")
    subsets = {name: mask for name, mask in split.subsets.items() if name != "V"}
    version = frozen(
        "demo-circus", "circus-multi", subsets=subsets, strata={}, absent={"V": "The list was not at hand."}
    )
    made = entry(version, "m", {("Recall_any@10", "Full"): 0.5})
    add_scores(made, {FIRST: None})
    text = page_reader.read(page(client)).text
    assert "V is absent on this site: The list was not at hand." in text
    assert page_reader.ranked(page(client)) == [("–", "m")]


def test_an_empty_cell_points_to_its_reason(client: Client, circus: SplitVersion) -> None:
    made = entry(circus, "m", {FIRST: 0.5})
    add_scores(made, {("ShortcutLeak@10", "V"): None}, condition="")
    tree = page_reader.read(page(client))
    note = tree.first("span", "empty").first("a").attributes["href"]
    (reason,) = [node for node in tree.all("div") if f"#{node.attributes.get('id')}" == note]
    assert reason.text == "a not available: needs more"


def test_columns_of_the_full_gallery_are_there_where_a_row_has_them(client: Client, circus: SplitVersion) -> None:
    """Where all rows are lists of 50, three empty columns of the Composition Gap would say nothing, three times."""
    short, whole = entry(circus, "list", {FIRST: 0.5}), entry(circus, "ranks", {FIRST: 0.4})
    add_scores(short, {("CompositionGap", "Full"): None, ("ShortcutLeak@10", "Full"): 0.2}, condition="")
    assert "CompositionGap" not in page_reader.read(page(client)).first("thead").text
    assert "CompositionGap" in page_reader.read(page(client, "?columns=all")).first("thead").text
    add_scores(whole, {("CompositionGap", "Full"): 0.25}, condition="")
    head = page_reader.read(page(client)).first("thead").text
    assert 0 < head.index("CompositionGap") < head.index("ShortcutLeak")
    assert page_reader.ranked(page(client, "?sort=CompositionGap:Full"))[0] == ("2", "ranks")


def test_reported_rows_have_no_interval_and_a_switch_hides_them(client: Client, circus: SplitVersion) -> None:
    entry(circus, "printed", {FIRST: 0.9}, trust=Entry.Trust.REPORTED, pool_member=True)
    entry(circus, "scored", {FIRST: 0.5}, ranks_by_author=True)
    printed, scored = page_reader.board_rows(page(client))
    assert printed.marks == ["reported", "pool member"]
    assert scored.marks == ["file scored", "ranks by author"]
    assert (printed.cells[0], scored.cells[0]) == ("90.00", "50.00 49.00–51.00")
    assert page_reader.ranked(page(client, "?reported=hide")) == [("1", "scored")]


def test_what_the_test_cannot_tell_from_the_first_is_marked(client: Client, circus: SplitVersion) -> None:
    first = entry(circus, "first", {FIRST: 0.9})
    for name, distinct in (("alike", False), ("other", True)):
        made = entry(circus, name, {FIRST: 0.8 if distinct else 0.85})
        Comparison.objects.create(
            entry=made, first=first, difference=-0.05, p_value=0.2, p_adjusted=0.2, distinguishable=distinct
        )
    marked = {row.method: "≈ first" in row.marks for row in page_reader.board_rows(page(client))}
    assert marked == {"first": False, "alike": True, "other": False}
    assert [row["distinguishable_from_first"] for row in rows_of_api(client)] == [None, False, True]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?supervision=supervised", ["b"]),
        ("?training_overlap=cirr-train", ["b"]),
        ("?training_overlap=none", ["a"]),
        ("?weights=not-said", ["c"]),
        ("?trust=reported", ["c"]),
        ("?supervision=zero-shot&trust=file", ["a"]),
        ("?system=nonsense", ["a", "b", "c"]),
        ("?page=x&condition=y&sort=z", ["a", "b", "c"]),
    ],
)
def test_filters(client: Client, circus: SplitVersion, query: str, expected: list[str]) -> None:
    entry(circus, "a", {FIRST: 0.9})
    overlap = {"supervision": "supervised", "training_overlap": ["cirr-train", "m-beir"], "weights": "api"}
    entry(circus, "b", {FIRST: 0.8}, declared=overlap)
    entry(circus, "c", {FIRST: 0.7}, declared={}, trust=Entry.Trust.REPORTED)
    assert [row.method for row in page_reader.board_rows(page(client, query))] == expected
    assert [row["entry"]["method"] for row in rows_of_api(client, query)] == expected


def test_every_link_of_the_table_keeps_the_rest_of_the_state(client: Client, circus: SplitVersion) -> None:
    entry(circus, "a", {FIRST: 0.9})
    state = "?sort=-Recall_any%4010%3AV&supervision=zero-shot&reported=hide&columns=all"
    head = page_reader.read(page(client, state)).first("table", "board").first("thead")
    for link in head.all("a"):
        href = link.attributes["href"]
        if href.startswith("?"):
            assert "supervision=zero-shot&reported=hide&columns=all" in href
    assert board_query.read({"sort": "-x", "page": "2"}).query_string() == "?sort=-x&page=2"


def test_the_condition_shown_can_be_changed_and_the_rank_stays(client: Client, circus: SplitVersion) -> None:
    for name, value, alone in (("a", 0.9, 0.1), ("b", 0.8, 0.6)):
        made = entry(circus, name, {FIRST: value})
        add_scores(made, {FIRST: alone}, condition="text-only")
    shown = page_reader.board_rows(page(client, "?condition=text-only&sort=Recall_any@10:V"))
    assert [(row.rank, row.method, row.cells[0].split()[0]) for row in shown] == [
        ("2", "b", "60.00"),
        ("1", "a", "10.00"),
    ]


def test_categories_are_columns_of_fashioniq(client: Client) -> None:
    version = frozen("fashioniq-val", "fashioniq")
    made = entry(version, "m", {("Mean(Macro(Recall@10),Macro(Recall@50))", "Full"): 0.4})
    for value, category in ((0.1, "dress"), (0.2, "shirt")):
        add_scores(made, {("Recall@10", "Full"): value}, group=f"category={category}")
    answer = client.get("/boards/fashioniq-val/?sort=Recall@10:Full:category%3Dshirt").content.decode()
    assert page_reader.board_rows(answer)[0].cells == ["40.00 39.00–41.00", "10.00 9.00–11.00", "20.00 19.00–21.00"]


def test_older_versions_leave_the_board_and_keep_their_page(client: Client, circus: SplitVersion) -> None:
    """Decision 32."""
    old = entry(circus, "old", {FIRST: 0.9})
    frozen("demo-circus", "circus-multi", licence="another")
    assert page_reader.ranked(page(client)) == []
    answer = client.get(f"/entries/{old.public_id}/").content.decode()
    assert "version 1 of the split; the board shows version 2" in page_reader.read(answer).text


def test_names_are_text_and_only_web_addresses_become_links(client: Client, circus: SplitVersion) -> None:
    """Public report A26."""
    name, team = "<img src=x onerror=alert(1)>", "<b>x</b> & </script>"
    owner = user("a@example.org", team)
    bad = {"code_url": "javascript:alert(1)", "paper_url": 'https://example.org/"><script>'}
    made = entry(circus, name, {FIRST: 0.9}, team=personal_team(owner), method=bad)
    for address in ("/", "/boards/demo-circus/", f"/entries/{made.public_id}/"):
        answer = client.get(address).content.decode()
        assert markup.escape(name) in answer
        assert name not in answer
        assert team not in answer
        tree = page_reader.read(answer)
        assert not [link for link in tree.all("a") if link.attributes["href"].startswith("javascript")]
        for link in tree.all("a"):
            if link.attributes["href"].startswith("http") and "example.org" in link.attributes["href"]:
                assert link.attributes["rel"] == "nofollow noopener"


@pytest.mark.parametrize(
    "address", ["/boards/demo-circus/?columns=all", "/api/v1/boards/demo-circus/", "/", "/boards/demo-circus/about/"]
)
def test_the_number_of_queries_does_not_grow_with_the_rows(
    client: Client, circus: SplitVersion, address: str, django_assert_max_num_queries: Any
) -> None:
    """Public report A22, decision in architecture.md 5.9."""

    def queries() -> int:
        with django_assert_max_num_queries(12) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    owner = personal_team(user("a@example.org"))
    made = [entry(circus, f"m{number}", {FIRST: number / 10}, team=owner) for number in range(2)]
    Comparison.objects.create(
        entry=made[0], first=made[1], difference=0, p_value=1, p_adjusted=1, distinguishable=False
    )
    few = queries()
    for number in range(15):
        entry(circus, f"n{number}", {FIRST: number / 20}, team=owner)
    assert queries() == few


def test_a_long_board_has_pages_and_ranks_run_on(
    client: Client, circus: SplitVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board, "ROWS_PER_PAGE", 2)
    for number in range(5):
        entry(circus, f"m{number}", {FIRST: 1 - number / 10})
    assert page_reader.ranked(page(client, "?page=2")) == [("3", "m2"), ("4", "m3")]
    assert [link.text for link in page_reader.read(page(client)).first("nav", "pages").all("a")] == ["1", "2", "3"]
    answer = client.get("/api/v1/boards/demo-circus/?limit=2&offset=2").json()
    assert (answer["count"], [row["rank"] for row in answer["results"]]) == (5, [3, 4])


def test_what_is_no_board_is_not_found(client: Client, circus: SplitVersion) -> None:
    assert client.get("/boards/nothing/").status_code == 404
    assert client.get("/api/v1/boards/nothing/").status_code == 404
    assert ordering.load_board("demo-circus").version == circus
