"""Settings cannot be wrong quietly, and every variable is documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from _house.places import ROOT

PRODUCTION = {
    "CIRBOARD_MODE": "production",
    "CIRBOARD_SECRET_KEY": "x" * 40,
    "CIRBOARD_ALLOWED_HOSTS": "board.example.org",
}


def load(tmp_path: Path, code: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Import the settings in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CIRBOARD_")}
    return subprocess.run(
        [sys.executable, "-c", f"import config.settings as settings; {code}"],
        cwd=ROOT,
        env={**kept, "CIRBOARD_VAR": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CIRBOARD_MODE": "prod"}, "CIRBOARD_MODE"),
        ({"CIRBOARD_DEBUG": "perhaps"}, "CIRBOARD_DEBUG"),
        ({"CIRBOARD_QUOTA_PER_DAY": "0"}, "CIRBOARD_QUOTA_PER_DAY"),
        ({"CIRBOARD_UPLOAD_MAX_BYTES": "64MB"}, "CIRBOARD_UPLOAD_MAX_BYTES"),
        ({"CIRBOARD_MAIL_PORT": "70000"}, "CIRBOARD_MAIL_PORT"),
        ({"CIRBOARD_IMAGE_URLS": "{"}, "CIRBOARD_IMAGE_URLS"),
        ({"CIRBOARD_IMAGE_URLS": '{"b": "https://a.org/{id}/{x}"}'}, "CIRBOARD_IMAGE_URLS"),
        ({"CIRBOARD_IMAGE_URLS": '{"b": "https://a.org; x/{id}"}'}, "CIRBOARD_IMAGE_URLS"),
        ({"CIRBOARD_SECRET_KEY": "short"}, "at least 32 characters"),
        ({**PRODUCTION, "CIRBOARD_SECRET_KEY": ""}, "production never makes up a secret"),
        ({**PRODUCTION, "CIRBOARD_ALLOWED_HOSTS": ""}, "CIRBOARD_ALLOWED_HOSTS"),
        ({**PRODUCTION, "CIRBOARD_DEBUG": "yes"}, "cannot be on in production"),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else None,
)
def test_a_wrong_value_stops_the_process_and_names_the_variable(
    variables: dict[str, str], expected: str, tmp_path: Path
) -> None:
    done = load(tmp_path, **variables)
    assert done.returncode != 0
    assert "ImproperlyConfigured" in done.stderr
    assert expected in done.stderr


def test_the_defaults_are_embedded_and_their_secret_is_kept_private(tmp_path: Path) -> None:
    code = "print(settings.DATABASES['default']['ENGINE'], settings.CELERY_BROKER_URL, settings.SECRET_KEY)"
    first, second = load(tmp_path, code), load(tmp_path, code)
    assert first.stdout.startswith("django.db.backends.sqlite3 filesystem://localhost ")
    assert first.stdout == second.stdout, "a secret that changes at each start logs everybody out"
    assert (tmp_path / "secret-key").stat().st_mode & 0o077 == 0


def test_production_by_url(tmp_path: Path) -> None:
    code = "print(settings.DATABASES['default']['ENGINE'], settings.CELERY_BROKER_URL, settings.SECURE_SSL_REDIRECT)"
    urls = {"CIRBOARD_DATABASE_URL": "postgres://u:p@db/c", "CIRBOARD_BROKER_URL": "redis://queue:6379/0"}
    done = load(tmp_path, code, **PRODUCTION, **urls)
    assert done.stdout.split() == ["django.db.backends.postgresql", "redis://queue:6379/0", "True"]
    assert not list(tmp_path.iterdir()), "nothing is made up in production"


def test_every_variable_is_documented_and_no_other() -> None:
    source = "".join((ROOT / "config" / name).read_text() for name in ("settings.py", "environment.py"))
    read = {f"CIRBOARD_{name}" for name in re.findall(r'\b(?:choice|flag|whole|text|words)\(\s*"([A-Z_]+)"', source)}
    page = (ROOT / "docs" / "settings.md").read_text()
    documented = set(
        re.findall(r"^\| `(CIRBOARD_[A-Z_]+)`", page.split("## Variables of the commands")[0], re.MULTILINE)
    )
    assert documented == read
