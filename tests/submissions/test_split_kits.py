"""Split kits: what a participant needs, nothing that is hidden, the same bytes every time (decision 35)."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sending import ranking

from demo import TINY_KINDS, tiny_split
from evaluator import bundle
from evaluator.errors import SubmissionError
from evaluator.formats import SourceFile, read_run
from leaderboard.kits import build_kit, kit_of


def opened(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("kind", sorted(TINY_KINDS))
def test_a_kit_has_all_that_is_promised(kind: str, tmp_path: Path) -> None:
    split = tiny_split(kind)
    files = opened(build_kit(split, "CC0"))
    rows = [json.loads(line) for line in files["queries.jsonl"].decode().splitlines()]
    assert [row["query"] for row in rows] == list(split.query_ids)
    assert [row["text"] for row in rows] == list(split.texts)
    table = list(csv.DictReader(io.StringIO(files["queries.csv"].decode())))
    assert [row["text"] for row in table] == list(split.texts)
    assert [row["reference"] for row in table] == [row["references"][0] for row in rows]
    listed = [name for path, text in files.items() if path.startswith("gallery/") for name in text.decode().split()]
    assert sorted(set(listed)) == list(split.images)
    assert files["LICENCE.txt"] == b"CC0\n"
    for name in (*split.protocol.measures, *split.protocol.joint_measures):
        assert name in files["README.md"].decode()
    (tmp_path / "bundle.zip").write_bytes(files["bundle.zip"])
    assert bundle.digest(bundle.load(tmp_path / "bundle.zip")) == bundle.digest(split)
    assert any(path.startswith("templates/") for path in files)


def test_a_filled_template_is_taken(tmp_path: Path) -> None:
    split = tiny_split("circo")
    template = json.loads(opened(build_kit(split, ""))["templates/tiny-circo.json"])
    template.update(ranking(split))
    run = read_run([SourceFile("x.json", json.dumps(template).encode())], split)
    assert run.format in ("json", "circo")


def test_an_empty_template_is_not() -> None:
    split = tiny_split("circo")
    for name, content in opened(build_kit(split, "")).items():
        if name.startswith("templates/"):
            with pytest.raises(SubmissionError):
                read_run([SourceFile(name, content)], split)


def test_a_hidden_truth_is_in_none_of_its_files(tmp_path: Path) -> None:
    """Decision 33: the server may hold a truth that its kit must not."""
    from dataclasses import replace

    whole = replace(tiny_split("cirr"), hidden_truth=True)
    files = opened(build_kit(whole, ""))
    (tmp_path / "bundle.zip").write_bytes(files["bundle.zip"])
    judgments = bundle.load(tmp_path / "bundle.zip").judgments
    assert not judgments.positive.any()
    assert not judgments.target.any()
    assert not judgments.positives_released.any()


def test_an_open_gallery_is_a_pattern() -> None:
    split = tiny_split("circo", open_gallery=True)
    files = opened(build_kit(split, ""))
    (pattern,) = (text.decode().strip() for path, text in files.items() if path.endswith(".pattern.txt"))
    assert pattern == split.galleries[0].pattern


@pytest.mark.django_db
def test_a_kit_is_built_once_and_always_the_same(make_board: Any) -> None:
    from django.core.files.storage import default_storage

    version = make_board("cirr").split.versions.get()
    name = kit_of(version)
    path = Path(default_storage.path(name))
    content, changed = path.read_bytes(), path.stat().st_mtime_ns
    assert kit_of(version) == name
    assert path.stat().st_mtime_ns == changed
    path.unlink()
    assert Path(default_storage.path(kit_of(version))).read_bytes() == content
