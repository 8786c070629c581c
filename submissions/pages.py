"""Reads for the pages of a submission: its state in words, its place in the queue, its evaluations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from accounts.models import User
from evaluator import bundle
from evaluator.errors import FAULTS
from evaluator.types import Condition, Protocol
from leaderboard.models import Score, Split, SplitVersion
from leaderboard.selectors.columns import shown_measures
from leaderboard.selectors.entry import declared_facts
from leaderboard.selectors.measures import MeasureWords, words
from submissions.models import Evaluation, SentFile, Submission

UNDER_WAY = (Submission.State.RECEIVED, Submission.State.VALIDATING)
FAULTS_AT_SIGHT = 5
SCORING = (Evaluation.State.QUEUED, Evaluation.State.SCORING)


@dataclass(frozen=True)
class Standing:
    """Where a submission is: one word for its mark, a sentence, and since when it waits, while it does."""

    mark: str
    sentence: str
    since: datetime | None = None
    ahead: int | None = None
    """How many pieces of work stand before it in the queue."""

    @property
    def final(self) -> bool:
        return self.since is None


@dataclass(frozen=True)
class FaultRow:
    """One fault as the page prints it."""

    code: str
    title: str
    file: str
    place: str
    found: str
    expected: str
    remedy: str


@dataclass(frozen=True)
class FaultGroup:
    """The faults of one code, in the order of the files: a thousand of one kind read as one mistake."""

    code: str
    title: str
    rows: tuple[FaultRow, ...]

    @property
    def remedy(self) -> str:
        """How to mend all of them, where one sentence serves."""
        remedies = {row.remedy for row in self.rows}
        return remedies.pop() if len(remedies) == 1 else ""

    @property
    def first(self) -> tuple[FaultRow, ...]:
        return self.rows[:FAULTS_AT_SIGHT]

    @property
    def rest(self) -> tuple[FaultRow, ...]:
        """What is folded away."""
        return self.rows[FAULTS_AT_SIGHT:]


@dataclass(frozen=True)
class MainScore:
    """One of the few scores on the private page; all are on the entry's own page."""

    words: MeasureWords
    scores: Sequence[Score | None]


@dataclass(frozen=True)
class EvaluationView:
    """One evaluation on the private page."""

    evaluation: Evaluation
    split: Split
    subsets: tuple[str, ...]
    main: tuple[MainScore, ...]


@dataclass(frozen=True)
class SentGroup:
    """The files of one condition, or the vectors of the gallery."""

    title: str
    format: str
    files: tuple[SentFile, ...]


@dataclass(frozen=True)
class SubmissionPage:
    """Everything the private page prints."""

    submission: Submission
    standing: Standing
    fingerprint: str
    faults: tuple[FaultGroup, ...]
    evaluations: tuple[EvaluationView, ...]
    sent: tuple[SentGroup, ...]
    facts: tuple[tuple[str, str], ...]

    @property
    def can_score(self) -> bool:
        """Whether it was only checked, with a good result, where this site could score it."""
        checked = self.submission.check_only and self.submission.state == Submission.State.VALID
        return checked and not self.submission.split.hidden_truth

    @property
    def can_publish(self) -> bool:
        scored = any(view.evaluation.state == Evaluation.State.SCORED for view in self.evaluations)
        return scored and self.submission.published_at is None

    @property
    def can_withdraw(self) -> bool:
        return self.submission.published_at is not None

    @property
    def can_cancel(self) -> bool:
        return not self.standing.final


@dataclass(frozen=True)
class BoardChoice:
    """One board that takes submissions."""

    split: Split
    version: SplitVersion


def boards_to_choose() -> list[BoardChoice]:
    """Return the boards that take submissions, in the order of the site."""
    current = SplitVersion.objects.filter(current=True, split__open=True).select_related("split__benchmark")
    versions = current.order_by("split__benchmark__position", "split__position")
    return [BoardChoice(version.split, version) for version in versions]


def submissions_of(user: User) -> list[tuple[Submission, Standing]]:
    """Return the submissions of a person's teams with where each is, newest first, in a fixed number of queries."""
    found = Submission.objects.filter(team__in=user.teams.all()).select_related("split", "method")
    return [(one, _standing(one, list(one.evaluations.all()), None)) for one in found.prefetch_related("evaluations")]


def submission_page(submission: Submission) -> SubmissionPage:
    """Return the private page of a submission."""
    evaluations = list(
        submission.evaluations.select_related("version__split", "entry").order_by("version__split__position", "pk")
    )
    return SubmissionPage(
        submission=submission,
        standing=standing(submission, evaluations),
        fingerprint=fingerprint(submission, evaluations),
        faults=_fault_groups(submission.faults),
        evaluations=tuple(_evaluation_view(evaluation) for evaluation in evaluations),
        sent=tuple(_sent(submission)),
        facts=tuple(declared_facts(submission.declared)),
    )


def _sent(submission: Submission) -> Iterator[SentGroup]:
    """Yield what was sent, in the order of the form: the gallery, then the conditions."""
    files = list(submission.files.order_by("pk"))
    if gallery := tuple(file for file in files if file.run_id is None):
        yield SentGroup("Gallery", "", gallery)
    runs = {run.condition: run for run in submission.runs.all()}
    for condition in Condition:
        if run := runs.get(condition):
            yield SentGroup(condition.capitalize(), run.format, tuple(file for file in files if file.run_id == run.pk))


def standing(submission: Submission, evaluations: Sequence[Evaluation]) -> Standing:
    """Return where a submission is, with its place in the queue."""
    waits_since = _waits_since(submission, evaluations)
    return _standing(submission, evaluations, work_before(waits_since) if waits_since else None)


def fingerprint(submission: Submission, evaluations: Sequence[Evaluation]) -> str:
    """Return what changes exactly when the page would look different; the live script compares it."""
    parts = [
        submission.state,
        submission.check_only,
        submission.published_at,
        [(one.pk, one.state) for one in evaluations],
    ]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def work_before(instant: datetime) -> int:
    """Count what the workers have to do before something that was queued at ``instant``."""
    submissions = Submission.objects.filter(state__in=UNDER_WAY, received_at__lt=instant).count()
    return submissions + Evaluation.objects.filter(state__in=SCORING, queued_at__lt=instant).count()


def _waits_since(submission: Submission, evaluations: Sequence[Evaluation]) -> datetime | None:
    if submission.state in UNDER_WAY:
        return submission.received_at
    return min((one.queued_at for one in evaluations if one.state in SCORING), default=None)


def _standing(submission: Submission, evaluations: Sequence[Evaluation], ahead: int | None) -> Standing:
    since = _waits_since(submission, evaluations)
    if submission.state == Submission.State.RECEIVED:
        return Standing("received", "Received; waiting for a worker to read it.", since, ahead)
    if submission.state == Submission.State.VALIDATING:
        return Standing("validating", "A worker is reading it.", since, 0)
    if submission.state == Submission.State.VALID:
        return _valid_standing(submission, evaluations, since, ahead)
    if submission.state == Submission.State.INVALID:
        return Standing("invalid", "The files cannot be scored as they are. This cost no quota.")
    if submission.state == Submission.State.FAILED:
        return Standing("failed", f"This is our fault, and cost no quota. Reference number: {submission.reference}.")
    return Standing("cancelled", submission.reason or "Cancelled.")


def _valid_standing(
    submission: Submission, evaluations: Sequence[Evaluation], since: datetime | None, ahead: int | None
) -> Standing:
    if submission.split.hidden_truth:
        return Standing(
            "checked", "The files are good. The truth is hidden: the official server scores them. No quota was used."
        )
    if submission.check_only:
        return Standing("checked", "The files are good. Nothing was scored and no quota was used.")
    return _scoring_standing(submission, evaluations, since, ahead)


def _scoring_standing(
    submission: Submission, evaluations: Sequence[Evaluation], since: datetime | None, ahead: int | None
) -> Standing:
    states = {one.state for one in evaluations}
    if Evaluation.State.SCORING in states:
        return Standing("scoring", _scoring_words(submission, evaluations), since, 0)
    if Evaluation.State.QUEUED in states:
        return Standing("queued", "The files are good; waiting to be scored.", since, ahead)
    if Evaluation.State.SCORED in states:
        shown = "On the board." if submission.published_at else "Only your team sees it until you publish it."
        return Standing("published" if submission.published_at else "scored", f"Scored. {shown}")
    if Evaluation.State.FAILED in states:
        return Standing("failed", "Scoring failed. This is our fault, and cost no quota.")
    return Standing("cancelled", submission.reason or "Cancelled before it was scored.")


def _scoring_words(submission: Submission, evaluations: Sequence[Evaluation]) -> str:
    """Say how far it is, where that takes a while."""
    if submission.kind == Submission.Kind.RANKINGS:
        return "The files are good; a worker is scoring them."
    percent = max(one.percent for one in evaluations if one.state == Evaluation.State.SCORING)
    return f"The vectors are good; a worker ranks them over the whole gallery: {percent} % done."


def _fault_groups(faults: Sequence[dict[str, str]]) -> tuple[FaultGroup, ...]:
    rows: dict[str, list[FaultRow]] = {}
    for row in map(_fault_row, faults):
        rows.setdefault(row.code, []).append(row)
    return tuple(FaultGroup(code, group[0].title, tuple(group)) for code, group in rows.items())


def _fault_row(fault: dict[str, str]) -> FaultRow:
    kind = FAULTS.get(fault["code"])
    said = {name: fault.get(name, "") for name in ("code", "file", "place", "found", "expected", "remedy")}
    return FaultRow(title=kind.title if kind else fault["code"], **said)


def _evaluation_view(evaluation: Evaluation) -> EvaluationView:
    protocol = bundle.protocol_of(evaluation.version.protocol)
    subsets = tuple(str(subset) for subset in protocol.subsets)
    main = tuple(_main_scores(evaluation, subsets, protocol)) if evaluation.entry else ()
    return EvaluationView(evaluation, evaluation.version.split, subsets, main)


def _main_scores(evaluation: Evaluation, subsets: tuple[str, ...], protocol: Protocol) -> list[MainScore]:
    """Return what the board shows at first sight of the multimodal run, on every subset."""
    names = [name for name in shown_measures(protocol, everything=False) if name not in protocol.joint_measures]
    wanted = Q(condition="multimodal", group="", measure__in=names)
    found = {(score.measure, score.subset): score for score in Score.objects.filter(wanted, entry=evaluation.entry)}
    return [MainScore(words(name), [found.get((name, subset)) for subset in subsets]) for name in names]
