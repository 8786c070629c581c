"""``demo.write`` and ``python -m demo``: complete, idempotent, and repaired when something is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import demo
from demo.__main__ import main
from demo.writing import MANIFEST, whole
from evaluator import bundle


def test_everything_that_the_manifest_names_is_there(demo_folder: Path) -> None:
    manifest = demo.read_manifest(demo_folder)
    assert manifest is not None
    assert all((demo_folder / name).stat().st_size > 0 for name in manifest.files())
    assert len(manifest.images) == 580
    assert len(manifest.rankings) == 12
    for name, path in manifest.bundles.items():
        assert bundle.load(demo_folder / path).name == name
    assert json.loads((demo_folder / manifest.labels).read_text()) == demo.planted_labels()


def test_the_second_time_nothing_is_written(demo_folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in demo_folder.rglob("*")}
    assert demo.write(demo_folder) == demo.read_manifest(demo_folder)
    assert {path: path.stat().st_mtime_ns for path in demo_folder.rglob("*")} == before


@pytest.mark.parametrize("damage", ["missing picture", "other recipe", "broken manifest", "list", "no manifest"])
def test_a_damaged_folder_is_not_whole(demo_folder: Path, tmp_path: Path, damage: str) -> None:
    folder = shutil.copytree(demo_folder, tmp_path / "copy")
    manifest = whole(folder)
    assert manifest is not None
    path = folder / MANIFEST
    if damage == "missing picture":
        (folder / manifest.images[7]).unlink()
    elif damage == "other recipe":
        path.write_text(path.read_text().replace(manifest.digest, "0" * 64))
    elif damage == "broken manifest":
        path.write_text("{")
    elif damage == "list":
        path.write_text("[]")
    else:
        path.unlink()
    assert whole(folder) is None


def test_what_is_not_whole_is_written_again(demo_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(demo_folder, tmp_path / "copy")
    manifest = demo.write(folder)
    (folder / manifest.images[7]).unlink()
    drawn: list[tuple[int, int]] = []
    assert demo.write(folder, lambda done, total: drawn.append((done, total))) == manifest
    assert drawn == [(number, 580) for number in range(1, 581)]
    assert whole(folder) == manifest


def test_the_command_writes_and_says_what(demo_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo", str(demo_folder)],
        cwd=Path(demo.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"580 pictures, 2 splits, 12 rankings and 5 files of vectors are in {demo_folder}\n"


def test_a_folder_that_cannot_be_made_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file" / "demo")]) == 1
    assert "could not be written" in capsys.readouterr().err
