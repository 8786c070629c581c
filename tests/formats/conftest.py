"""Splits for the readers' tests; the official ones are read once."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats import format_splits
from formats.twelve import make_twelve

from evaluator.types import Split


@pytest.fixture
def split() -> Split:
    return make_twelve()


@pytest.fixture(scope="session")
def cirr_val(data_folder: Path) -> Split:
    return format_splits.cirr(data_folder, "val")


@pytest.fixture(scope="session")
def cirr_test1(data_folder: Path) -> Split:
    return format_splits.cirr(data_folder, "test1")


@pytest.fixture(scope="session")
def circo_val(data_folder: Path) -> Split:
    return format_splits.circo(data_folder, "val")


@pytest.fixture(scope="session")
def circo_test(data_folder: Path) -> Split:
    return format_splits.circo(data_folder, "test")


@pytest.fixture(scope="session")
def pinpoint(data_folder: Path) -> Split:
    return format_splits.pinpoint(data_folder)
