"""The demo goes through the door that everybody uses, and twice is the same as once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from leaderboard.models import SplitVersion
from submissions.models import Submission

LOGIN = "demo-login.txt"


@pytest.fixture
def loaded(db: None) -> None:
    call_command("load_demo", verbosity=0)


def test_without_the_demo_there_is_nothing_to_send(db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "VAR", tmp_path)
    with pytest.raises(CommandError, match=r"run `manage\.py load_demo` first"):
        call_command("submit_demo")


def test_loading_twice_makes_no_second_version(loaded: None) -> None:
    call_command("load_demo", verbosity=0)
    versions = SplitVersion.objects.filter(split__benchmark__slug="demo")
    assert sorted((version.split.slug, version.number) for version in versions) == [
        ("demo-circus", 1),
        ("demo-pinpoint", 1),
    ]


def test_sending_twice_makes_no_second_submission(loaded: None) -> None:
    call_command("submit_demo")
    first = set(Submission.objects.values_list("pk", "state"))
    assert len(first) == 5
    call_command("submit_demo")
    assert set(Submission.objects.values_list("pk", "state")) == first


def test_the_log_in_is_private_and_works_and_stays(loaded: None) -> None:
    call_command("submit_demo")
    login = settings.VAR / LOGIN
    assert stat.S_IMODE(login.stat().st_mode) == 0o600
    email, password = login.read_text().split()
    assert authenticate(email=email, username=email, password=password) is not None
    call_command("submit_demo")
    assert login.read_text().split() == [email, password]


def test_without_a_worker_the_waiting_ends_with_a_sentence(loaded: None) -> None:
    with pytest.raises(CommandError, match=r"Not scored within 0 s\. Does a worker run\?"):
        call_command("submit_demo", wait=0.1)
