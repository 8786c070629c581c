"""One execution of the evaluator over one submission, as a state machine (decision 27)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from leaderboard.models import Entry, SplitVersion
from submissions.models.submission import Submission


class Evaluation(models.Model):
    """(submission, split version, evaluator version): unique, never overwritten.

    A scored one has an entry, a failed one a reason.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        SCORING = "scoring"
        SCORED = "scored"
        FAILED = "failed"
        CANCELLED = "cancelled"

    FINAL = (State.SCORED, State.FAILED, State.CANCELLED)

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="evaluations")
    version = models.ForeignKey(SplitVersion, on_delete=models.PROTECT, related_name="evaluations")
    evaluator_version = models.CharField(max_length=20)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    percent = models.PositiveSmallIntegerField(default=0)
    """How far the current attempt has come."""
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    """When a worker was last told of it; empty while the broker never took the message."""
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    reference = models.CharField(max_length=20, blank=True)
    """Reference number of a failure of ours; the traceback is in the log under it."""
    reason = models.TextField(blank=True)
    entry = models.OneToOneField(Entry, null=True, blank=True, on_delete=models.PROTECT, related_name="evaluation")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "version", "evaluator_version"], name="evaluation_once"),
            models.CheckConstraint(
                condition=Q(state="scored", entry__isnull=False) | (~Q(state="scored") & Q(entry__isnull=True)),
                name="evaluation_scored_has_entry",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | (~Q(reference="") & ~Q(reason="")), name="evaluation_failed_has_reason"
            ),
            models.CheckConstraint(
                condition=~Q(state="scoring") | Q(lease_until__isnull=False, started_at__isnull=False),
                name="evaluation_scoring_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "scoring"], finished_at__isnull=True)
                | Q(state__in=["scored", "failed", "cancelled"], finished_at__isnull=False),
                name="evaluation_final_is_finished",
            ),
        ]
        indexes = [models.Index(fields=["state", "lease_until"], name="evaluation_sweep")]

    def __str__(self) -> str:
        return f"{self.submission_id} on {self.version} ({self.state})"
