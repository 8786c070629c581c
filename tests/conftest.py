"""Django as tests want it; what a test needs of the machine is in ``needs.py``, its state in ``isolation.py``."""

from __future__ import annotations

import shutil

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Before anything reads these settings: static files by their plain names, cheap passwords, the database in a file.

    In a file, since a test that works on SQLite in memory alone says nothing about threads, processes and connections.
    """
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(settings.VAR / "test.sqlite3")

    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _nobody_works() -> None:
    """Forget the workers of the test before: one that was killed is taken for alive for a while, as it should be."""
    from submissions import liveness

    shutil.rmtree(liveness.folder(), ignore_errors=True)
