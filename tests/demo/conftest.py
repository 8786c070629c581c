"""The demo drawn and written once for all of its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

import demo


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo.write(folder)
    return folder
