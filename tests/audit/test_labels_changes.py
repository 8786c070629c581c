"""Two labellings side by side: which queries moved, where to, and because of which model or of K (decision 40)."""

from __future__ import annotations

import pytest
from hypothesis import given
from members_made import Ranks, frozen, member, pools

from evaluator.audit.changes import Move, flow, moves
from evaluator.audit.influence import leave_one_out
from evaluator.audit.labels import Labelling, label
from evaluator.errors import EvaluatorError

FAR = (50, 50, 50)
COMPOSED, TEXT, IMAGE, BOTH = (1, 50, 50), (50, 1, 50), (50, 50, 1), (50, 1, 1)
OLD = member("old", [COMPOSED, COMPOSED, FAR, FAR, TEXT, TEXT])


def _moved(before: Labelling, after: Labelling) -> dict[int, tuple[str, str, tuple[str, ...]]]:
    return {move.query: (move.before, move.after, move.because) for move in moves(before, after)}


def test_a_new_model_moves_what_it_solves_and_nothing_else() -> None:
    new = member("new", [FAR, IMAGE, COMPOSED, FAR, IMAGE, TEXT])
    assert _moved(label([OLD]), label([OLD, new])) == {
        1: ("composition-required", "shortcut (image)", ("new",)),
        2: ("unresolved", "composition-required", ("new",)),
        4: ("shortcut (text)", "shortcut (both)", ("new",)),
    }


def test_of_two_new_models_those_are_named_that_decide() -> None:
    one = member("one", [FAR, IMAGE, COMPOSED, FAR, TEXT, FAR])
    two = member("two", [TEXT, IMAGE, FAR, FAR, IMAGE, FAR])
    assert _moved(label([OLD]), label([OLD, one, two])) == {
        0: ("composition-required", "shortcut (text)", ("two",)),
        1: ("composition-required", "shortcut (image)", ("one", "two")),
        2: ("unresolved", "composition-required", ("one",)),
        4: ("shortcut (text)", "shortcut (both)", ("two",)),  # the text was solved before
    }


def test_a_model_that_was_taken_out_is_named_where_nobody_else_solves_it() -> None:
    leaving = member("leaving", [FAR, IMAGE, COMPOSED, FAR, TEXT, BOTH])
    assert _moved(label([OLD, leaving]), label([OLD])) == {
        1: ("shortcut (image)", "composition-required", ("leaving",)),
        2: ("composition-required", "unresolved", ("leaving",)),
        5: ("shortcut (both)", "shortcut (text)", ("leaving",)),
    }


def test_of_an_exchange_both_are_named_where_both_matter() -> None:
    gone, came = member("gone", [TEXT, TEXT]), member("came", [IMAGE, TEXT])
    assert _moved(label([gone]), label([came])) == {0: ("shortcut (text)", "shortcut (image)", ("came", "gone"))}


def test_another_k_is_named_where_no_model_came_or_went() -> None:
    pool = [member("a", [(15, 50, 50), (1, 15, 50), (1, 9, 15), FAR])]
    because = ("K = 20 instead of 10",)
    assert _moved(label(pool), label(pool, 20)) == {
        0: ("unresolved", "composition-required", because),
        1: ("composition-required", "shortcut (text)", because),
        2: ("shortcut (text)", "shortcut (both)", because),
    }


def test_a_new_model_is_not_named_for_what_another_k_alone_changed() -> None:
    """The model that was there has rank 15 too: at K = 20 the text solves query 0 with or without the new one."""
    old, new = member("old", [(1, 15, 50), FAR, (1, 50, 50)]), member("new", [(1, 16, 50), (17, 50, 50), (1, 50, 9)])
    assert _moved(label([old]), label([old, new], 20)) == {
        0: ("composition-required", "shortcut (text)", ("K = 20 instead of 10",)),
        1: ("unresolved", "composition-required", ("new",)),
        2: ("composition-required", "shortcut (image)", ("new",)),
    }


def test_a_new_model_after_a_frozen_pool_is_named() -> None:
    pool = frozen("CIRCUS pool", {"A": [COMPOSED, FAR, FAR], "B": [FAR, FAR, TEXT]}, 10)
    new = member("new", [TEXT, COMPOSED, TEXT])
    assert _moved(label([pool]), label([pool, new])) == {
        0: ("composition-required", "shortcut (text)", ("new",)),
        1: ("unresolved", "composition-required", ("new",)),
    }


def test_the_order_of_a_pool_moves_nothing() -> None:
    new = member("new", [FAR, IMAGE, COMPOSED, FAR, IMAGE, TEXT])
    assert moves(label([OLD, new]), label([new, OLD])) == ()


def test_flow_counts_the_ways() -> None:
    new = member("new", [TEXT, IMAGE, COMPOSED, COMPOSED, FAR, FAR])
    assert flow(moves(label([OLD]), label([OLD, new]))) == {
        ("composition-required", "shortcut (text)"): 1,
        ("composition-required", "shortcut (image)"): 1,
        ("unresolved", "composition-required"): 2,
    }
    assert flow([Move(0, "a", "b", ()), Move(1, "a", "b", ("x",))]) == {("a", "b"): 2}


def test_labels_of_other_queries_are_not_compared() -> None:
    with pytest.raises(EvaluatorError, match="of 6 and of 1 queries"):
        moves(label([OLD]), label([member("old", [FAR])]))


def _every(pool: dict[str, Ranks], *without: str) -> Labelling:
    return label([member(name, ranks) for name, ranks in pool.items() if name not in without])


@given(pools(least=2))
def test_whoever_is_new_alone_is_the_reason_of_every_move(pool: dict[str, Ranks]) -> None:
    """And a query moves exactly when its words differ; a new model never takes a shortcut away."""
    newest = list(pool)[-1]
    before, after = _every(pool, newest), _every(pool)
    moved = moves(before, after)
    assert [move.query for move in moved] == [
        query for query in range(len(after)) if before.words(query) != after.words(query)
    ]
    assert all(move.because == (newest,) for move in moved)
    assert all(move.after.startswith("shortcut") or move.before == "unresolved" for move in moved)
    back = moves(after, before)
    assert [(move.query, move.after, move.before) for move in back] == [
        (move.query, move.before, move.after) for move in moved
    ]
    assert all(move.because == (newest,) for move in back)


@given(pools(least=2))
def test_leaving_one_out_changes_as_many_labels_as_queries_move(pool: dict[str, Ranks]) -> None:
    whole = _every(pool)
    for influence in leave_one_out(whole):
        moved = moves(whole, _every(pool, influence.name))
        assert influence.changed == sum(move.before.split(" ")[0] != move.after.split(" ")[0] for move in moved)


@given(pools(least=3))
def test_models_named_for_a_move_are_enough_for_it(pool: dict[str, Ranks]) -> None:
    """Of two models that came, those named alone bring the same label."""
    *_, one, two = pool
    before, after = _every(pool, one, two), _every(pool)
    for move in moves(before, after):
        assert move.because
        others = [name for name in (one, two) if name not in move.because]
        assert _every(pool, *others).words(move.query) == move.after
