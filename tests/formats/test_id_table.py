"""The hash table of ids answers as a dictionary does, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.id_table import IdTable

_IDS = st.text("ab01_", min_size=1, max_size=20)


@given(st.lists(_IDS, min_size=1, max_size=60, unique=True), st.data())
def test_known_ids_are_found(names: list[str], data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=80))
    found = IdTable(names).find(asked)
    assert found is not None
    assert [names[position] for position in found] == asked


@given(st.lists(_IDS, min_size=1, max_size=20, unique=True), _IDS)
def test_one_unknown_id_leaves_it_to_the_dictionary(names: list[str], other: str) -> None:
    found = IdTable(names).find([*names, other])
    assert (found is None) == (other not in names)


@pytest.mark.parametrize("other", [7, True, None, 7.0, ["7"], "7\0", "7" + "x" * 40, "7" * 9, "é", "\ud800", ""])
def test_what_only_looks_like_a_known_id_is_not_one(other: object) -> None:
    """NumPy's byte strings cut long text and forget zero bytes at the end: neither may turn into an id."""
    assert IdTable(["7", "7" * 8]).find(["7", other]) is None


@pytest.mark.parametrize("names", [["é", "b"], ["a\0", "b"], ["x" * 200, "b"], []])
def test_galleries_that_it_cannot_hold(names: list[str]) -> None:
    assert IdTable(names).find(["b"]) is None
