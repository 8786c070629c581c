"""``manage.py submit_demo``: sends the demo's baselines through the real queue and publishes them. Idempotent."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import BaseCommand, CommandError, CommandParser

import demo
from accounts.models import User
from evaluator.types import Condition
from leaderboard.models import Split
from submissions.models import Evaluation, Submission
from submissions.services import publication
from submissions.services.evaluations import score_again
from submissions.services.receipt import receive

EMAIL = "demo@example.org"
SPLIT = "demo-circus"
DECLARED: dict[str, Any] = {
    "supervision": "zero-shot",
    "training_overlap": ["none"],
    "query_text": "as-released",
    "system": "single",
    "weights": "open",
    "backbone": "colour histograms and a list of words",
}
_ENDED = (Evaluation.State.SCORED, Evaluation.State.FAILED, Evaluation.State.CANCELLED)


class Command(BaseCommand):
    help = "Send the demo's two baselines as a demo user, with all three conditions, and publish what is scored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--wait", type=int, default=120, metavar="SECONDS", help="for the scores (120)")

    def handle(self, *args: Any, wait: int, **options: Any) -> None:
        manifest = demo.read_manifest(settings.VAR / "demo")
        split = Split.objects.filter(slug=SPLIT, versions__current=True).first()
        if manifest is None or split is None:
            raise CommandError("The demo is not loaded: run manage.py load_demo first.")
        user = demo_user()
        sent = [_send(user, split, name, manifest) for name in sorted({part.baseline for part in manifest.rankings})]
        deadline = time.monotonic() + wait
        for submission in sent:
            _await(submission, deadline)
            publication.publish(submission)
            self.stdout.write(f"{submission.method} is on {split}.")


def demo_user() -> User:
    """Return the demo's user. The password is made on first use and kept in ``VAR/demo-login.txt``."""
    login = Path(settings.VAR) / "demo-login.txt"
    user = User.objects.filter(email=EMAIL).first()
    if user is not None and login.exists():
        return user
    user = user or User.objects.create_user(EMAIL, first_name="Demo", last_name="Team")
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save()
    login.touch(mode=0o600)
    login.write_text(f"{EMAIL}\n{password}\n")
    return user


def _send(user: User, split: Split, baseline: str, manifest: demo.Manifest) -> Submission:
    runs = {}
    for part in manifest.rankings:
        if (part.baseline, part.split) == (baseline, split.slug):
            content = (settings.VAR / "demo" / part.file).read_bytes()
            runs[Condition(part.condition)] = [SimpleUploadedFile(Path(part.file).name, content)]
    submission = receive(user=user, split=split, method_name=baseline, runs=runs, declared=DECLARED).submission
    if submission.state == Submission.State.VALID:
        score_again(submission)  # the site may have been updated since the last start
    return submission


def _await(submission: Submission, deadline: float) -> None:
    """Wait until every evaluation ended. Raises CommandError when one did not end well or not in time."""
    while time.monotonic() < deadline:
        submission.refresh_from_db()
        states = [evaluation.state for evaluation in submission.evaluations.all()]
        if submission.state in (Submission.State.INVALID, Submission.State.FAILED, Submission.State.CANCELLED):
            raise CommandError(f"{submission.method} is {submission.state}: {submission.reason or submission.faults}")
        if states and all(state in _ENDED for state in states):
            if Evaluation.State.SCORED not in states:
                raise CommandError(f"{submission.method} was not scored: {', '.join(states)}.")
            return
        time.sleep(0.2)
    raise CommandError(f"{submission.method} was not scored in time; is a worker running?")
