"""Splits read once for all tests of importers, and folders of made-up official files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from importers.made_up_release import Release

from evaluator.types import Split
from leaderboard.importers.circo import read_circo_test, read_circo_val
from leaderboard.importers.circus import read_circus
from leaderboard.importers.cirr import read_cirr_test1, read_cirr_val
from leaderboard.importers.fashioniq import read_fashioniq_val
from leaderboard.importers.pinpoint import read_pinpoint, read_pinpoint_clean


@pytest.fixture
def release(tmp_path: Path) -> Release:
    """Return an empty release folder to write into."""
    folder = tmp_path / "release"
    folder.mkdir()
    return Release(folder)


@pytest.fixture
def copy_of(data_folder: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies an official folder to where a test may spoil it."""

    def copy(name: str) -> Path:
        target = tmp_path / name
        shutil.copytree(data_folder / name, target, copy_function=shutil.copyfile)
        for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
            folder.chmod(0o755)
        return target

    return copy


@pytest.fixture(scope="session")
def cirr_val(data_folder: Path) -> Split:
    return read_cirr_val(data_folder / "cirr")


@pytest.fixture(scope="session")
def cirr_test1(data_folder: Path) -> Split:
    return read_cirr_test1(data_folder / "cirr")


@pytest.fixture(scope="session")
def fashioniq_val(data_folder: Path) -> Split:
    return read_fashioniq_val(data_folder / "fashioniq")


@pytest.fixture(scope="session")
def circo_val(data_folder: Path) -> Split:
    return read_circo_val(data_folder / "circo")


@pytest.fixture(scope="session")
def circo_test(data_folder: Path) -> Split:
    return read_circo_test(data_folder / "circo")


@pytest.fixture(scope="session")
def circus_cirr(data_folder: Path) -> Split:
    return read_circus("cirr", data_folder / "cirr", data_folder / "circus")


@pytest.fixture(scope="session")
def circus_fashioniq(data_folder: Path) -> Split:
    return read_circus("fashioniq", data_folder / "fashioniq", data_folder / "circus")


@pytest.fixture(scope="session")
def circus_circo(data_folder: Path) -> Split:
    return read_circus("circo", data_folder / "circo", data_folder / "circus")


@pytest.fixture(scope="session")
def pinpoint(data_folder: Path) -> Split:
    return read_pinpoint(data_folder / "pinpoint")


@pytest.fixture(scope="session")
def pinpoint_clean(data_folder: Path) -> Split:
    return read_pinpoint_clean(data_folder / "pinpoint")
