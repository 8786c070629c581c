"""What the read API says, field by field. Values are in [0, 1], at full precision; pages show percent."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from leaderboard.models import Entry, Score, Split, SplitVersion


class VersionSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """A frozen state of a split."""

    class Meta:
        model = SplitVersion
        fields = ("number", "digest", "query_count", "gallery_size", "cluster_name", "cluster_count", "created_at")


class BoardSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One board. ``version`` is null where only reported numbers stand on it."""

    benchmark: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    version = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Split
        fields = ("slug", "name", "benchmark", "summary", "licence", "hidden_truth", "open", "version", "url")

    def get_version(self, split: Split) -> dict[str, Any] | None:
        current = [version for version in split.versions.all() if version.current]
        return VersionSerializer(current[0]).data if current else None

    def get_url(self, split: Split) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("leaderboard:board", args=[split.slug])))


class ScoreSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One number with its interval, or the reason why there is none."""

    class Meta:
        model = Score
        fields = ("measure", "subset", "condition", "group", "value", "low", "high", "n", "reason")


class EntrySerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One entry, without its scores."""

    id = serializers.UUIDField(source="public_id")
    board: Any = serializers.SlugRelatedField(slug_field="slug", source="split", read_only=True)
    version = serializers.IntegerField(source="version.number", default=None, allow_null=True)
    method = serializers.CharField(source="method.name")
    team = serializers.CharField(source="method.team.name", default=None, allow_null=True)
    paper_url = serializers.CharField(source="method.paper_url")
    code_url = serializers.CharField(source="method.code_url")
    url = serializers.SerializerMethodField()

    class Meta:
        model = Entry
        fields = (
            *("id", "board", "version", "evaluator_version", "method", "team", "paper_url", "code_url", "trust"),
            *(
                "ranks_by_author",
                "similarity",
                "pool_member",
                "declared",
                "source",
                "source_url",
                "published_at",
                "url",
            ),
        )

    def get_url(self, entry: Entry) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("leaderboard:entry", args=[entry.public_id])))


class EntryScoresSerializer(EntrySerializer):
    """One entry with every score it has."""

    unranked_reason = serializers.CharField()
    rank_counts = serializers.DictField()
    scores = ScoreSerializer(many=True)

    class Meta(EntrySerializer.Meta):
        fields = (*EntrySerializer.Meta.fields, "unranked_reason", "rank_counts", "scores")  # type: ignore[assignment]  # longer


class RowSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One row of a board, in page order. ``rank`` is null for an unranked row, which then has a reason."""

    rank = serializers.IntegerField(allow_null=True)
    unranked_reason = serializers.CharField()
    distinguishable_from_first = serializers.BooleanField(allow_null=True)
    ranks = serializers.DictField(
        child=serializers.IntegerField(), help_text="Subset -> rank by the first measure there."
    )
    entry = EntrySerializer()
    scores = ScoreSerializer(many=True)
