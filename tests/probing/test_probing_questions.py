"""A folder of pictures and a file of queries give a split; whatever is wrong is said with its line and a remedy."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator import bundle
from evaluator.probing import find_pictures
from evaluator.probing.questions import QuestionsError, read_questions
from evaluator.types import Split, Subset

GOOD = {"id": "q1", "reference": "a", "text": "make it blue, please", "targets": ["b", "c"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for name in ("a.png", "b.jpg", "c.webp", "ä b.png", "10.png", "9.png"):
        (pictures / name).write_text(name, encoding="utf-8")
    return pictures


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(path: Path, *rows: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def faults(path: Path, folder: Path) -> list[tuple[int, str]]:
    with pytest.raises(QuestionsError) as refused:
        read_questions(path, folder)
    assert all(fault.remedy and str(fault) in str(refused.value) for fault in refused.value.faults)
    return [(fault.line, fault.found) for fault in refused.value.faults]


def facts(split: Split) -> list[tuple[str, list[str], str, list[str]]]:
    return [
        (
            name,
            [split.images[image] for image in split.references[query]],
            split.texts[query],
            [split.images[i] for i in split.judgments.image[split.judgments.query == query].tolist()],
        )
        for query, name in enumerate(split.query_ids)
    ]


def test_lines_of_json_and_a_table_give_the_same_split(folder: Path, tmp_path: Path) -> None:
    second = {"id": 2, "reference": ["a", "ä b"], "text": 'both, "mixed"\nand small', "targets": 9}
    one = read_questions(lines(tmp_path / "asked.jsonl", GOOD, second), folder)
    rows = [["targets", "text", "id", "reference", "note"], ["b|c", GOOD["text"], "q1", "a", ""]]
    other = read_questions(table(tmp_path / "asked.csv", *rows, ["9", second["text"], "2", "a | ä b", "x"]), folder)
    assert facts(one) == facts(other)
    assert facts(one) == [
        ("q1", ["a"], "make it blue, please", ["b", "c"]),
        ("2", ["a", "ä b"], 'both, "mixed"\nand small', ["9"]),
    ]
    assert bundle.digest(one) == bundle.digest(other)


def test_it_is_a_whole_split(folder: Path, tmp_path: Path) -> None:
    split = read_questions(lines(tmp_path / "asked.jsonl", GOOD), folder)
    assert split.name == "asked"
    assert split.images == ("10", "9", "a", "b", "c", "ä b")
    assert split.protocol.key == "circus"
    assert set(split.subsets) == {Subset.FULL}
    assert Subset.SF in split.absent
    find_pictures(folder, split).demand()
    bundle.save(split, tmp_path / "split.zip")
    assert bundle.digest(bundle.load(tmp_path / "split.zip")) == bundle.digest(split)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"id": ""}, "no id"),
        ({"id": None}, "no id"),
        ({"id": True}, "no id"),
        ({"reference": "zebra"}, "the reference zebra is no picture of the folder"),
        ({"reference": []}, "0 reference pictures"),
        ({"reference": ["a", "b", "c"]}, "3 reference pictures"),
        ({"reference": {"a": 1}}, "0 reference pictures"),
        ({"reference": ["a", "a"]}, "the reference a stands twice"),
        ({"text": " "}, "no text"),
        ({"text": 7}, "no text"),
        ({"targets": []}, "no target"),
        ({"targets": [None]}, "no target"),
        ({"targets": ["b", "b.jpg"]}, "the target b.jpg is no picture of the folder"),
        ({"targets": ["b", "b"]}, "the target b stands twice"),
    ],
)
def test_each_fault_has_its_line(change: dict[str, Any], found: str, folder: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "asked.jsonl", GOOD, {**GOOD, "id": "q2", **change})
    assert faults(path, folder) == [(2, found)]


def test_every_fault_is_listed_at_once(folder: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "asked.jsonl", GOOD, {**GOOD, "text": ""}, [1], {"id": "x"})
    assert faults(path, folder) == [
        (2, "the id q1 stands twice"),
        (2, "no text"),
        (3, "no object of JSON"),
        (4, "0 reference pictures"),
        (4, "no text"),
        (4, "no target"),
    ]


@pytest.mark.parametrize(
    ("content", "line", "found"),
    [
        (b'{"id": 1', 1, "not JSON"),
        (b'{"id": "\xff"}', 0, "byte 8 is no UTF-8"),
        (b"", 1, "no column id, reference, text, targets"),
        (b"id,text\n1,2\n", 1, "no column reference, targets"),
        (b"id,reference,text,targets\nq,a,x,y,b\n", 2, "5 fields instead of 4"),
        (b'id,reference,text,targets\nq,a,"two\nlines",b\nr,a\n', 4, "2 fields instead of 4"),
        (b"id,reference,text,targets\n", 0, "no query"),
    ],
)
def test_a_file_that_is_none_says_where_it_goes_wrong(
    content: bytes, line: int, found: str, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "asked"
    path.write_bytes(content)
    (fault,) = faults(path, folder)
    assert fault[0] == line
    assert fault[1].startswith(found)


def test_two_pictures_of_one_name_and_an_empty_folder_are_refused(folder: Path, tmp_path: Path) -> None:
    path = lines(tmp_path / "asked.jsonl", GOOD)
    (folder / "a.gif").write_text("", encoding="utf-8")
    ((line, found),) = faults(path, folder)
    assert (line, found.endswith("are named a")) == (0, True)
    assert faults(path, tmp_path / "nowhere")[0][1].startswith("no picture in")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: f'{{"id"{text}'.encode())))
def test_no_file_crashes_the_reader(content: bytes, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "asked"
    path.write_bytes(content)
    with pytest.raises(QuestionsError):
        read_questions(path, folder)
