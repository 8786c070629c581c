"""Benchmark → split → version → queries, judgments, clusters, subsets.

The bundle file of a version is what is scored; these rows are the same content for pages and joins.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Benchmark(models.Model):
    """A family of splits: CIRCUS, PinPoint, CIRR, ..."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    summary = models.TextField(blank=True)
    paper_title = models.CharField(max_length=200, blank=True)
    paper_url = models.URLField(blank=True)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.name


class Split(models.Model):
    """One board. Without a version it is reported-only (decision 43): no queries, no digest."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="splits")
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    summary = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    source_url = models.URLField(blank=True)
    official_server_url = models.URLField(blank=True)
    """Where hidden truth is scored."""
    hidden_truth = models.BooleanField(default=False)
    open = models.BooleanField(default=True)
    """Whether submissions are taken (once there is a version)."""
    daily_quota = models.PositiveSmallIntegerField(null=True, blank=True)
    """Submissions a team may have scored in a UTC day; empty for the site's default."""
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.slug


class SplitVersion(models.Model):
    """A frozen state of a split. Never changed; a change of content is the next number (decision 1)."""

    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    fit_key = models.CharField(max_length=64, db_index=True)
    """Equal for two versions exactly when one upload fits both (decision 3)."""
    bundle = models.CharField(max_length=200)
    """Name of the bundle file in the default storage."""
    protocol = models.JSONField()
    """``evaluator.types.Protocol`` as data, so that pages need not open the bundle."""
    query_count = models.PositiveIntegerField()
    gallery_size = models.PositiveIntegerField(null=True)
    """None where the gallery is open (decision 42)."""
    cluster_name = models.CharField(max_length=80)
    cluster_count = models.PositiveIntegerField()
    current = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["split", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["split", "number"], name="version_number_once"),
            models.UniqueConstraint(fields=["split", "digest"], name="version_content_once"),
            models.UniqueConstraint(fields=["split"], condition=Q(current=True), name="version_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.split} v{self.number}"


class Cluster(models.Model):
    """What is independent and so what intervals resample: an image set, a base query, a reference (decision 17)."""

    version = models.ForeignKey(SplitVersion, on_delete=models.CASCADE, related_name="clusters")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "number"], name="cluster_number_once")]

    def __str__(self) -> str:
        return f"{self.version} cluster {self.number}"


class Query(models.Model):
    """One or two reference images and a modification text."""

    version = models.ForeignKey(SplitVersion, on_delete=models.CASCADE, related_name="queries")
    position = models.PositiveIntegerField()
    """0-based row in the split, the order of every array."""
    native_id = models.CharField(max_length=100)
    text = models.TextField(blank=True)
    references = models.JSONField(default=list)
    """One or two image ids."""
    groups = models.JSONField(default=dict)
    """dimension -> list of values, for example ``{"aspect": ["negation", "addition"]}``."""
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="queries")

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="query_position_once"),
            models.UniqueConstraint(fields=["version", "native_id"], name="query_id_once"),
        ]
        verbose_name_plural = "queries"

    def __str__(self) -> str:
        return self.native_id


class Subset(models.Model):
    """A named selection of a version's queries. An absent one (decision 43) has a reason and no queries."""

    version = models.ForeignKey(SplitVersion, on_delete=models.CASCADE, related_name="subsets")
    name = models.CharField(max_length=12)
    position = models.PositiveSmallIntegerField()
    size = models.PositiveIntegerField(null=True)
    absent_reason = models.TextField(blank=True)
    queries = models.ManyToManyField(Query, related_name="subsets")

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "name"], name="subset_name_once"),
            models.CheckConstraint(
                condition=Q(size__isnull=False, absent_reason="") | (Q(size__isnull=True) & ~Q(absent_reason="")),
                name="subset_sized_or_absent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.version} {self.name}"


class Judgment(models.Model):
    """One judged (query, image) pair; for splits with public truth only. An image can be both."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judgments")
    image = models.CharField(max_length=100)
    positive = models.BooleanField()
    negative = models.BooleanField()
    target = models.BooleanField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "image"], name="judgment_once")]

    def __str__(self) -> str:
        return f"{self.query} {self.image}"
