"""What a worker ranks vectors on: the status page once never said it, since the question itself failed in silence."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sending import ROOT

from submissions import liveness, selectors


def test_the_question_can_be_asked() -> None:
    """With torch and without: the words that the child runs must run."""
    asked = subprocess.run(
        [sys.executable, "-c", liveness._LOOK], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (asked.returncode, asked.stderr) == (0, "")


def test_a_question_that_fails_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(liveness, "_LOOK", "raise SystemExit('no driver')")
    monkeypatch.setattr(liveness.importlib.util, "find_spec", lambda name: name)
    assert liveness.device_here() == ""
    assert "no driver" in caplog.text


@pytest.mark.django_db
def test_the_status_page_says_what_a_worker_ranks_on() -> None:
    liveness.beat("celery@here", ["cpu", "gpu"], liveness.NO_GPU)
    assert "it has no GPU and ranks vectors on its processor" in selectors.status().sentence
