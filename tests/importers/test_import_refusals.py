"""Files that are not the published ones are refused, each difference named; nothing else ever comes out of a reader."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.types import Split
from leaderboard.importers.circo import read_circo_val
from leaderboard.importers.cirr import read_cirr_test1, read_cirr_val
from leaderboard.importers.fashioniq import read_fashioniq_val
from leaderboard.importers.official import read_table
from leaderboard.importers.pinpoint import read_pinpoint
from leaderboard.importers.refusal import FileMissing, ImportRefused

Copy = Callable[[str], Path]

VAL = "captions/cap.rc2.val.json"


def _change(path: Path, change: Callable[[Any], Any]) -> None:
    value = json.loads(path.read_text("utf-8"))
    changed = change(value)
    path.write_text(json.dumps(value if changed is None else changed), encoding="utf-8")


def _set(*steps: Any) -> Callable[[Any], None]:
    """Return what sets the value at a path: ``_set(0, "reference", 5)``."""
    *path, key, value = steps

    def change(whole: Any) -> None:
        for step in path:
            whole = whole[step]
        whole[key] = value

    return change


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (VAL, lambda rows: rows[:-1], "queries: expected 4,181, found 4,180"),
        (VAL, lambda rows: [*rows[:-1], rows[0]], "repeated pairid: expected none, found 1: 12060"),
        (VAL, _set(5, "reference", "dev-0-0-img9"), "missing from the gallery: expected none, found 1: dev-0-0-img9"),
        (VAL, _set(5, "reference", 7), "row 5, field 'reference': expected text, found 7"),
        (VAL, _set(5, "pairid", True), "row 5, field 'pairid': expected a whole number, found True"),
        (VAL, _set(5, "img_set", None), "row 5, field 'img_set': expected an object, found None"),
        (VAL, _set(5, "img_set", {"id": 1, "members": [3]}), "field 'members': expected texts, found 3"),
        (VAL, lambda rows: {"rows": rows}, "expected a JSON list of objects, found dict"),
        ("image_splits/split.rc2.val.json", lambda images: images.pop("dev-244-0-img0"), "expected a JSON object"),
        ("image_splits/split.rc2.val.json", _set("dev-new", "./dev/x.png"), "images: expected 2,297, found 2,298"),
    ],
)
def test_cirr_files_that_differ_are_refused(
    copy_of: Copy, file: str, change: Callable[[Any], Any], message: str
) -> None:
    folder = copy_of("cirr")
    _change(folder / file, change)
    with pytest.raises(ImportRefused, match=re.escape(message)) as refusal:
        read_cirr_val(folder)
    assert all(difference.file for difference in refusal.value.differences)


def test_every_difference_of_a_file_is_named(copy_of: Copy) -> None:
    folder = copy_of("cirr")
    _change(folder / VAL, lambda rows: [row for row in rows if row["img_set"]["id"] != 36])
    with pytest.raises(ImportRefused) as refusal:
        read_cirr_val(folder)
    assert [difference.what for difference in refusal.value.differences] == ["queries", "image sets"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[{", b"\xff\xfe[]", b"[1]", b"null", b'"text"'],
    ids=["empty", "cut", "utf-16", "1", "null", "text"],
)
@pytest.mark.parametrize(
    ("name", "file", "reader"),
    [
        ("cirr", VAL, read_cirr_val),
        ("cirr", "image_splits/split.rc2.test1.json", read_cirr_test1),
        ("fashioniq", "captions/cap.shirt.val.json", read_fashioniq_val),
        ("fashioniq", "image_splits/split.toptee.val.json", read_fashioniq_val),
        ("circo", "annotations/val.json", read_circo_val),
    ],
)
def test_a_broken_file_is_refused_by_name(
    copy_of: Copy, name: str, file: str, reader: Callable[[Path], Split], content: bytes
) -> None:
    folder = copy_of(name)
    (folder / file).write_bytes(content)
    with pytest.raises(ImportRefused, match=re.escape(file)):
        reader(folder)


def test_a_missing_file_or_folder_is_named(copy_of: Copy, tmp_path: Path) -> None:
    folder = copy_of("cirr")
    (folder / VAL).unlink()
    with pytest.raises(FileMissing, match=re.escape(VAL)):
        read_cirr_val(folder)
    with pytest.raises(ImportRefused, match="no such folder"):
        read_cirr_val(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("captions/cap.dress.val.json", lambda rows: rows[1:], "queries: expected 2,017, found 2,016"),
        ("captions/cap.dress.val.json", _set(3, "captions", ["one"]), "row 3, captions: expected 2, found 1"),
        ("captions/cap.dress.val.json", _set(3, "target", "B000000000"), "missing from the gallery"),
        ("captions/cap.dress.val.json", _set(0, "candidate", "B0084Y8XIU"), "reference images: expected 4,315"),
        ("image_splits/split.dress.val.json", lambda names: names.append(names[0]), "repeated images"),
        ("image_splits/split.dress.val.json", lambda names: names.append("B000000000"), "expected 3,817, found 3,818"),
    ],
)
def test_fashioniq_files_that_differ_are_refused(
    copy_of: Copy, file: str, change: Callable[[Any], Any], message: str
) -> None:
    folder = copy_of("fashioniq")
    _change(folder / file, change)
    with pytest.raises(ImportRefused, match=re.escape(message)):
        read_fashioniq_val(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set(4, "id", 5), "ids that are not the row's position: expected none, found 1: 5"),
        (_set(0, "gt_img_ids", [355099]), "ground truths: expected 916, found 914"),
        (_set(0, "semantic_aspects", []), "cardinality: expected 37, found 36"),
        (_set(0, "reference_img_id", 1_000_000), "malformed image ids: expected none, found 1: 1000000"),
    ],
)
def test_circo_files_that_differ_are_refused(copy_of: Copy, change: Callable[[Any], Any], message: str) -> None:
    folder = copy_of("circo")
    _change(folder / "annotations/val.json", change)
    with pytest.raises(ImportRefused, match=re.escape(message)):
        read_circo_val(folder)


def _json_lines(folder: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Spoil PinPoint's rows in the JSON lines and let them be the only ones."""
    (folder / "pinpoint_licensed.parquet").unlink()
    path = folder / "pinpoint_licensed.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    change(rows)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode(), compresslevel=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.pop(), "queries: expected 7,635, found 7,634"),
        (_set(0, "negative_candidates", []), "rows with a null among the negatives: expected 6,729, found 6,728"),
        (_set(0, "is_single", False), "two-image rows by is_single: expected 895, found 896"),
        (_set(0, "query_image_signature", "0" * 32), "image pairs: expected 1,260, found 1,261"),
        (_set(0, "negative_candidates", [3]), "field 'negative_candidates': expected texts or nulls, found 3"),
        (_set(1, "query_id", "query_00001"), "repeated query_id"),
    ],
)
def test_pinpoint_files_that_differ_are_refused(copy_of: Copy, change: Callable[[Any], Any], message: str) -> None:
    folder = copy_of("pinpoint")
    _json_lines(folder, change)
    with pytest.raises(ImportRefused) as refusal:
        read_pinpoint(folder)
    assert message in "\n".join(map(str, refusal.value.differences))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[1:], "images: expected 109,600, found 109,599"),
        (lambda lines: [*lines[1:], lines[1]], "repeated images"),
        (lambda lines: [line.upper() for line in lines], "missing from the gallery"),
    ],
)
def test_another_gallery_list_of_pinpoint_is_refused(
    copy_of: Copy, change: Callable[[list[str]], list[str]], message: str
) -> None:
    folder = copy_of("pinpoint")
    path = folder / "index_signatures.txt"
    path.write_text("\n".join(change(path.read_text().split())))
    with pytest.raises(ImportRefused, match=message):
        read_pinpoint(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value["queries"].pop("query_00001"), "rows without a base query: expected none, found 1"),
        (_set("queries", "query_00001", [99_999, 0, 0]), "base queries: expected 1,292, found 1,293"),
        (_set("queries", "query_00001", [0, 1, 1]), "Original rows: expected 4,225, found 4,226"),
        (_set("queries", "query_00001", [0]), "base queries that are not three numbers"),
    ],
)
def test_another_base_query_file_is_refused(copy_of: Copy, change: Callable[[Any], Any], message: str) -> None:
    folder = copy_of("pinpoint")
    path = folder / "pinpoint_base_queries.json"
    value = json.loads(path.read_text("utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(ImportRefused, match=re.escape(message)):
        read_pinpoint(folder)


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing of the kind PAR1"])
def test_a_broken_parquet_file_is_refused(copy_of: Copy, content: bytes) -> None:
    folder = copy_of("pinpoint")
    (folder / "pinpoint_licensed.parquet").write_bytes(content)
    with pytest.raises(ImportRefused, match="expected a parquet file"):
        read_pinpoint(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a,b\n1,2\n", "no query_idx"), (b"\xff", "a CSV file"), (b'query_idx\n"1', "a CSV file"), (b"", "no query_idx")],
)
def test_a_broken_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ImportRefused, match=message):
        read_table(path, "query_idx")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not gzip", "a text file in UTF-8"),
        (gzip.compress(b"{}\n", mtime=0)[:-9], "a text file in UTF-8"),
        (gzip.compress(b"{}\n", mtime=0)[:10] + b"\xff" * 20, "a text file in UTF-8"),
        (gzip.compress(b"{}\n{", mtime=0), "line 2: expected a JSON object"),
        (gzip.compress(b"[]\n", mtime=0), "line 1: expected a JSON object, found list"),
        (gzip.compress(b"\xff\n", mtime=0), "a text file in UTF-8"),
    ],
)
def test_broken_json_lines_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "pinpoint_licensed.jsonl.gz").write_bytes(content)
    with pytest.raises(ImportRefused, match=message):
        read_pinpoint(tmp_path)


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cap.rc2.val.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(ImportRefused, match="a JSON file in UTF-8"):
        read_cirr_val(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["pairid", "reference", "caption", "img_set", "id", "members", "target_hard", "target_soft"]
            ),
            inside,
            max_size=8,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=JSON)
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, value: Any) -> None:
    (tmp_path / "cap.rc2.val.json").write_text(json.dumps(value), encoding="utf-8")
    (tmp_path / "val.json").write_text(json.dumps(value), encoding="utf-8")
    for reader in (read_cirr_val, read_circo_val):
        with pytest.raises(ImportRefused):
            reader(tmp_path)
