"""What the machine lacks skips a test in plain sight, and fails it in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import isolation
import pytest
from _house.places import ROOT

INNER = """
import os
import isolation
import pytest

def test_data(data_folder):
    assert data_folder.is_dir()

def test_own_skip():
    pytest.skip("for a reason of its own")

@pytest.mark.redis
def test_redis():
    assert True

@pytest.mark.gpu
def test_accelerator():
    assert True

@pytest.mark.torch
def test_torch():
    pytest.importorskip("surely_not_installed")

def test_state():
    assert "CIRBOARD_BROKER_URL" not in os.environ
    assert "cirboard-test-" in os.environ["CIRBOARD_VAR"]
"""


def run(tmp_path: Path, **variables: str) -> str:
    """Run the inner tests on a machine that has neither Redis nor the data folder."""
    (tmp_path / "test_inner.py").write_text(INNER)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    redis: x\n    torch: x\n    gpu: x\n")
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "tests", "bin"))
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PATH", "DJANGO_SETTINGS_MODULE")}
    environment = {
        **kept,
        "PATH": str(tmp_path),
        "PYTHONPATH": paths,
        "CIRBOARD_DATA": str(tmp_path / "nowhere"),
        "CIRBOARD_BROKER_URL": "redis://a-real-queue/0",
    }
    plugins = ("-p", "isolation", "-p", "needs", "-p", "no:django", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-rs", "-n0", str(tmp_path)],
        env={**environment, **variables},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_on_a_persons_machine_it_skips_with_the_reason(tmp_path: Path) -> None:
    output = run(tmp_path)
    assert "1 passed, 5 skipped" in output
    assert "set CIRBOARD_DATA" in output
    assert "install the package redis-server" in output


def test_in_ci_it_fails_except_for_an_accelerator(tmp_path: Path) -> None:
    output = run(tmp_path, CI="true")
    assert "2 failed, 1 passed, 1 skipped, 2 errors" in output
    assert "a skip is a failure where CI is set" in output
    assert "skipped in CI" in output


def test_tests_keep_away_from_the_state_of_a_running_site() -> None:
    from django.conf import settings

    assert settings.VAR != ROOT / "var"
    assert Path(settings.VAR).name.startswith("cirboard-test-")


@pytest.mark.django_db
def test_no_migration_is_missing_or_nameless() -> None:
    from django.db import connection
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    for app in ("accounts", "leaderboard", "uploads", "submissions", "audit"):
        assert len(loader.graph.leaf_nodes(app)) == 1, f"{app}'s migrations are not one line"
        names = [name for owner, name in loader.disk_migrations if owner == app]
        assert not [name for name in names if "_auto_" in name], "a migration's name says what it does"


@pytest.mark.parametrize(
    ("process", "expected"),
    [("", "redis://here:1/0"), ("gw0", "redis://here:1/0"), ("gw3", "redis://here:1/3"), ("gw17", "redis://here:1/1")],
)
def test_parallel_processes_share_no_queue(process: str, expected: str) -> None:
    assert isolation.own_broker("redis://here:1/0", process) == expected
