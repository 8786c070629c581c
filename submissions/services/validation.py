"""Checks a submission's files in a sandbox: all faults, or what can be scored."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from django.core.files.storage import default_storage
from django.db import transaction

from leaderboard import bundles
from leaderboard.models import SplitVersion
from submissions.models import Run, Submission
from submissions.services import dispatch, failures, quota, states
from submissions.services.evaluations import ensure_evaluations
from submissions.services.failures import LeaseKeeper
from submissions.services.leftovers import reading_folder
from submissions.services.reading import Reading, Verdict, read_rankings
from submissions.services.states import Claim
from submissions.services.vectors import read_vectors

log = logging.getLogger(__name__)


def validate(pk: int) -> None:
    """Check a submission that waits. Anything else is left alone, so a message may come twice (public report A4)."""
    claim = states.claim_submission(pk)
    if claim is not None:
        failures.attempt(claim, _validate)


def _validate(claim: Claim) -> None:
    submission = Submission.objects.select_related("split").get(pk=claim.pk)
    version = SplitVersion.objects.get(split=submission.split, current=True)
    split = bundles.load(version)
    read = read_vectors if submission.kind == Submission.Kind.EMBEDDINGS else read_rankings
    with tempfile.TemporaryDirectory(dir=reading_folder()) as folder:
        verdict = read(submission, split, Path(folder), LeaseKeeper(claim))
        if verdict.faults:
            _finish_invalid(claim, submission, verdict)
        else:
            _finish_valid(claim, submission, version, verdict)


@transaction.atomic
def _finish_invalid(claim: Claim, submission: Submission, verdict: Verdict) -> None:
    states.finish(claim, Submission.State.INVALID, faults=verdict.faults, more_faults=verdict.more)
    quota.give_back(submission.pk)
    log.info("invalid: %d faults", len(verdict.faults) + verdict.more)


def _finish_valid(claim: Claim, submission: Submission, version: SplitVersion, verdict: Verdict) -> None:
    """Keep the arrays and queue an evaluation for every split that fits; none where the truth is hidden (33)."""
    read = {reading.run.pk: reading for reading in verdict.readings if reading.run is not None}
    names = {pk: _keep_arrays(pk, reading) for pk, reading in read.items()}
    with transaction.atomic():
        states.finish(claim, Submission.State.VALID, fit_key=version.fit_key)
        for pk, reading in read.items():
            Run.objects.filter(pk=pk).update(format=reading.format, arrays=names[pk])
        evaluations = ensure_evaluations(Submission.objects.select_related("split").get(pk=submission.pk))
        if not evaluations:
            quota.give_back(submission.pk)
        for evaluation in evaluations:
            dispatch.evaluation_after_commit(evaluation.pk)
    log.info("valid; evaluations queued: %d", len(evaluations))


def _keep_arrays(pk: int, reading: Reading) -> str:
    """Move arrays into storage; the same run always has the same name, so an attempt that broke off leaves nothing.

    Vectors leave none: they stay as they were sent.
    """
    if reading.arrays is None:
        return ""
    name = f"arrays/{pk}.npz"
    target = Path(default_storage.path(name))
    target.parent.mkdir(parents=True, exist_ok=True)
    reading.arrays.replace(target)
    return name
