"""What the API takes and says about submissions, field by field. Values are in [0, 1], at full precision."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.api.serializers import ScoreSerializer
from leaderboard.declarations import DECLARATIONS
from submissions import pages
from submissions.models import Evaluation, Run, SentFile, Submission
from submissions.services.declared import BACKBONE, NOTE, PARAMETERS


class _Choices(serializers.ListField):
    """Several values of one form field; a single one need not be a list."""

    child = serializers.CharField(allow_blank=True)


class UploadSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One upload as ``multipart/form-data``. What is missing or wrong is said by the service, all of it at once."""

    split = serializers.CharField(required=False, help_text="Slug of the board.")
    method = serializers.CharField(required=False, allow_blank=True, help_text="Name of the method.")
    paper_url = serializers.CharField(required=False, allow_blank=True, default="")
    code_url = serializers.CharField(required=False, allow_blank=True, default="")
    multimodal = serializers.FileField(
        required=False, allow_empty_file=True, help_text="The ranking, or judged ranks; always needed."
    )
    multimodal_subset = serializers.FileField(required=False, allow_empty_file=True, help_text="CIRR's second file.")
    text_only = serializers.FileField(required=False, allow_empty_file=True)
    text_only_subset = serializers.FileField(required=False, allow_empty_file=True)
    image_only = serializers.FileField(required=False, allow_empty_file=True)
    image_only_subset = serializers.FileField(required=False, allow_empty_file=True)
    check_only = serializers.BooleanField(
        required=False, default=False, help_text="A dry run: check the files, score nothing, take no quota."
    )
    backbone = serializers.CharField(required=False, allow_blank=True)
    parameters = serializers.CharField(required=False, allow_blank=True, help_text="In millions; empty if not known.")
    query_text_note = serializers.CharField(required=False, allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        """Add what authors declare (decision 30)."""
        fields = super().get_fields()
        for question in DECLARATIONS:
            words = f"{question.question} One of: {', '.join(question.choices)}."
            kind = _Choices if question.several else serializers.CharField
            fields[question.key] = kind(required=False, help_text=words)
        return fields

    @property
    def declared(self) -> dict[str, Any]:
        """What was said of what authors declare."""
        keys = (*(question.key for question in DECLARATIONS), BACKBONE, PARAMETERS, NOTE)
        return {key: self.validated_data[key] for key in keys if key in self.validated_data}


class FileSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One uploaded file: its author's name for it and its SHA-256."""

    class Meta:
        model = SentFile
        fields = ("name", "size", "digest")


class RunSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """The files of one condition."""

    files = FileSerializer(many=True)

    class Meta:
        model = Run
        fields = ("condition", "format", "files")


class EvaluationSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One execution of the evaluator, without its scores."""

    split = serializers.CharField(source="version.split.slug")
    version = serializers.IntegerField(source="version.number")
    entry = serializers.UUIDField(source="entry.public_id", default=None, allow_null=True)

    class Meta:
        model = Evaluation
        fields = (
            *("split", "version", "evaluator_version", "state", "queued_at", "started_at", "finished_at"),
            *("reason", "reference", "entry"),
        )


class ScoredEvaluationSerializer(EvaluationSerializer):
    """One execution of the evaluator with every score, once it is scored."""

    scores = serializers.SerializerMethodField()

    class Meta(EvaluationSerializer.Meta):
        fields = (*EvaluationSerializer.Meta.fields, "scores")  # type: ignore[assignment]  # longer

    @extend_schema_field(ScoreSerializer(many=True))
    def get_scores(self, evaluation: Evaluation) -> Any:
        return ScoreSerializer(evaluation.entry.scores.all() if evaluation.entry else (), many=True).data


class SubmissionSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One submission, as its team sees it."""

    id = serializers.UUIDField(source="public_id")
    split = serializers.CharField(source="split.slug")
    method = serializers.CharField(source="method.name")
    team = serializers.CharField(source="team.name")
    evaluations = EvaluationSerializer(many=True)
    url = serializers.SerializerMethodField()

    class Meta:
        model = Submission
        fields = (
            *(
                "id",
                "url",
                "split",
                "method",
                "team",
                "state",
                "check_only",
                "received_at",
                "finished_at",
                "published_at",
            ),
            *("declared", "quota_state", "reason", "reference", "evaluations"),
        )

    def get_url(self, submission: Submission) -> str:
        address = reverse("api-submission", args=[submission.public_id])
        return str(self.context["request"].build_absolute_uri(address))


class StandingSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """Where it is, in words, and while it waits since when and behind how many others."""

    mark = serializers.CharField()
    sentence = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    ahead = serializers.IntegerField(allow_null=True)


class FaultSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One thing wrong with a file (decision 24)."""

    code = serializers.CharField()
    condition = serializers.CharField()
    file = serializers.CharField()
    place = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()
    remedy = serializers.CharField()


class SubmissionDetailSerializer(SubmissionSerializer):
    """One submission with its files, its faults and, once scored, every score."""

    standing = serializers.SerializerMethodField()
    runs = RunSerializer(many=True)
    faults = FaultSerializer(many=True)
    evaluations = ScoredEvaluationSerializer(many=True)

    class Meta(SubmissionSerializer.Meta):
        fields = (  # type: ignore[assignment]  # longer
            *SubmissionSerializer.Meta.fields,
            *("standing", "runs", "faults", "more_faults"),
        )

    @extend_schema_field(StandingSerializer)
    def get_standing(self, submission: Submission) -> Any:
        return StandingSerializer(pages.standing(submission, list(submission.evaluations.all()))).data


class WorkerSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One living worker."""

    name = serializers.CharField()
    seen_at = serializers.DateTimeField()


class StatusSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """Whether work gets done."""

    healthy = serializers.BooleanField()
    sentence = serializers.CharField()
    queue = serializers.CharField()
    waiting = serializers.IntegerField()
    working = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)
    workers = WorkerSerializer(many=True)
