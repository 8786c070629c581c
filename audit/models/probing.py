"""Encoder → job → probes: which models there are, and what they ranked (decision 36)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluator.types import Condition
from leaderboard.models import SplitVersion


class Encoder(models.Model):
    """A model under audit in one exact state, or a frozen pool of which only best ranks are known (decision 39)."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120, unique=True)
    """As pools and labels name it."""
    family = models.CharField(max_length=40)
    """One of ``evaluator.encoders.FAMILIES``, or :data:`FROZEN`."""
    model = models.CharField(max_length=200)
    """Name of the weights, as their publisher writes it."""
    revision = models.CharField(max_length=200)
    licence = models.CharField(max_length=200, blank=True)
    options = models.JSONField(default=dict, blank=True)
    """What else decides its vectors; see ``docs/audit.md`` for each family."""
    conditions = models.JSONField(default=dict, blank=True)
    """condition -> how it is built for this encoder, in a sentence (decision 37). Filled when it first ran."""
    dimension = models.PositiveIntegerField(null=True, blank=True)
    training = models.TextField(blank=True)
    """How it was trained, where readers must know it."""
    source_url = models.URLField(blank=True)
    models_in_it = models.PositiveSmallIntegerField(default=1)
    """1, or how many models a frozen pool stands for."""
    created_at = models.DateTimeField(auto_now_add=True)

    FROZEN = "frozen pool"

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["family", "model", "revision", "options"], name="encoder_state_once"),
            models.CheckConstraint(condition=~Q(revision=""), name="encoder_has_revision"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_frozen(self) -> bool:
        return self.family == self.FROZEN


class Job(models.Model):
    """One run of an encoder over a split under all three conditions. The row is the truth, not the queue."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    WAITING = (State.QUEUED, State.RUNNING)

    encoder = models.ForeignKey(Encoder, on_delete=models.PROTECT, related_name="jobs")
    version = models.ForeignKey(SplitVersion, on_delete=models.PROTECT, related_name="audit_jobs")
    ranks_key = models.CharField(max_length=64, db_index=True)
    """``evaluator.bundle.ranks_key`` of the split: what the probes it makes are good for."""
    instruction = models.TextField(blank=True)
    """The instruction prefix its queries were given."""
    dtype = models.CharField(max_length=12, default="float32")
    """What it is asked to compute in; lower precision is used only where ranks do not change."""
    batch = models.PositiveIntegerField(default=0)
    device = models.CharField(max_length=80, blank=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    phase = models.CharField(max_length=20, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    rate = models.FloatField(null=True, blank=True)
    """Inputs a second, over the last while."""
    seconds_left = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    """Why it failed, with what to do; a reference number where it is not the encoder's or a picture's fault."""

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["encoder", "ranks_key"],
                condition=Q(state__in=["queued", "running"]),
                name="job_under_way_once",
            ),
            models.CheckConstraint(
                condition=Q(state="failed") & ~Q(reason="") | ~Q(state="failed"), name="job_failed_says_why"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.encoder} on {self.version}"


class Probe(models.Model):
    """One model under one condition on one split: the rank of every positive, never changed once stored."""

    encoder = models.ForeignKey(Encoder, on_delete=models.PROTECT, related_name="probes")
    condition = models.CharField(max_length=12, choices=[(str(each), str(each)) for each in Condition])
    ranks_key = models.CharField(max_length=64, db_index=True)
    version = models.ForeignKey(SplitVersion, on_delete=models.PROTECT, related_name="probes")
    """The version it was made on; it holds for every version with the same ``ranks_key``."""
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="probes")
    ranks = models.CharField(max_length=200)
    """Name in the default storage: judged ranks; for a frozen pool, its best ranks and supports."""
    recall = models.FloatField()
    """Share of Full with a positive among the first ten."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["encoder", "condition"]
        constraints = [
            models.UniqueConstraint(fields=["encoder", "condition", "ranks_key"], name="probe_once"),
        ]

    def __str__(self) -> str:
        return f"{self.encoder}, {self.condition}, on {self.version}"
