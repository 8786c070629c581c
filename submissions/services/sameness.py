"""Which uploads are the same (decision 29): the same bytes of one team for one method, on boards that they all fit."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import Team
from leaderboard.models import SplitVersion
from submissions.models import Evaluation, SentFile, Submission

ALIVE = (Evaluation.State.QUEUED, Evaluation.State.SCORING, Evaluation.State.SCORED)


def submission_of(
    digest: str, *, team: Team, method: str, version: SplitVersion, check_only: bool = False
) -> Submission | None:
    """Return the submission of the same bytes that is under way or has come out well.

    An upload is scored on every split it fits (decision 3), so one for a sister split is the same submission. One that
    was checked against other queries or another gallery is not; nor is a dry run, for who wants a score; nor are
    vectors that were deleted and have no score on this version, since they are sent again to get one.
    """
    same = Submission.objects.filter(_is_good(version, check_only=check_only), team=team, method__name=method)
    if not check_only:
        same = same.filter(check_only=False)
    found = same.filter(digest=digest, split__in=_splits_it_fits(version))
    return found.order_by("check_only", "received_at").first()


def _is_good(version: SplitVersion, *, check_only: bool) -> Q:
    evaluations = Evaluation.objects.filter(submission=OuterRef("pk"))
    alive = evaluations.filter(state__in=ALIVE)
    came_out = ~Q(Exists(evaluations)) if version.split.hidden_truth else Q(Exists(alive))
    gone = SentFile.objects.filter(submission=OuterRef("pk"), removed_at__isnull=False)
    came_out &= ~Q(Exists(gone)) | Q(Exists(alive.filter(version=version)))
    if check_only:
        came_out |= Q(check_only=True)
    under_way = Q(state__in=[Submission.State.RECEIVED, Submission.State.VALIDATING])
    return under_way | (Q(state=Submission.State.VALID, fit_key=version.fit_key) & came_out)


def _splits_it_fits(version: SplitVersion) -> QuerySet[SplitVersion, int]:
    same = SplitVersion.objects.filter(current=True, fit_key=version.fit_key, split__hidden_truth=False)
    if version.split.hidden_truth:
        same = SplitVersion.objects.filter(pk=version.pk)
    return same.values_list("split_id", flat=True)
