"""A pytest plugin, loaded before Django's settings: tests never touch the state of a running site.

Every process of a test run gets a state folder of its own, which is removed afterwards, and forgets each ``CIRBOARD_``
variable of the surroundings. ``bin/test`` names another stack by ``CIRBOARD_TEST_DATABASE_URL`` and
``CIRBOARD_TEST_BROKER_URL``.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

KEPT = ("CIRBOARD_DATA", "CIRBOARD_TEST_DATABASE_URL", "CIRBOARD_TEST_BROKER_URL")


def isolate() -> str:
    """Point the settings at a new temporary folder and return it."""
    for name in [name for name in os.environ if name.startswith("CIRBOARD_") and name not in KEPT]:
        del os.environ[name]
    for name in ("DATABASE_URL", "BROKER_URL"):
        if given := os.environ.get(f"CIRBOARD_TEST_{name}"):
            os.environ[f"CIRBOARD_{name}"] = given
    folder = tempfile.mkdtemp(prefix="cirboard-test-")
    os.environ["CIRBOARD_VAR"] = folder
    return folder


_folder = isolate()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the state folder."""
    shutil.rmtree(_folder, ignore_errors=True)
