"""Method → entry → scores: the rows of the boards, scored here or reported elsewhere."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from accounts.models import Team
from leaderboard.models.benchmark import Split, SplitVersion


class Method(models.Model):
    """What is being compared. A reported method has no team here."""

    name = models.CharField(max_length=300)
    slug = models.SlugField(max_length=120, unique=True)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.PROTECT, related_name="methods")
    paper_url = models.URLField(blank=True)
    code_url = models.URLField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="method_name_once_in_team"),
            models.UniqueConstraint(fields=["name"], condition=Q(team__isnull=True), name="method_reported_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Entry(models.Model):
    """A set of scores for one method on one board; on the board once it is published.

    A scored entry belongs to one split version and evaluator version and is never overwritten (decision 32). A
    reported one carries numbers printed elsewhere and belongs to the split as such (decision 6).
    """

    class Trust(models.TextChoices):
        REPORTED = "reported", "reported"
        FILE_SCORED = "file", "file scored"
        REPRODUCED = "reproduced", "reproduced"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="entries")
    version = models.ForeignKey(SplitVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="entries")
    method = models.ForeignKey(Method, on_delete=models.PROTECT, related_name="entries")
    trust = models.CharField(max_length=12, choices=Trust.choices)
    ranks_by_author = models.BooleanField(default=False)
    """The author's judged-ranks file, not their rankings, was scored."""
    similarity = models.CharField(max_length=20, blank=True)
    """How the vectors that were ranked here are compared; empty where no vectors were sent."""
    evaluator_version = models.CharField(max_length=20, blank=True)
    declared = models.JSONField(default=dict)
    """What the author said (decision 30), the fields of ``leaderboard.declarations``."""
    pool_member = models.BooleanField(default=False)
    """Belongs to an audit's pool, so its single-modality Recall@10 on SF is zero by construction (decision 6)."""
    source = models.TextField(blank=True)
    """Where reported numbers were printed."""
    source_url = models.URLField(blank=True)
    unranked_reason = models.TextField(blank=True)
    """Why the row stands unranked although it has scores, for example other queries (decision 6)."""
    ranks_files = models.JSONField(default=dict)
    """condition -> name of the judged-ranks file in the default storage: per-query values come from these."""
    rank_counts = models.JSONField(default=dict)
    """Where the first right answer stands, by subset and condition, and how many queries each modality solves: see
    ``evaluator.rank_counts``."""
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(trust="reported", version__isnull=True, evaluator_version="")
                | (~Q(trust="reported") & Q(version__isnull=False) & ~Q(evaluator_version="")),
                name="entry_reported_or_scored",
            ),
            models.UniqueConstraint(
                fields=["split", "method"], condition=Q(trust="reported"), name="entry_reported_once"
            ),
        ]
        indexes = [models.Index(fields=["split", "version", "published_at"], name="entry_board")]

    def __str__(self) -> str:
        return f"{self.method} on {self.version or self.split}"


class Score(models.Model):
    """One number of an entry. An empty one has a reason (decision 18); nothing non-finite is ever stored."""

    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="scores")
    subset = models.CharField(max_length=12)
    condition = models.CharField(max_length=12, blank=True)
    """Empty for measures over several conditions."""
    group = models.CharField(max_length=120, blank=True)
    """``dimension=value``, or empty for the whole subset."""
    measure = models.CharField(max_length=60)
    value = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    n = models.PositiveIntegerField(default=0)
    """What the mean is over: queries, or paraphrase groups. 0 where a source does not say."""
    reason = models.TextField(blank=True)
    shown = models.CharField(max_length=24, blank=True)
    """The cell as people read it, formatted once, when it was scored."""
    shown_interval = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entry", "subset", "condition", "group", "measure"], name="score_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, reason="")
                | (Q(value__isnull=True, low__isnull=True, high__isnull=True) & ~Q(reason="")),
                name="score_value_or_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.subset} {self.condition} {self.group}: {self.shown}"


class Comparison(models.Model):
    """How an entry differs from the first scored one of its board: paired test, Holm's correction (decision 17)."""

    entry = models.OneToOneField(Entry, on_delete=models.CASCADE, related_name="comparison")
    first = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="+")
    difference = models.FloatField()
    p_value = models.FloatField()
    p_adjusted = models.FloatField()
    distinguishable = models.BooleanField()
    computed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.entry} against {self.first}: p = {self.p_adjusted:.3g}"
