"""Whatever the format and the wrapper, the same ranking is read; and no damage makes a reader fail in any other way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from formats.format_splits import make_split
from formats.writers import WRAPPERS, WRITERS, Lists, lists_of, read
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator import protocols
from evaluator.errors import SubmissionError
from evaluator.types import Split

_NAMES = st.text("abcXYZ019_-.,;:'\"é漢", min_size=1, max_size=9)
_NUMBERS = st.integers(0, 999_999).map(str)


@st.composite
def rankings(draw: st.DrawFn, numeric: bool) -> tuple[Split, Lists]:
    """A split and lists for all of its queries; CIRCO's shape needs numbers for both."""
    ids = _NUMBERS if numeric else _NAMES
    images = draw(st.lists(ids, min_size=5, max_size=12, unique=True))
    queries = draw(st.lists(ids, min_size=1, max_size=6, unique=True))
    if numeric:
        queries = [str(position) for position in range(len(queries))]
    length = draw(st.integers(1, len(images)))
    split = make_split(queries, images, protocol=replace(protocols.CIRCO, list_length=length))
    orders = {query: draw(st.permutations(images)) for query in draw(st.permutations(queries))}
    return split, {query: order[: draw(st.integers(length, len(images)))] for query, order in orders.items()}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("writer", WRITERS)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_every_format_reads_to_the_same_ranking(writer: str, wrapper: str, data: st.DataObject) -> None:
    split, lists = data.draw(rankings(numeric=writer == "circo"))
    ranking = read(split, WRAPPERS[wrapper](WRITERS[writer](lists)))
    expected = writer.removesuffix("-scores")
    assert ranking.format in (expected, "circo" if expected == "json" else expected)  # plain JSON may look like CIRCO's
    assert lists_of(ranking, split) == {query: list(lists[query]) for query in split.query_ids}


@pytest.mark.parametrize("writer", WRITERS)
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_damaged_bytes_are_a_fault_or_still_a_ranking(writer: str, data: st.DataObject) -> None:
    split, lists = data.draw(rankings(numeric=writer == "circo"))
    wrapper = data.draw(st.sampled_from(sorted(WRAPPERS)))
    _read_damaged(split, data.draw(_damaged(WRAPPERS[wrapper](WRITERS[writer](lists)))))


@given(st.binary(max_size=300))
@example(b"PK\x05\x06" + bytes(18))
@example(b"\x1f\x8b")
@settings(max_examples=200, deadline=None)
def test_arbitrary_bytes_are_a_fault(content: bytes) -> None:
    _read_damaged(make_split(["0", "1"], list("abcdef")), content)


@st.composite
def _damaged(draw: st.DrawFn, content: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 12)))
        piece = draw(
            st.sampled_from([b"", b"\0", b'"', b"]", b"{", b",", b"\n", b"NaN", b"1e5", b"\xff", b"\\u", b"null"])
        )
        content = content[:start] + piece + content[draw(st.sampled_from([start, end])) :]
    return content


def _look_at(error: SubmissionError) -> None:
    assert 1 <= len(error.faults) <= 100
    assert all(fault.remedy for fault in error.faults)


def _read_damaged(split: Split, content: bytes) -> None:
    try:
        ranking = read(split, content)
    except SubmissionError as error:
        _look_at(error)
        return
    for row, length in zip(ranking.images, ranking.length, strict=True):
        assert len(np.unique(row[:length])) == length >= split.protocol.list_length
        assert (row[:length] >= 0).all()
