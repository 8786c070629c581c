"""A pytest plugin: what a test needs of the machine, and the one rule about it.

What is missing skips the test in plain sight; where ``CI`` is set it fails, since a suite that shrinks in silence
proves nothing. Only an accelerator may be missing there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _house import services

ROOT = Path(__file__).resolve().parent.parent
OPTIONAL = ("gpu",)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str | None:
    """Return the machine's own Chromium; Playwright's download is never used."""
    return next((found for name in CHROMIUM if (found := shutil.which(name))), None)


def has_accelerator() -> bool:
    """Return whether torch is installed and sees a CUDA device."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


MARKS: dict[str, tuple[Callable[[], object], str]] = {
    "browser": (chromium_path, "Chromium was not found: install the package chromium"),
    "redis": (services.redis_server, "redis-server was not found: install the package redis-server"),
    "postgres": (services.postgres_binaries, "PostgreSQL's binaries were not found: install the package postgresql"),
    "torch": (lambda: importlib.util.find_spec("torch"), "torch is not installed: bin/test does that"),
    "gpu": (has_accelerator, "there is no accelerator"),
}


def missing(reason: str) -> None:
    """Skip the test with ``reason``, or fail it where ``CI`` is set."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (a skip is a failure where CI is set)", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at what the test's marks ask for."""
    for mark, (find, reason) in MARKS.items():
        if item.get_closest_marker(mark) and not find():
            if mark in OPTIONAL:
                pytest.skip(reason)
            missing(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Turn a test's own ``pytest.skip`` into a failure in CI as well: the rule has no back door."""
    report = yield
    excused = hasattr(report, "wasxfail") or any(item.get_closest_marker(mark) for mark in OPTIONAL)
    if os.environ.get("CI") and report.skipped and not excused:
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of the official files: ``CIRBOARD_DATA``, else ``shared/data`` beside the repository."""
    folder = Path(os.environ.get("CIRBOARD_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        missing(f"the data folder {folder} does not exist: set CIRBOARD_DATA")
    return folder


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the machine's Chromium and return Playwright's ``Browser``."""
    path = chromium_path()
    if path is None:
        missing(MARKS["browser"][1])
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps an event loop in the thread of the tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Start a Redis of our own on a free port and return its URL."""
    if not services.redis_server():
        missing(MARKS["redis"][1])
    with services.redis() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Start a PostgreSQL of our own on a free port and return the URL of an empty database."""
    if not services.postgres_binaries():
        missing(MARKS["postgres"][1])
    with services.postgres() as url:
        yield url
