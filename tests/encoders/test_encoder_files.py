"""Vectors from files: looked up by id, in any order, and never somebody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.encoders import EncoderError, Picture, Query, Spec, open_encoder
from evaluator.encoders.conditions import under
from evaluator.encoders.files import files_digest
from evaluator.encoders.registry import Opening
from evaluator.types import Condition, Similarity
from evaluator.vectors import VectorFile

GALLERY = np.arange(12, dtype=np.float16).reshape(4, 3)
FILES = {"multimodal": "both.npz", "text-only": "text.npz"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a gallery and the queries of two conditions, rows in another order than they are asked."""
    np.savez(tmp_path / "gallery.npz", ids=["d", "c", "b", "7"], vectors=GALLERY)
    np.savez(tmp_path / "both.npz", ids=np.array([2, 1]), vectors=np.eye(3, dtype=np.float32)[:2])
    np.savez(tmp_path / "text.npz", ids=["1", "2"], vectors=np.eye(3)[1:])
    return tmp_path


def spec_with(revision: str = "mine", **options: Any) -> Spec:
    """Return the spec of that folder's files."""
    return Spec("mine", "files", "my model", revision, options={"gallery": "gallery.npz", "queries": FILES, **options})


QUERIES = [Query("1", (Picture("c"),), "in red", "find"), Query("2", (Picture("d"),), "")]


def test_vectors_are_found_by_id(folder: Path) -> None:
    """Of images in any order, of queries under each condition, a reference's black picture being nobody's."""
    encoder = open_encoder(spec_with(), Opening(folder=folder))
    found = encoder.encode_images([Picture("7"), Picture("d")])
    np.testing.assert_array_equal(found, GALLERY[[3, 0]].astype(np.float32))
    assert found.dtype == np.float32
    both = encoder.encode_queries(QUERIES, Condition.MULTIMODAL)
    np.testing.assert_array_equal(both, np.eye(3)[[1, 0]])
    text = encoder.encode_queries([under(query, Condition.TEXT_ONLY) for query in QUERIES], Condition.TEXT_ONLY)
    np.testing.assert_array_equal(text, np.eye(3)[[1, 2]])
    assert encoder.card.dimension == 3
    assert encoder.card.revision == "mine"
    assert encoder.batch > 1
    encoder.close()


def test_a_condition_without_a_file_is_said(folder: Path) -> None:
    """On the card before, as an error when it is asked for."""
    encoder = open_encoder(spec_with(conditions={"text-only": "the caption alone"}), Opening(folder=folder))
    assert encoder.card.conditions[Condition.TEXT_ONLY] == "the caption alone"
    assert "not available" in encoder.card.conditions[Condition.IMAGE_ONLY]
    with pytest.raises(EncoderError, match="image-only") as caught:
        encoder.encode_queries(QUERIES, Condition.IMAGE_ONLY)
    assert caught.value.code == "condition"


def test_a_digest_is_held_against_the_files(folder: Path) -> None:
    """Files that were computed anew under the old digest would pass for the old ones."""
    digest = files_digest([VectorFile(folder / name) for name in ("gallery.npz", "both.npz", "text.npz")])
    assert open_encoder(spec_with(digest.upper()), Opening(folder=folder)).card.revision == digest
    np.savez(folder / "text.npz", ids=["1", "2"], vectors=np.eye(3)[:2])
    with pytest.raises(EncoderError) as caught:
        open_encoder(spec_with(digest), Opening(folder=folder))
    assert caught.value.code == "wrong-revision"


def test_other_formats_and_lists_of_ids(folder: Path) -> None:
    """Whatever the site takes, with a list of ids beside an array that has none; and another similarity."""
    np.save(folder / "gallery.npy", GALLERY)
    (folder / "ids.txt").write_text("d\nc\nb\n7\n")
    spec = spec_with(gallery={"vectors": "gallery.npy", "ids": "ids.txt"}, similarity="inner product")
    encoder = open_encoder(spec, Opening(folder=folder, batch=2))
    np.testing.assert_array_equal(encoder.encode_images([Picture("b")]), GALLERY[2:3])
    assert encoder.card.similarity is Similarity.INNER_PRODUCT
    assert encoder.batch == 2


def test_a_missing_vector_is_named(folder: Path) -> None:
    """With its file and how many more there are: half a gallery would rank as a whole one."""
    encoder = open_encoder(spec_with(), Opening(folder=folder))
    with pytest.raises(EncoderError, match=r"gallery\.npz has none for 'e', 'f'") as caught:
        encoder.encode_images([Picture("e"), Picture("d"), Picture("f")])
    assert caught.value.code == "vectors-missing"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("gallery.npz", None, "vectors-file"),
        ("gallery.npz", b"PK\x03\x04 cut off", "vectors-file"),
        ("gallery.npz", b"\x80\x04 a pickle", "vectors-file"),
        ("both.npz", {"ids": ["1"], "vectors": np.eye(3)}, "vectors-file"),
        ("both.npz", {"ids": ["1", "1"], "vectors": np.eye(3)[:2]}, "vectors-file"),
        ("both.npz", {"vectors": np.eye(3)}, "vectors-file"),
        ("both.npz", {"ids": ["1", "2"], "vectors": np.eye(4)[:2]}, "vectors-shape"),
    ],
)
@pytest.mark.parametrize("revision", ["mine", "0" * 64])
def test_files_that_cannot_be_used_are_named(folder: Path, name: str, content: Any, code: str, revision: str) -> None:
    """Before the first vector is taken, with the file's name and what is wrong."""
    (folder / name).unlink()
    if isinstance(content, bytes):
        (folder / name).write_bytes(content)
    elif content is not None:
        np.savez(folder / name, **content)
    with pytest.raises(EncoderError) as caught:
        open_encoder(spec_with(revision), Opening(folder=folder))
    if revision == "mine" or content is None:
        assert caught.value.code == code
        assert name in caught.value.detail
    else:
        assert caught.value.code == "wrong-revision"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"gallery": None}, "gallery"),
        ({"gallery": {"path": "x"}}, "gallery"),
        ({"gallery": {"vectors": "gallery.npz", "ids": 3}}, "gallery"),
        ({"queries": {}}, "queries"),
        ({"queries": {"both": "both.npz"}}, "both"),
        ({"conditions": {"text-only": 3}}, "conditions"),
        ({"similarity": "euclidean"}, "similarity"),
        ({"galery": "x"}, "galery"),
    ],
)
def test_wrong_options_of_files_are_named(folder: Path, options: dict[str, Any], named: str) -> None:
    """By the option's name."""
    with pytest.raises(EncoderError, match=named) as caught:
        open_encoder(spec_with(**options), Opening(folder=folder))
    assert caught.value.code == "spec"
