"""How numbers are written, and how the entries of a board are compared with its first one (decisions 7, 17, 18)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sending import good_ranking, ranking, work

from evaluator.intervals import holm
from evaluator.measures import cells
from leaderboard.models import Comparison
from leaderboard.services import entries
from submissions.services import publication


@pytest.mark.parametrize(
    ("measure", "value", "shown"),
    [
        ("Recall@10", 0.55161, "55.16"),
        ("mAP@5", 1.0, "100.00"),
        ("mAP@5", 0.0, "0.00"),
        ("DeltamAP@10", -0.000001, "0.00"),
        ("DeltamAP@10", -0.0123, "-1.23"),
        ("MultiRatio(mAP@10)", 4.83582, "4.836"),
    ],
)
def test_cells(measure: str, value: float, shown: str) -> None:
    assert cells.cell(measure, value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-10, max_value=10))
def test_a_cell_is_within_half_a_unit_of_its_value(value: float) -> None:
    shown = cells.cell("mAP@10", value)
    assert abs(float(shown) - 100 * value) <= 0.005 + 1e-9
    assert shown != "-0.00"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nothing_that_is_not_finite_is_shown(value: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        cells.cell("Recall@10", value)
    with pytest.raises(ValueError, match="not finite"):
        cells.interval("Recall@10", 0.1, value)


def test_intervals() -> None:
    assert cells.interval("Recall@10", 0.5, 0.625) == "50.00–62.50"
    assert cells.interval("MultiDrop(mAP@10)", -0.0267, 0.0447) == "-2.67 to 4.47", "no dash beside a minus sign"
    assert cells.interval("Recall@10", None, None) == ""


@pytest.fixture
def published(send: Callable[..., Any], board: Any) -> list[Any]:
    """Four published submissions, the best first; the last two are the same ranking."""
    lists = [good_ranking(board.content), ranking(board.content, 1), ranking(board.content, 2)]
    sent = [send(lists=rows, method_name=f"m{n}").submission for n, rows in enumerate([*lists, lists[-1]])]
    work()
    for submission in sent:
        publication.publish(submission)
    return [submission.evaluations.get().entry for submission in sent]


def _contribution_by_hand(board: Any, lists: dict[str, list[str]]) -> np.ndarray[Any, Any]:
    """AP@5 of every query, naively."""
    values = []
    for position, query in enumerate(board.content.query_ids):
        lines = board.content.judgments.positive & (board.content.judgments.query == position)
        right = {board.content.images[image] for image in board.content.judgments.image[lines]}
        hits, total = 0, 0.0
        for rank, image in enumerate(lists[query][:5], start=1):
            if image in right:
                hits += 1
                total += hits / rank
        values.append(total / min(len(right), 5))
    return np.array(values)


@pytest.mark.django_db
def test_comparisons_agree_with_the_exact_test(published: list[Any], board: Any) -> None:
    """An oracle by enumeration: all 2^12 sign flips of the twelve queries' differences."""
    assert entries.refresh_comparisons(board.split)
    assert Comparison.objects.count() == 3
    first = _contribution_by_hand(board, good_ranking(board.content))
    for entry, seed in zip(published[1:], (1, 2, 2), strict=True):
        difference = _contribution_by_hand(board, ranking(board.content, seed)) - first
        signs = np.array(list(itertools.product((-1, 1), repeat=len(difference))))
        exact = np.mean(np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12)
        row = Comparison.objects.get(entry=entry)
        assert row.first == published[0]
        assert row.difference == pytest.approx(difference.mean(), abs=1e-12)
        assert row.p_value == pytest.approx(exact, abs=0.01)
    rows = list(Comparison.objects.order_by("pk"))
    assert [row.p_adjusted for row in rows] == holm([row.p_value for row in rows])
    assert all(row.distinguishable == (row.p_adjusted < 0.05) for row in rows)


@pytest.mark.django_db
def test_comparing_again_does_nothing_until_the_board_changes(published: list[Any], board: Any) -> None:
    assert entries.stale_comparisons() == [board.split]
    assert entries.refresh_comparisons(board.split)
    assert entries.stale_comparisons() == []
    assert not entries.refresh_comparisons(board.split)
    publication.withdraw(published[0].evaluation.submission)
    assert entries.stale_comparisons() == [board.split]
    assert entries.refresh_comparisons(board.split)
    assert {row.first.pk for row in Comparison.objects.all()} <= {entry.pk for entry in published[1:]}
    assert not Comparison.objects.filter(entry=published[0]).exists()


@pytest.mark.django_db
def test_identical_entries_differ_by_exactly_nothing(published: list[Any], board: Any) -> None:
    """Public report A21."""
    publication.withdraw(published[0].evaluation.submission)
    publication.withdraw(published[1].evaluation.submission)
    entries.refresh_comparisons(board.split)
    row = Comparison.objects.get()
    assert (row.difference, row.p_value, row.distinguishable) == (0.0, 1.0, False)


@pytest.mark.django_db
def test_a_board_with_one_entry_has_nothing_to_compare(send: Callable[..., Any], board: Any) -> None:
    submission = send().submission
    work()
    publication.publish(submission)
    assert not entries.refresh_comparisons(board.split)
    assert entries.stale_comparisons() == []


@pytest.mark.django_db
def test_a_withdrawn_first_is_named_on_nobodys_page(published: list[Any], board: Any, client: Any) -> None:
    """Decision 31: with no worker to compare anew, the pages of others went on naming it."""
    entries.refresh_comparisons(board.split)
    page = f"/entries/{published[1].public_id}/"
    first = str(published[0].public_id)
    assert first in client.get(page).content.decode()
    publication.withdraw(published[0].evaluation.submission)
    assert first not in client.get(page).content.decode()
    assert "first scored entry" not in client.get(f"/boards/{board.split.slug}/").content.decode()
    assert not Comparison.objects.exists()
