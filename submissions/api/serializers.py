"""What the API takes and says about submissions, field by field. Values are in [0, 1], at full precision."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluator.types import Similarity
from leaderboard.api.serializers import ScoreSerializer
from leaderboard.declarations import DECLARATIONS
from submissions import pages
from submissions.models import Evaluation, Run, SentFile, Submission
from submissions.services.declared import BACKBONE, NOTE, PARAMETERS
from submissions.services.fields import all_names, upload_field
from submissions.services.package import Package

_FILES = {
    "multimodal": "Always needed: the ranking or judged ranks; of embeddings, the vectors of the queries.",
    "only": "The same under another condition.",
    "subset": "CIRR's second file.",
    "ids": "Of embeddings: the ids of the vectors, one a row, where their file has none.",
    "gallery": "Of embeddings: the vectors of the gallery.",
}
"""Name of a file field, or the end of it -> what it takes."""


class _Choices(serializers.ListField):
    """Several values of one form field; a single one need not be a list."""

    child = serializers.CharField(allow_blank=True)


class UploadSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One upload as ``multipart/form-data``. What is missing or wrong is said by the service, all of it at once."""

    split = serializers.CharField(required=False, help_text="Slug of the board.")
    method = serializers.CharField(required=False, allow_blank=True, help_text="Name of the method.")
    paper_url = serializers.CharField(required=False, allow_blank=True, default="")
    code_url = serializers.CharField(required=False, allow_blank=True, default="")
    kind = serializers.ChoiceField(
        choices=Submission.Kind.choices,
        required=False,
        default=Submission.Kind.RANKINGS,
        help_text="rankings: ranking or judged-ranks files. embeddings: vectors of the gallery and of the queries.",
    )
    similarity = serializers.ChoiceField(
        choices=[str(similarity) for similarity in Similarity],
        required=False,
        help_text="Of embeddings: how vectors are compared; cosine where nothing is said.",
    )
    gallery_digest = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=64,
        help_text="Digest of gallery vectors that your team has sent before, in place of a file.",
    )
    check_only = serializers.BooleanField(
        required=False, default=False, help_text="A dry run: check the files, score nothing, take no quota."
    )
    backbone = serializers.CharField(required=False, allow_blank=True)
    parameters = serializers.CharField(required=False, allow_blank=True, help_text="In millions; empty if not known.")
    query_text_note = serializers.CharField(required=False, allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        """Add the files, each or the id of its finished resumable upload, and what authors declare (decision 30)."""
        fields = super().get_fields()
        for name in all_names():
            words = _FILES.get(name) or _FILES[name.rpartition("_")[2]]
            fields[name] = serializers.FileField(required=False, allow_empty_file=True, help_text=words)
            fields[upload_field(name)] = serializers.CharField(
                required=False, allow_blank=True, max_length=500, help_text=f"Id or address of an upload of {name}."
            )
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

    @property
    def package(self) -> Package:
        """The files, and what they are."""
        said = self.validated_data
        vectors = said["kind"] == Submission.Kind.EMBEDDINGS
        named = {name: said[upload_field(name)] for name in all_names() if said.get(upload_field(name))}
        return Package(
            kind=said["kind"],
            similarity=said.get("similarity", str(Similarity.COSINE) if vectors else ""),
            files={name: said[name] for name in all_names() if said.get(name) is not None},
            uploads=named,
            gallery_digest=said.get("gallery_digest", ""),
        )


class FileSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One sent file: its author's name for it, what it was for, its digest (SHA-256 over the SHA-256 of each 8 MiB),
    and when its content was deleted."""

    class Meta:
        model = SentFile
        fields = ("name", "role", "size", "digest", "removed_at")


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
            *("split", "version", "evaluator_version", "state", "percent", "queued_at", "started_at", "finished_at"),
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
                "kind",
                "similarity",
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
    gallery = serializers.SerializerMethodField()
    faults = FaultSerializer(many=True)
    evaluations = ScoredEvaluationSerializer(many=True)

    class Meta(SubmissionSerializer.Meta):
        fields = (  # type: ignore[assignment]  # longer
            *SubmissionSerializer.Meta.fields,
            *("standing", "runs", "gallery", "faults", "more_faults"),
        )

    @extend_schema_field(FileSerializer(many=True))
    def get_gallery(self, submission: Submission) -> Any:
        files = submission.files.filter(role__in=SentFile.OF_NO_RUN).order_by("pk")
        return FileSerializer(files, many=True).data

    @extend_schema_field(StandingSerializer)
    def get_standing(self, submission: Submission) -> Any:
        return StandingSerializer(pages.standing(submission, list(submission.evaluations.all()))).data


class WorkerSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One living worker, the queues it takes work from, and what it ranks vectors on."""

    name = serializers.CharField()
    queues = serializers.ListField(child=serializers.CharField())
    device = serializers.CharField()
    seen_at = serializers.DateTimeField()


class QueueSerializer(serializers.Serializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One queue: rankings wait in "cpu", embeddings in "gpu"."""

    queue = serializers.CharField()
    healthy = serializers.BooleanField()
    waiting = serializers.IntegerField()
    working = serializers.IntegerField()
    oldest = serializers.DateTimeField(allow_null=True)
    workers = WorkerSerializer(many=True)


class StatusSerializer(QueueSerializer):
    """Whether work gets done, in all and by queue."""

    sentence = serializers.CharField()
    queues = QueueSerializer(many=True)
