"""A pytest plugin, loaded before Django's settings: tests never touch the state of a running site.

Every process of a test run gets a state folder of its own, which is removed afterwards, and forgets each ``CIRBOARD_``
variable of the surroundings. ``bin/test`` names another stack by ``CIRBOARD_TEST_DATABASE_URL`` and
``CIRBOARD_TEST_BROKER_URL``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

REDIS_DATABASES = 16
KEPT = ("CIRBOARD_DATA", "CIRBOARD_TEST_DATABASE_URL", "CIRBOARD_TEST_BROKER_URL", "CIRBOARD_TEST_DIMENSIONS")


def isolate() -> str:
    """Point the settings at a new temporary folder and return it."""
    for name in [name for name in os.environ if name.startswith("CIRBOARD_") and name not in KEPT]:
        del os.environ[name]
    if database := os.environ.get("CIRBOARD_TEST_DATABASE_URL"):
        os.environ["CIRBOARD_DATABASE_URL"] = database
    if broker := os.environ.get("CIRBOARD_TEST_BROKER_URL"):
        os.environ["CIRBOARD_BROKER_URL"] = own_broker(broker, os.environ.get("PYTEST_XDIST_WORKER", ""))
    folder = tempfile.mkdtemp(prefix="cirboard-test-")
    Path(folder, "static").mkdir()  # whitenoise warns where it is missing
    os.environ["CIRBOARD_VAR"] = folder
    return folder


def own_broker(url: str, process: str) -> str:
    """Return a Redis database for each parallel process (``gw0``, ``gw1``): a worker must not take foreign tasks."""
    number = process.removeprefix("gw")
    return f"{url.rpartition('/')[0]}/{int(number) % REDIS_DATABASES}" if number else url


_folder = isolate()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the state folder."""
    shutil.rmtree(_folder, ignore_errors=True)
