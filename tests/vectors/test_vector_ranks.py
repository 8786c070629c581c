"""Ranks from files: whatever the format, type or order of a file, its ids say which vector is whose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from formats.format_splits import make_split
from vectors.vector_writers import WRITERS, Writer, bfloat16, npz

from evaluator.errors import SubmissionError
from evaluator.search import judged_ranks
from evaluator.types import Condition, Similarity
from evaluator.vectors import VectorFile, read_embeddings

QUERIES, IMAGES = ("q1", "q2", "q3"), tuple("abcdefghij")
SPLIT = make_split(QUERIES, IMAGES, positives={0: "bcj", 1: "ae", 2: "h"})
RANDOM = np.random.default_rng(0)
LEFT, RIGHT = (RANDOM.integers(-20, 21, (rows, 7)) / 8 for rows in (3, 10))
"""Eighths up to 2.5, which float16 and bfloat16 hold exactly."""
MULTIMODAL = Condition.MULTIMODAL


def ranks(gallery: VectorFile, queries: VectorFile, similarity: Similarity = Similarity.COSINE) -> list[int]:
    read = read_embeddings(gallery, {MULTIMODAL: queries}, SPLIT, similarity=similarity)[MULTIMODAL]
    found: list[int] = judged_ranks(read, SPLIT).rank.tolist()
    return found


@pytest.fixture
def queries(tmp_path: Path) -> VectorFile:
    return npz(tmp_path / "queries", LEFT, QUERIES)


@pytest.mark.parametrize("similarity", list(Similarity))
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["<C", ">C", "<F", ">F"])
@pytest.mark.parametrize("writer", WRITERS)
def test_type_byte_order_and_memory_order_of_a_file_change_no_rank(
    tmp_path: Path, queries: VectorFile, writer: str, order: str, dtype: str, similarity: Similarity
) -> None:
    """A32: float64 once read as float32, and columns as rows."""
    expected = ranks(npz(tmp_path / "plain", RIGHT, IMAGES), queries, similarity)
    kind, memory = np.dtype(order[0] + dtype), "C" if order[1] == "C" else "F"
    left, right = (np.array(rows, dtype=kind, order=memory) for rows in (LEFT, RIGHT))  # type: ignore[call-overload]
    written = WRITERS[writer]
    found = ranks(written(tmp_path / "g", right, IMAGES), written(tmp_path / "q", left, QUERIES), similarity)
    assert found == expected


@pytest.mark.parametrize("writer", [bfloat16, *WRITERS.values()])
def test_a_file_in_another_order_has_the_same_ranks(tmp_path: Path, queries: VectorFile, writer: Writer) -> None:
    """A27, A31: the id counts and not the row; bfloat16 as the other types."""
    expected = ranks(npz(tmp_path / "plain", RIGHT, IMAGES), queries)
    order, turned = np.random.default_rng(1).permutation(10), [2, 0, 1]
    gallery = writer(tmp_path / "g", RIGHT[order].astype("<f4"), [IMAGES[row] for row in order])
    asked = writer(tmp_path / "q", LEFT[turned].astype("<f4"), [QUERIES[row] for row in turned])
    assert ranks(gallery, asked) == expected


def test_an_image_too_few_or_too_many_is_named(tmp_path: Path, queries: VectorFile) -> None:
    """A27: a gallery of another size is no gallery of this split."""
    with pytest.raises(SubmissionError) as caught:
        ranks(npz(tmp_path / "few", RIGHT[:9], IMAGES[:9]), queries)
    assert [fault.place for fault in caught.value.faults] == ['image "j"']
    with pytest.raises(SubmissionError) as caught:
        ranks(npz(tmp_path / "many", np.concatenate([RIGHT, RIGHT[:1]]), [*IMAGES, "zz"]), queries)
    assert [(fault.place, fault.found) for fault in caught.value.faults] == [("row 10", '"zz"')]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_query_that_is_not_finite_is_named(tmp_path: Path, number: float) -> None:
    """A13, A31: it never reaches the search, whose -1 would be the last image."""
    wrong = LEFT.copy()
    wrong[1, 3] = number
    with pytest.raises(SubmissionError) as caught:
        ranks(npz(tmp_path / "g", RIGHT, IMAGES), npz(tmp_path / "q", wrong, QUERIES))
    assert [(fault.code, fault.place) for fault in caught.value.faults] == [("vector-not-finite", 'row 1 ("q2")')]


def test_the_declared_similarity_is_applied(tmp_path: Path, queries: VectorFile) -> None:
    """A32: longer rows change nothing under cosine, and do under the inner product."""
    longer = RIGHT * np.where(np.arange(10) % 2, 1000.0, 1.0)[:, np.newaxis]
    plain, long = npz(tmp_path / "plain", RIGHT, IMAGES), npz(tmp_path / "long", longer, IMAGES)
    assert ranks(plain, queries) == ranks(long, queries)
    assert ranks(plain, queries, Similarity.INNER_PRODUCT) != ranks(long, queries, Similarity.INNER_PRODUCT)
