"""Vector files: every format reads to the same vectors, in the split's order, and whatever else is a fault."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.format_splits import COCO, make_split
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vectors.vector_writers import WRITERS, Matrix, bfloat16, npy, npz, npz_compressed, safetensors

from evaluator.errors import EvaluatorError, Fault, SubmissionError
from evaluator.types import Condition, Embeddings, Similarity, Split
from evaluator.vectors import VectorFile, VectorLimits, read_embeddings

QUERIES = ("q1", "q2", "q3")
IMAGES = tuple("abcdefgh")
SPLIT = make_split(QUERIES, IMAGES, positives={0: "bc", 1: "ae", 2: "h"}, aliases={"one": 0})
MULTIMODAL = Condition.MULTIMODAL


def numbers(rows: int, width: int = 5, seed: int = 0, dtype: str = "<f4") -> Matrix:
    """Small whole numbers, which every type holds exactly."""
    found = np.random.default_rng(seed).integers(1, 100, (rows, width))
    return found.astype(dtype)


@pytest.fixture
def gallery(tmp_path: Path) -> VectorFile:
    return npz(tmp_path / "gallery", numbers(8, seed=1), IMAGES)


@pytest.fixture
def queries(tmp_path: Path) -> VectorFile:
    return npz(tmp_path / "queries", numbers(3), QUERIES)


def read(gallery: VectorFile, queries: VectorFile, split: Split = SPLIT, **more: Any) -> Embeddings:
    return read_embeddings(gallery, {MULTIMODAL: queries}, split, **more)[MULTIMODAL]


def faults(gallery: VectorFile, queries: VectorFile, split: Split = SPLIT, **more: Any) -> list[Fault]:
    with pytest.raises(SubmissionError) as caught:
        read(gallery, queries, split, **more)
    return list(caught.value.faults)


def codes(gallery: VectorFile, queries: VectorFile, **more: Any) -> list[tuple[str, str]]:
    return [(fault.code, fault.place) for fault in faults(gallery, queries, **more)]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["<C", ">C", "<F", ">F"])
@pytest.mark.parametrize("writer", WRITERS)
def test_every_format_type_and_order(tmp_path: Path, queries: VectorFile, writer: str, order: str, dtype: str) -> None:
    matrix = np.array(numbers(8, seed=1), dtype=f"{order[0]}{dtype}", order="C" if order[1] == "C" else "F")
    shuffled = np.random.default_rng(2).permutation(8)
    mixed = np.array(matrix[shuffled], dtype=matrix.dtype, order="C" if order[1] == "C" else "F")
    for rows, ids in ((matrix, IMAGES), (mixed, [IMAGES[i] for i in shuffled])):
        found = read(WRITERS[writer](tmp_path / "gallery", rows, ids), queries)
        assert found.gallery.tolist() == matrix.tolist()
        assert found.gallery.dtype.itemsize == matrix.dtype.itemsize


def test_bfloat16_is_widened_without_loss(tmp_path: Path, queries: VectorFile) -> None:
    values = np.array([[1.0, -2.5, 3e38, 1e-30, 0.15625]] * 8, dtype=np.float32)
    exact = (values.view("<u4") >> 16 << 16).view("<f4")
    assert read(bfloat16(tmp_path / "gallery", values, IMAGES), queries).gallery.tolist() == exact.tolist()


@pytest.mark.parametrize("writer", [npz, npy, safetensors])
def test_what_lies_in_order_is_mapped_and_not_read(tmp_path: Path, queries: VectorFile, writer: Any) -> None:
    found = read(writer(tmp_path / "gallery", numbers(8, seed=1), IMAGES), queries)
    assert isinstance(found.gallery, np.memmap)


def test_other_spellings_of_ids(tmp_path: Path) -> None:
    split = make_split(["0", "1"], ["5", "7", "12"], aliases={"first": 0}, prefix="img_")
    gallery = npy(tmp_path / "gallery", numbers(3, seed=1), ["img_12", "5", "7"])
    with (tmp_path / "queries").open("wb") as opened:
        np.savez(opened, vectors=numbers(2), ids=np.array([1, 0]))
    found = read(gallery, VectorFile(tmp_path / "queries"), split)
    assert found.queries.tolist() == numbers(2)[::-1].tolist()
    assert found.gallery.tolist() == numbers(3, seed=1)[[0, 1, 2]][[0, 1, 2]].tolist()
    assert read(gallery, npy(tmp_path / "aliased", numbers(2), ["first", "1"]), split).queries.shape == (2, 5)


def test_images_of_no_gallery_may_be_missing_or_anything(tmp_path: Path, queries: VectorFile) -> None:
    split = make_split(QUERIES, IMAGES, galleries={"some": "abcdefg"})
    without = npz(tmp_path / "without", numbers(7, seed=1), IMAGES[:-1])
    assert read(without, queries, split).gallery.shape == (8, 5)
    rows = numbers(8, seed=1)
    rows[7] = np.nan
    assert read(npz(tmp_path / "anything", rows, IMAGES), queries, split).gallery.shape == (8, 5)


def test_ids_that_are_missing_extra_or_repeated(tmp_path: Path, gallery: VectorFile) -> None:
    """A32: both rows of a repeated id are told, and an id that is nearly right is named."""
    wrong = npy(tmp_path / "wrong", numbers(5, seed=1), ["q1", "q9", "q2", "q1", "q2.jpg"])
    found = faults(gallery, wrong)
    assert [(fault.code, fault.place, fault.found) for fault in found] == [
        ("unknown-query", "row 1", '"q9"'),
        ("unknown-query", "row 4", '"q2.jpg"'),
        ("vector-repeated", "row 3", '"q1", as on row 0'),
        ("vector-missing", 'query "q3"', "no vector"),
    ]
    assert {fault.file for fault in found} == {"wrong"}
    images = npy(tmp_path / "images", numbers(7, seed=1), ["a.jpg", *IMAGES[1:7]])
    told = faults(images, wrong)
    assert [(f.code, f.place) for f in told[:3]] == [
        ("image-suffix", "row 0"),
        ("vector-missing", 'image "a"'),
        ("vector-missing", 'image "h"'),
    ]
    assert told[0].remedy == 'Did you mean "a"?'
    assert len(told) == 7


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e39])
def test_numbers_that_float32_cannot_hold_are_named_by_the_row_of_the_file(
    tmp_path: Path, queries: VectorFile, number: float
) -> None:
    """A13, A27: the row is the file's, whatever the order of the split."""
    rows = numbers(8, seed=1, dtype="<f8")
    rows[2, 1] = number
    wrong = npz(tmp_path / "wrong", rows, IMAGES[::-1])
    assert codes(wrong, queries) == [("vector-not-finite", 'row 2 ("f")')]


def test_a_zero_vector_has_no_cosine_but_an_inner_product(tmp_path: Path, queries: VectorFile) -> None:
    rows = numbers(8, seed=1)
    rows[7] = 0
    wrong = npz(tmp_path / "wrong", rows, IMAGES)
    assert codes(wrong, queries) == [("vector-zero", 'row 7 ("h")')]
    assert read(wrong, queries, similarity=Similarity.INNER_PRODUCT).gallery[7].tolist() == [0] * 5


def test_vectors_of_two_lengths(tmp_path: Path, gallery: VectorFile) -> None:
    (fault,) = faults(gallery, npz(tmp_path / "short", numbers(3, 4), QUERIES))
    assert (fault.code, fault.file, fault.found) == ("vector-dimension", "short", "4 coordinates, and 5 in the gallery")


@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        (np.ones((3, 5), dtype=np.int64), "vector-type"),
        (np.ones((3, 5), dtype=np.complex64), "vector-type"),
        (np.ones((3, 5), dtype=np.longdouble), "vector-type"),
        (np.array([["a"] * 5] * 3), "vector-type"),
        (np.ones(3), "vector-dimension"),
        (np.ones((3, 0)), "vector-dimension"),
        (np.ones((3, 5, 2)), "vector-dimension"),
        (np.ones((2, 5)), "vector-ids"),
        (np.ones((0, 5)), "vector-ids"),
    ],
)
@pytest.mark.parametrize("writer", [npy, npz, npz_compressed])
def test_arrays_that_are_no_vectors(tmp_path: Path, gallery: VectorFile, writer: Any, matrix: Any, code: str) -> None:
    assert codes(gallery, writer(tmp_path / "wrong", matrix, QUERIES))[0][0] == code


def test_vectors_without_ids(tmp_path: Path, gallery: VectorFile) -> None:
    bare = npy(tmp_path / "bare", numbers(3), QUERIES)
    assert codes(gallery, replace(bare, ids=None)) == [("vector-ids", "")]
    ids = tmp_path / "ids.json"
    for text, code in (('{"q1": 0}', "vector-ids"), ('["q1", 2.5, null]', "wrong-id-type"), ("[", "truncated")):
        ids.write_text(text if text != "[" else '["q1",')
        assert codes(gallery, replace(bare, ids=ids))[0][0] == code


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.sentinel),)


@pytest.mark.parametrize("shape", ["npy", "npz-vectors", "npz-ids", "pickle", "torch"])
def test_nothing_is_ever_unpickled(tmp_path: Path, gallery: VectorFile, shape: str) -> None:
    """A25: whatever the name says, a file that holds a pickle leaves no trace but its fault."""
    sentinel, path = tmp_path / "sentinel", tmp_path / "vectors.npz"
    trap = np.array([[Trap(sentinel)]] * 3, dtype=object)
    with path.open("wb") as opened:
        if shape == "npy":
            np.save(opened, trap, allow_pickle=True)
        elif shape == "npz-vectors":
            np.savez(opened, vectors=trap, ids=np.array(QUERIES))
        elif shape == "npz-ids":
            np.savez(opened, vectors=numbers(3), ids=trap[:, 0])
        elif shape == "pickle":
            pickle.dump(Trap(sentinel), opened)
        else:
            with zipfile.ZipFile(opened, "w") as archive:
                archive.writestr("archive/data.pkl", pickle.dumps(Trap(sentinel)))
    assert codes(gallery, VectorFile(path))[0][0] == "vector-objects"
    assert not sentinel.exists()
    with contextlib.suppress(ValueError):
        pickle.loads(pickle.dumps(Trap(sentinel)))
    assert sentinel.exists(), "the trap works"


def test_a_header_beyond_the_limits_is_refused_before_any_data(tmp_path: Path, gallery: VectorFile) -> None:
    path = tmp_path / "large.npy"
    for shape, words in (((10**7, 5), "rows"), ((5, 10**5), "coordinates"), ((2 * 10**6, 16_000), "bytes")):
        with path.open("wb") as opened:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(opened, header)
        (fault,) = faults(gallery, VectorFile(path))
        assert (fault.code, fault.found.split()[1]) == ("vector-too-large", words)


def test_a_small_archive_that_says_it_is_large(tmp_path: Path, gallery: VectorFile) -> None:
    path = tmp_path / "bomb.npz"
    with path.open("wb") as opened:
        np.savez_compressed(opened, vectors=np.zeros((200_000, 10), dtype=np.float32), ids=np.array(QUERIES))
    limits = VectorLimits(array_bytes=1_000_000)
    assert codes(gallery, VectorFile(path), limits=limits) == [("vector-too-large", "")]


def test_what_is_no_file_of_vectors(tmp_path: Path, gallery: VectorFile) -> None:
    path = tmp_path / "file"
    for content, code in (
        (b"", "empty-file"),
        (b"query,image,rank\n", "vector-format"),
        (b"\x93NUMPY\x03\x00", "vector-damaged"),
        (b"PK\x03\x04", "vector-damaged"),
        (b"PAR1PAR1", "vector-damaged"),
        (struct.pack("<Q", 2) + b"{}", "vector-format"),
        (struct.pack("<Q", 2) + b"{]", "vector-damaged"),
    ):
        path.write_bytes(content)
        assert codes(gallery, VectorFile(path))[0][0] == code, content


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"dtype": "I64"}, "vector-type"),
        ({"shape": [3, 6]}, "vector-damaged"),
        ({"shape": [-3, -5]}, "vector-damaged"),
        ({"shape": [15]}, "vector-dimension"),
        ({"shape": None}, "vector-damaged"),
        ({"data_offsets": [60, 120]}, "vector-damaged"),
        ({"data_offsets": [-60, 0]}, "vector-damaged"),
        ({"data_offsets": [0]}, "vector-damaged"),
    ],
)
def test_tensors_that_lie(tmp_path: Path, gallery: VectorFile, change: dict[str, Any], code: str) -> None:
    import json

    tensor = {"dtype": "F32", "shape": [3, 5], "data_offsets": [0, 60], **change}
    header = json.dumps({"vectors": tensor, "__metadata__": {"ids": json.dumps(QUERIES)}}).encode()
    path = tmp_path / "lies"
    path.write_bytes(struct.pack("<Q", len(header)) + header + numbers(3).tobytes())
    assert codes(gallery, VectorFile(path))[0][0] == code


def test_the_faults_of_all_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "none").write_bytes(b"")
    (tmp_path / "text").write_bytes(b"no vectors")
    found = faults(VectorFile(tmp_path / "none"), VectorFile(tmp_path / "text"))
    assert [(fault.file, fault.code) for fault in found] == [("none", "empty-file"), ("text", "vector-format")]


def test_an_open_gallery_cannot_be_ranked(gallery: VectorFile, queries: VectorFile) -> None:
    opened = make_split(["0"], ["5", "7"], pattern=COCO)
    with pytest.raises(EvaluatorError, match="is open"):
        read(gallery, queries, opened)


@pytest.mark.parametrize("writer", WRITERS)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_bytes_are_faults_or_still_vectors(
    tmp_path: Path, gallery: VectorFile, writer: str, data: st.DataObject
) -> None:
    file = WRITERS[writer](tmp_path / "damaged", numbers(3), QUERIES)
    whole = file.path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    damaged = data.draw(
        st.sampled_from([whole[:at], whole[:at] + b"\xff" + whole[at + 1 :], whole[:at] + b"0" + whole[at:]])
    )
    file.path.write_bytes(damaged)
    with contextlib.suppress(SubmissionError):
        assert read(gallery, file).queries.shape == (3, 5)


@pytest.mark.parametrize("writer", ["parquet", "npz", "npz_compressed"])
def test_ids_that_are_no_text_are_a_fault(tmp_path: Path, gallery: VectorFile, writer: str) -> None:
    """Parquet and NumPy only claim that their text is Unicode; a damaged id once ended in a traceback."""
    file = WRITERS[writer](tmp_path / "damaged", numbers(3), QUERIES)
    whole = file.path.read_bytes()
    for at in range(len(whole)):
        for value in (b"\xff", b"\x80"):
            file.path.write_bytes(whole[:at] + value + whole[at + 1 :])
            with contextlib.suppress(SubmissionError):
                assert read(gallery, file).queries.shape == (3, 5)
