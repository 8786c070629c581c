"""``manage.py submit_demo``: the demo's baselines through the same door as everybody's submissions. Idempotent."""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

import demo
from accounts.models import User
from evaluator.types import Similarity
from leaderboard.models import Split
from submissions.models import Evaluation, Submission
from submissions.services.evaluations import score_again
from submissions.services.fields import condition_field
from submissions.services.package import Package
from submissions.services.publication import publish
from submissions.services.receipt import Received, receive
from submissions.services.refusals import NotStored, QuotaExceeded, SplitClosed, TooManyFree, UploadRefused

EMAIL = "demo@example.org"
DECLARED = {
    "supervision": "zero-shot",
    "training_overlap": ["none"],
    "query_text": "as-released",
    "system": "single",
    "weights": "open",
    "backbone": "none: colour and pixel statistics, and the words of the text",
}
POLL_SECONDS = 0.25
Files = Mapping[str, str]
"""Field of a submission -> file below the demo's folder."""
UNDER_WAY = [Submission.State.RECEIVED, Submission.State.VALIDATING]
BEING_SCORED = [Evaluation.State.QUEUED, Evaluation.State.SCORING]


class Command(BaseCommand):
    help = "Send the files of the demo's baselines as submissions of a demo user; with --wait, publish their results."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--wait", type=float, default=0, metavar="SECONDS", help="wait for scores, then publish them"
        )

    def handle(self, *args: Any, wait: float, **options: Any) -> None:
        manifest = demo.read_manifest(settings.VAR / "demo")
        if manifest is None:
            raise CommandError("There is no demo: run `manage.py load_demo` first.")
        user = demo_user(settings.VAR / "demo-login.txt")
        try:
            sent = [send(user, *files) for files in (*rankings_of(manifest), *vectors_of(manifest))]
        except (UploadRefused, SplitClosed, QuotaExceeded, TooManyFree, NotStored) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{sum(received.created for received in sent)} of {len(sent)} demo submissions are new.")
        if wait:
            self._publish_when_scored([received.submission for received in sent], wait)

    def _publish_when_scored(self, submissions: Sequence[Submission], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        said = ""
        while waiting := len(unfinished(submissions)):
            line = f"Scoring the demo submissions: {len(submissions) - waiting} of {len(submissions)} done"
            if line != said:
                self.stdout.write(said := line)
            if time.monotonic() > deadline:
                raise CommandError(f"Not scored within {seconds:.0f} s. Does a worker run?")
            time.sleep(POLL_SECONDS)
        for submission in submissions:
            self._publish(submission)
        self.stdout.write(f"Scoring the demo submissions: all {len(submissions)} done and published")

    def _publish(self, submission: Submission) -> None:
        submission.refresh_from_db()
        if not submission.evaluations.filter(state=Evaluation.State.SCORED).exists():
            raise CommandError(f"{submission} has no scores: {submission.reason or submission.faults}")
        publish(submission)


def demo_user(login: Path) -> User:
    """Return the demo user, whose address and password stand in the file ``login``; both are made where missing."""
    user = User.objects.filter(email=EMAIL).first()
    if user is None:
        user = User.objects.create_user(EMAIL, first_name="Demo", last_name="baselines")
        EmailAddress.objects.create(user=user, email=EMAIL, verified=True, primary=True)
    if not login.exists() or not user.check_password(login.read_text().split()[-1]):
        password = secrets.token_urlsafe(12)
        login.unlink(missing_ok=True)
        login.touch(mode=0o600)
        login.write_text(f"{EMAIL}\n{password}\n")
        user.set_password(password)
        user.save(update_fields=["password"])
    return user


def rankings_of(manifest: demo.Manifest) -> Iterator[tuple[str, str, Files]]:
    """Yield split, method and files of each baseline that is sent as rankings: one submission with its conditions."""
    for split, baseline in dict.fromkeys((ranking.split, ranking.baseline) for ranking in manifest.rankings):
        mine = (ranking for ranking in manifest.rankings if (ranking.split, ranking.baseline) == (split, baseline))
        yield split, baseline, {condition_field(ranking.condition): ranking.file for ranking in mine}


def vectors_of(manifest: demo.Manifest) -> Iterator[tuple[str, str, Files]]:
    """Yield the same of each that is sent as vectors."""
    for split, method in dict.fromkeys((vectors.split, vectors.method) for vectors in manifest.vectors):
        mine = (vectors for vectors in manifest.vectors if (vectors.split, vectors.method) == (split, method))
        yield split, method, {vectors.field: vectors.file for vectors in mine}


def send(user: User, split: str, method: str, files: Files) -> Received:
    """Send one submission. The same bytes again are the same submission (decision 29), scored with this evaluator."""
    with ExitStack() as stack:
        opened = {field: _opened(name, stack) for field, name in files.items()}
        package = Package(files=opened)
        if "gallery" in files:
            package = Package(kind=Submission.Kind.EMBEDDINGS, similarity=Similarity.COSINE, files=opened)
        received = receive(
            user=user,
            split=Split.objects.get(slug=split),
            method_name=method,
            package=package,
            declared=DECLARED,
        )
    if received.submission.state == Submission.State.VALID:
        score_again(received.submission)
    return received


def unfinished(submissions: Sequence[Submission]) -> set[int]:
    """Return the ids of those that are not yet checked, or not yet scored on some split."""
    mine = Submission.objects.filter(pk__in=[submission.pk for submission in submissions])
    waiting = mine.filter(Q(state__in=UNDER_WAY) | Q(evaluations__state__in=BEING_SCORED))
    return set(waiting.values_list("pk", flat=True))


def _opened(name: str, stack: ExitStack) -> UploadedFile[bytes]:
    path = Path(settings.VAR, "demo", name)
    opened = stack.enter_context(path.open("rb"))
    return UploadedFile(File(opened), name=path.name, content_type="application/json", size=path.stat().st_size)
