"""Submission → runs and files, and the quota they are counted against."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from accounts.models import Team, User
from leaderboard.models import Method, Split


class Submission(models.Model):
    """What a person uploads for one method on one split. The row is the truth; tasks only follow it (decision 27)."""

    class State(models.TextChoices):
        RECEIVED = "received"
        VALIDATING = "validating"
        VALID = "valid"
        INVALID = "invalid"
        FAILED = "failed"
        CANCELLED = "cancelled"

    FINAL = (State.VALID, State.INVALID, State.FAILED, State.CANCELLED)

    class Kind(models.TextChoices):
        RANKINGS = "rankings"
        EMBEDDINGS = "embeddings"

    class QuotaState(models.TextChoices):
        RESERVED = "reserved"
        USED = "used"
        RETURNED = "returned"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="submissions")
    method = models.ForeignKey(Method, on_delete=models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="submissions")
    declared = models.JSONField(default=dict)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.RANKINGS)
    """What its runs are: ranking and judged-ranks files, or vectors of queries beside those of the gallery."""
    similarity = models.CharField(max_length=20, blank=True)
    """How vectors are compared, ``evaluator.types.Similarity``; empty for rankings."""
    digest = models.CharField(max_length=64)
    """SHA-256 over the digests of all files with their conditions: same bytes, same submission (decision 29)."""
    check_only = models.BooleanField(default=False)
    """A dry run: checked like any other, not scored, free of quota (decision 24). Its team may have it scored later."""
    idempotency_key = models.CharField(max_length=100, blank=True)

    state = models.CharField(max_length=12, choices=State.choices, default=State.RECEIVED)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    """When a worker was last told of it; empty while the broker never took the message."""
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    fit_key = models.CharField(max_length=64, blank=True)
    """``SplitVersion.fit_key`` that its arrays were checked against: it can be scored on versions with this key."""
    faults = models.JSONField(default=list)
    more_faults = models.PositiveIntegerField(default=0)
    reference = models.CharField(max_length=20, blank=True)
    """Reference number of a failure of ours."""
    reason = models.TextField(blank=True)
    """What to tell the person when it failed or was cancelled."""

    quota_day = models.DateField()
    """UTC."""
    quota_state = models.CharField(max_length=10, choices=QuotaState.choices, default=QuotaState.RESERVED)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-received_at"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="validating") | Q(lease_until__isnull=False, started_at__isnull=False),
                name="submission_validating_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["received", "validating"], finished_at__isnull=True)
                | Q(state__in=["valid", "invalid", "failed", "cancelled"], finished_at__isnull=False),
                name="submission_final_is_finished",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(reference=""), name="submission_failed_has_reference"
            ),
            models.CheckConstraint(condition=~Q(state="invalid") | ~Q(faults=[]), name="submission_invalid_has_faults"),
            models.CheckConstraint(
                condition=(Q(kind="embeddings") & ~Q(similarity="")) | Q(kind="rankings", similarity=""),
                name="submission_vectors_have_similarity",
            ),
            models.UniqueConstraint(
                fields=["user", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="submission_idempotency_key_once",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "lease_until"], name="submission_sweep"),
            models.Index(fields=["team", "split", "digest"], name="submission_same_bytes"),
        ]

    def __str__(self) -> str:
        return f"{self.method} for {self.split} ({self.state})"


class Run(models.Model):
    """The files of one condition, and the arrays that were made of them."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="runs")
    condition = models.CharField(max_length=12)
    format = models.CharField(max_length=40, blank=True)
    arrays = models.CharField(max_length=200, blank=True)
    """Name of the normalised array file in the default storage: what validation made of a ranking; of vectors the
    nearest 50 images of each query, once they were ranked."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "condition"], name="run_condition_once")]

    def __str__(self) -> str:
        return f"{self.condition} of {self.submission_id}"


class SentFile(models.Model):
    """One file that was sent. A run of rankings may have two (CIRR's main list and subset); gallery vectors belong to
    no run, but to all of them."""

    class Role(models.TextChoices):
        RANKING = "ranking"
        SUBSET = "subset"
        QUERIES = "queries"
        QUERY_IDS = "query ids"
        GALLERY = "gallery"
        GALLERY_IDS = "gallery ids"

    OF_NO_RUN = (Role.GALLERY, Role.GALLERY_IDS)
    OF_VECTORS = (Role.QUERIES, Role.QUERY_IDS, Role.GALLERY, Role.GALLERY_IDS)
    """What is deleted some time after scoring (decision 26)."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="files")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.CASCADE, related_name="files")
    role = models.CharField(max_length=12, choices=Role.choices)
    name = models.CharField(max_length=200)
    """As the author called it; only ever shown, never a path."""
    stored = models.CharField(max_length=200)
    """Name in storage. Several rows share it where gallery vectors were used again."""
    size = models.PositiveBigIntegerField()
    digest = models.CharField(max_length=64)
    """``evaluator.digests``: the same bytes have the same digest, whichever way they came."""
    removed_at = models.DateTimeField(null=True, blank=True)
    """When its content was deleted; the row says what was sent."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["gallery", "gallery ids"], run__isnull=True)
                | Q(role__in=["ranking", "subset", "queries", "query ids"], run__isnull=False),
                name="file_of_a_run_or_of_all",
            ),
        ]
        indexes = [
            models.Index(fields=["stored"], name="file_stored"),
            models.Index(fields=["digest"], name="file_digest"),
        ]

    def __str__(self) -> str:
        return self.name


class Quota(models.Model):
    """Submissions of a team on a board on a UTC day. The row is the lock (decision 28)."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE)
    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    day = models.DateField()
    used = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["split", "team", "day"], name="quota_once")]

    def __str__(self) -> str:
        return f"{self.team} on {self.split}, {self.day}: {self.used}"
