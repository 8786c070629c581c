"""What the audit's read API says, field by field. Shares are in [0, 1], at full precision; pages show percent."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from audit.models import AuditVersion, Label


class AuditSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One audit version: its pool as it was, K, digests, and how many queries have each label."""

    board: Any = serializers.SlugRelatedField(slug_field="slug", source="split", read_only=True)
    split_version = serializers.IntegerField(source="version.number")
    pool: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    members = serializers.ListField(child=serializers.DictField())
    counts = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = AuditVersion
        fields = (
            *("board", "number", "split_version", "split_digest", "pool", "k", "members", "digest", "note"),
            *("created_at", "counts", "url"),
        )

    def get_counts(self, audit: AuditVersion) -> dict[str, int]:
        """By label, and by kind of shortcut."""
        counts = audit.counts if hasattr(audit, "counts") else audit.report.get("counts")
        return counts or {}

    def get_url(self, audit: AuditVersion) -> str:
        address = reverse("audit:report", args=[audit.split.slug, audit.number])
        return str(self.context["request"].build_absolute_uri(address))


class TableColumnSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """A column of a table. ``unit``: text, queries, share, number, models or rank."""

    key = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField()


class TableSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """A table of a report. A text in a column of numbers says why there is none."""

    key = serializers.CharField()
    title = serializers.CharField()
    columns = TableColumnSerializer(many=True)
    rows = serializers.ListField(child=serializers.ListField())
    note = serializers.CharField()


class ReportSerializer(AuditSerializer):
    """One audit version with every table of its report."""

    tables = serializers.SerializerMethodField()

    class Meta(AuditSerializer.Meta):
        fields = (*AuditSerializer.Meta.fields, "tables")  # type: ignore[assignment]  # longer

    def get_tables(self, audit: AuditVersion) -> list[dict[str, Any]]:
        return list(TableSerializer(audit.report.get("tables", []), many=True).data)


class LabelSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """What an audit says of one query. Ranks are 1-based; 0 where no model ranks a right image."""

    query = serializers.CharField(source="query.native_id")

    class Meta:
        model = Label
        fields = (
            *("query", "label", "kind", "multimodal_rank", "text_rank", "image_rank"),
            *("multimodal_best", "text_best", "image_best"),
            *("multimodal_support", "text_support", "image_support", "either_support"),
        )


class MoveSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One query that has another label. ``ranks``: before and after, multimodal, text-only and image-only."""

    query = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    because = serializers.ListField(child=serializers.CharField())
    ranks = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField(allow_null=True)))


class FlowSizeSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """How many queries went from one label to another, or stayed."""

    before = serializers.CharField()
    after = serializers.CharField()
    queries = serializers.IntegerField()


class FlowSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """What changed between two audit versions of one split."""

    came = serializers.ListField(child=serializers.CharField())
    went = serializers.ListField(child=serializers.CharField())
    sizes = serializers.SerializerMethodField()
    moved = MoveSerializer(many=True)

    def get_sizes(self, flow: Any) -> list[dict[str, Any]]:
        rows = [{"before": before, "after": after, "queries": size} for before, after, size in flow.sizes]
        return list(FlowSizeSerializer(rows, many=True).data)
