"""What maintainers look at when somebody asks: submissions, evaluations and quotas. Only services write them."""

from __future__ import annotations

from django.contrib import admin

from leaderboard.admin import ReadOnlyAdmin
from submissions.models import Evaluation, Quota, Submission


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Submissions, found by the reference number of a failure too."""

    list_display = ("public_id", "method", "split", "team", "state", "attempt", "received_at", "reference")
    list_filter = ("state", "split")
    list_select_related = ("method", "split", "team")
    search_fields = ("public_id", "reference", "method__name", "team__name")


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    """Evaluations, found by their reference number too."""

    list_display = (
        "submission_id",
        "version",
        "evaluator_version",
        "state",
        "attempt",
        "worker",
        "queued_at",
        "reference",
    )
    list_filter = ("state", "version__split")
    list_select_related = ("version__split",)
    search_fields = ("submission__public_id", "reference", "worker")


@admin.register(Quota)
class QuotaAdmin(ReadOnlyAdmin):
    """Who used how much on which day."""

    list_display = ("team", "split", "day", "used")
    list_filter = ("split", "day")
    list_select_related = ("team", "split")
