"""Which evaluations a submission has, and how one is scored."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from pathlib import Path

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Team
from evaluator import __version__, scoring
from evaluator.errors import EvaluatorError
from evaluator.formats import JUDGED
from evaluator.ranks import covers
from evaluator.store import load_run, save_run
from evaluator.types import Condition, Run, Scorecard
from leaderboard import bundles
from leaderboard.models import SplitVersion
from leaderboard.services import entries
from submissions.models import Evaluation, Submission
from submissions.services import dispatch, failures, quota, ranking, sameness, states
from submissions.services.boards import open_version
from submissions.services.failures import LeaseKeeper
from submissions.services.refusals import IllegalMove
from submissions.services.states import Claim

RANKED_PERCENT = 90
"""How far the scoring of vectors is once they are ranked."""
RESERVED = Submission.QuotaState.RESERVED

log = logging.getLogger(__name__)


def versions_to_score(submission: Submission) -> list[SplitVersion]:
    """Return every current version that a checked submission fits, its own board's first (decision 3).

    Boards that are closed or whose truth is hidden are left out, and those that judge an image whose rank an author's
    file does not give. A submission to a hidden one has none at all, nor has a dry run.
    """
    if submission.split.hidden_truth or submission.check_only:
        return []
    fitting = SplitVersion.objects.filter(current=True, fit_key=submission.fit_key, split__hidden_truth=False)
    wanted = fitting.filter(Q(split__open=True) | Q(split=submission.split_id)).select_related("split")
    covered = [version for version in wanted if _covers(version, submission)]
    return sorted(covered, key=lambda version: (version.split_id != submission.split_id, version.pk))


def _covers(version: SplitVersion, submission: Submission) -> bool:
    """Whether every judged image of a version has a rank; rankings give one to each."""
    if not _ranks_by_author(submission):
        return True
    return all(covers(bundles.load(version), run) for run in stored_runs(submission).values())


def _ranks_by_author(submission: Submission) -> bool:
    return submission.runs.filter(format=JUDGED).exists()


def ensure_evaluations(submission: Submission) -> list[Evaluation]:
    """Queue an evaluation for each (version, evaluator version) that lacks one; return the new ones (decision 32)."""
    now = timezone.now()
    made = []
    for version in versions_to_score(submission):
        evaluation, created = Evaluation.objects.get_or_create(
            submission=submission, version=version, evaluator_version=__version__, defaults={"queued_at": now}
        )
        if created:
            made.append(evaluation)
    return made


@transaction.atomic
def score_again(submission: Submission) -> list[Evaluation]:
    """Queue what is missing of a checked submission on the current splits and evaluator. Idempotent; costs no quota.

    Raises IllegalMove where there is nothing that could be scored again.
    """
    if submission.state != Submission.State.VALID:
        raise IllegalMove("Only a submission that was checked can be scored again.")
    earlier = submission.evaluations.all()
    if earlier.exists() and not earlier.exclude(state=Evaluation.State.CANCELLED).exists():
        raise IllegalMove("This submission was cancelled.")
    made = ensure_evaluations(submission)
    for evaluation in made:
        dispatch.evaluation_after_commit(evaluation.pk)
    return made


@transaction.atomic
def score_checked(submission: Submission) -> list[Evaluation]:
    """Have a dry run scored after all: it takes quota now. Raises QuotaExceeded, SplitClosed or IllegalMove."""
    Team.objects.select_for_update().get(pk=submission.team_id)
    row = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("split", "team", "method")
        .get(pk=submission.pk)
    )
    if not row.check_only or row.state != Submission.State.VALID or row.split.hidden_truth:
        raise IllegalMove("Only a submission that was checked and not scored can be scored now.")
    version = open_version(row.split)
    if version.fit_key != row.fit_key:
        raise IllegalMove("The split has changed since this was checked. Send the files again.")
    if sameness.submission_of(row.digest, team=row.team, method=row.method.name, version=version):
        raise IllegalMove("These files were sent for this method meanwhile: that submission is scored, or will be.")
    row.check_only, row.quota_day, row.quota_state = False, quota.reserve(row.team, row.split), RESERVED
    row.save(update_fields=["check_only", "quota_day", "quota_state"])
    return score_again(row)


def score(pk: int) -> None:
    """Score an evaluation that waits. Anything else is left alone, so a message may come twice (public report A4)."""
    claim = states.claim_evaluation(pk, worker=socket.gethostname()[:120])
    if claim is not None:
        failures.attempt(claim, _score)


def _score(claim: Claim) -> None:
    evaluation = Evaluation.objects.select_related("submission", "version__split").get(pk=claim.pk)
    if evaluation.evaluator_version != __version__:
        _supersede(claim, evaluation)
        return
    if evaluation.submission.kind == Submission.Kind.EMBEDDINGS:
        _score_vectors(claim, evaluation)
        return
    split = bundles.load(evaluation.version)
    card = scoring.score(split, stored_runs(evaluation.submission), progress=LeaseKeeper(claim, percent=(0, 100)))
    _finish(claim, evaluation, card, _keep_ranks(evaluation, card))


def _score_vectors(claim: Claim, evaluation: Evaluation) -> None:
    """Rank the vectors, or find the ranks that are kept of them, and score those."""
    split = bundles.load(evaluation.version)
    ranked_at, scored_at = RANKED_PERCENT, 100
    try:
        runs, names = ranking.ranks_of(evaluation, split, claim.attempt, LeaseKeeper(claim, (0, ranked_at)))
    except ranking.VectorsGone as gone:
        _leave_unscored(claim, evaluation, str(gone))
        return
    card = scoring.score(split, runs, progress=LeaseKeeper(claim, (ranked_at, scored_at)))
    _finish(claim, evaluation, card, names)


@transaction.atomic
def _leave_unscored(claim: Claim, evaluation: Evaluation, reason: str) -> None:
    """End an evaluation that nothing can be scored of any more: nobody's fault, and free of quota."""
    _locked(evaluation.submission_id)
    states.finish(claim, Evaluation.State.CANCELLED, reason=reason)
    if not evaluation.submission.evaluations.exclude(state=Evaluation.State.CANCELLED).exists():
        quota.give_back(evaluation.submission_id)
    log.info("not scored: %s", reason)


def stored_runs(submission: Submission) -> dict[Condition, Run]:
    """Return the checked runs of a submission. Raises EvaluatorError where one is missing or damaged."""
    runs = {Condition(run.condition): run.arrays for run in submission.runs.all()}
    if not all(runs.values()):
        raise EvaluatorError("a checked submission has a run without arrays")
    return {condition: load_run(Path(default_storage.path(name))) for condition, name in runs.items()}


def _keep_ranks(evaluation: Evaluation, card: Scorecard) -> dict[Condition, str]:
    """Store the judged ranks; every attempt writes the same bytes under the same names."""
    names = {condition: f"ranks/{evaluation.pk}/{condition}.npz" for condition in card.ranks}
    for condition, name in names.items():
        path = Path(default_storage.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        save_run(card.ranks[condition], path)
    return names


@transaction.atomic
def _finish(claim: Claim, evaluation: Evaluation, card: Scorecard, ranks_files: Mapping[Condition, str]) -> None:
    """Write scores and state together, or, when the claim was lost meanwhile, neither."""
    submission = _locked(evaluation.submission_id)
    entry = entries.create_entry(
        card,
        version=evaluation.version,
        method=submission.method,
        declared=submission.declared,
        ranks_files=ranks_files,
        ranks_by_author=_ranks_by_author(submission),
        similarity=submission.similarity,
        published_at=submission.published_at,
    )
    states.finish(claim, Evaluation.State.SCORED, entry=entry, percent=100)
    if submission.published_at is not None:
        dispatch.comparison_after_commit(evaluation.version.split_id)
    log.info("scored: %d scores", len(card.scores))


@transaction.atomic
def _supersede(claim: Claim, evaluation: Evaluation) -> None:
    """Replace an evaluation that waited for an evaluator which is gone by one of the evaluator that is here.

    Where the split has changed as well nothing can replace it, and what was never scored costs no quota.
    """
    reason = f"Evaluator {evaluation.evaluator_version} was replaced by {__version__} before this was scored."
    states.finish(claim, Evaluation.State.CANCELLED, reason=reason)
    for made in ensure_evaluations(evaluation.submission):
        dispatch.evaluation_after_commit(made.pk)
    if not evaluation.submission.evaluations.exclude(state=Evaluation.State.CANCELLED).exists():
        quota.give_back(evaluation.submission_id)
    log.info("superseded by evaluator %s", __version__)


def _locked(pk: int) -> Submission:
    return Submission.objects.select_for_update(of=("self",)).select_related("method").get(pk=pk)
