"""Django as tests want it; what a test needs of the machine is in ``needs.py``, its state in ``isolation.py``."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Serve static files by their plain names and make passwords cheap, before anything reads these settings."""
    from django.conf import settings

    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
