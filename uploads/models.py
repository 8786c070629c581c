"""A file on its way here."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q

from accounts.models import Team, User


class Upload(models.Model):
    """One file that arrives in parts. The row is the truth: what storage holds beyond ``offset`` never came.

    Whoever makes use of a whole one takes it over with ``uploads.services.take``: the row goes, the file stays.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="uploads")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    """As its owner called it; only ever shown, never a path."""
    size = models.PositiveBigIntegerField()
    offset = models.PositiveBigIntegerField(default=0)
    """How much of it is here for good."""
    announced = models.CharField(max_length=64, blank=True)
    """The digest that its owner says it has (``evaluator.digests``); the last part is refused where it differs."""
    blocks = models.JSONField(default=list)
    """Digest of each whole block so far, in hexadecimal: the state of the digest between two requests."""
    digest = models.CharField(max_length=64, blank=True)
    """Of the whole file, once it is here."""
    stored = models.CharField(max_length=200)
    """Its name in storage, made up here."""
    parts = models.JSONField(default=dict)
    """What the store must remember between two requests."""
    writer = models.CharField(max_length=36, blank=True)
    """The request that writes now; a newer one may take over when ``writing_until`` has passed."""
    writing_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    """When it is swept, unless another part comes before."""

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(offset__lte=F("size")), name="upload_offset_within_size"),
            models.CheckConstraint(condition=Q(digest="") | Q(offset=F("size")), name="upload_digest_once_whole"),
        ]
        indexes = [models.Index(fields=["team", "announced"], name="upload_same_bytes")]

    def __str__(self) -> str:
        return f"{self.name} ({self.offset} of {self.size} bytes)"
