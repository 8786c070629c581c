"""Pool → audit version → labels: what a pool said of a split on a day (decision 40)."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from audit.models.probing import Encoder
from leaderboard.models import Query, Split, SplitVersion


class Pool(models.Model):
    """The models of an audit. It grows; each audit version keeps the members it had."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    note = models.TextField(blank=True)
    encoders = models.ManyToManyField(Encoder, through="PoolMember", related_name="pools")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class PoolMember(models.Model):
    """One encoder's place in a pool. The order decides who is named where two reach the same best rank."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="members")
    encoder = models.ForeignKey(Encoder, on_delete=models.PROTECT, related_name="memberships")
    position = models.PositiveIntegerField()
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pool", "position"]
        constraints = [
            models.UniqueConstraint(fields=["pool", "encoder"], name="member_once"),
            models.UniqueConstraint(fields=["pool", "position"], name="member_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.encoder} in {self.pool}"


class AuditVersion(models.Model):
    """The labels that a pool gave a split at one K on one day. Never changed; a newer one stands beside it."""

    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="audits")
    version = models.ForeignKey(SplitVersion, on_delete=models.PROTECT, related_name="audits")
    number = models.PositiveIntegerField()
    """Counts the audits of a split."""
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="versions")
    k = models.PositiveIntegerField(default=10)
    members = models.JSONField()
    """[{"encoder": slug, "name": …, "revision": …, "models": …}] as they were."""
    split_digest = models.CharField(max_length=64)
    ranks_key = models.CharField(max_length=64, db_index=True)
    digest = models.CharField(max_length=64)
    """SHA-256 over members, K and every label: two versions that say the same share it."""
    report = models.JSONField(default=dict)
    """The tables of its page, made once: see ``evaluator.audit.report``."""
    note = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    frozen = models.ForeignKey(
        SplitVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="frozen_from"
    )
    """The split version whose SF′ and V′ come from these labels."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["split", "-number"]
        constraints = [models.UniqueConstraint(fields=["split", "number"], name="audit_number_once")]

    def __str__(self) -> str:
        return f"{self.split} audit {self.number}"


class Label(models.Model):
    """What one audit version says of one query. Ranks are 1-based; 0 where no model ranks a positive."""

    audit = models.ForeignKey(AuditVersion, on_delete=models.CASCADE, related_name="labels")
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="audit_labels")
    label = models.CharField(max_length=24)
    """``evaluator.audit.labels.Label``."""
    kind = models.CharField(max_length=8, blank=True)
    """``evaluator.audit.labels.Kind`` of a shortcut."""
    multimodal_rank = models.PositiveIntegerField()
    text_rank = models.PositiveIntegerField()
    image_rank = models.PositiveIntegerField()
    multimodal_best = models.CharField(max_length=120, blank=True)
    """The model that reached the rank; empty where a frozen pool does not name it."""
    text_best = models.CharField(max_length=120, blank=True)
    image_best = models.CharField(max_length=120, blank=True)
    multimodal_support = models.PositiveSmallIntegerField()
    """How many models have a positive among their first K."""
    text_support = models.PositiveSmallIntegerField()
    image_support = models.PositiveSmallIntegerField()
    either_support = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["audit", "query"]
        constraints = [models.UniqueConstraint(fields=["audit", "query"], name="label_once")]
        indexes = [models.Index(fields=["audit", "label", "kind"], name="label_of_audit")]

    def __str__(self) -> str:
        return f"{self.query}: {self.label}"
