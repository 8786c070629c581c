"""The audit for maintainers: register, run, pool, label, freeze. Every write goes through the services."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from audit.models import AuditVersion, Encoder, Job, Pool, PoolMember, Probe
from audit.services import encoders, jobs, pools, probes, versions
from audit.services.freezing import freeze
from audit.services.probes import ProbesMissing
from audit.services.versions import AuditRefused
from evaluator.encoders import Spec
from evaluator.encoders.registry import DTYPES, FAMILIES
from leaderboard.admin import ReadOnlyAdmin
from leaderboard.models import SplitVersion


class MadeOnceAdmin(ReadOnlyAdmin):
    """For what a form makes and nobody changes afterwards."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.allowed(request, "add")

    def allowed(self, request: HttpRequest, what: str) -> bool:
        """Return whether the person may do ``what``."""
        return request.user.has_perm(f"audit.{what}_{self.opts.model_name}")

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """The service has saved everything."""


class EncoderForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """A model in one exact state."""

    family = forms.ChoiceField(choices=[(name, f"{name}: {family.summary}") for name, family in FAMILIES.items()])
    source_url = forms.URLField(required=False, assume_scheme="https")

    class Meta:
        model = Encoder
        fields = ("name", "family", "model", "revision", "licence", "options", "source_url")

    def clean(self) -> dict[str, Any]:
        """Have the services look at it."""
        given = super().clean() or {}
        if not self.errors:
            texts = {name: given[name] for name in ("name", "family", "model", "revision", "licence")}
            try:
                encoders.check(Spec(**texts, options=given["options"] or {}))
            except encoders.EncoderRefused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return given


@admin.register(Encoder)
class EncoderAdmin(MadeOnceAdmin):
    """Encoders: registered once, never changed."""

    form = EncoderForm
    list_display = ("name", "family", "model", "revision", "models_in_it", "created_at")
    list_filter = ("family",)
    search_fields = ("name", "model")

    def save_model(self, request: HttpRequest, obj: Encoder, form: Any, change: bool) -> None:
        made, _ = encoders.register(Spec.from_dict(_spec_row(obj)), source_url=obj.source_url)
        obj.pk, obj.slug = made.pk, made.slug


def _spec_row(encoder: Encoder) -> dict[str, Any]:
    return encoders.spec_of(encoder).as_dict()


class JobForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """An encoder and a split."""

    dtype = forms.ChoiceField(
        choices=[(name, name) for name in DTYPES], help_text=Job._meta.get_field("dtype").help_text
    )

    class Meta:
        model = Job
        fields = ("encoder", "version", "dtype", "batch")

    def clean(self) -> dict[str, Any]:
        """Say why it cannot be run before a worker does."""
        given = super().clean() or {}
        if not self.errors:
            try:
                jobs.require_runnable(given["encoder"], given["version"])
            except jobs.JobRefused as refused:
                raise forms.ValidationError(str(refused)) from refused
        return given


@admin.register(Job)
class JobAdmin(MadeOnceAdmin):
    """Runs of encoders: add one to have it run, cancel one with the action."""

    form = JobForm
    list_display = ("pk", "encoder", "version", "state", "phase", "done", "total", "queued_at", "reason")
    list_filter = ("state", "encoder", "version__split")
    list_select_related = ("encoder", "version__split")
    actions = ("cancel", "again")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer what can be run: current splits, models that are no frozen pool."""
        if db_field.name == "version":
            kwargs["queryset"] = SplitVersion.objects.filter(current=True, split__hidden_truth=False)
        if db_field.name == "encoder":
            kwargs["queryset"] = Encoder.objects.exclude(family=Encoder.FROZEN)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Job, form: Any, change: bool) -> None:
        made, created = jobs.enqueue(obj.encoder, obj.version, dtype=obj.dtype, batch=obj.batch)
        obj.pk = made.pk
        if not created:
            self.message_user(request, "This encoder is run over this split already.", messages.WARNING)

    @admin.action(description="Cancel; what is done is kept", permissions=["add"])
    def cancel(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        """Cancel what has not ended."""
        self.message_user(request, f"Cancelled: {sum(jobs.cancel(job) for job in rows)}.")

    @admin.action(description="Run again what failed or was cancelled", permissions=["add"])
    def again(self, request: HttpRequest, rows: QuerySet[Job]) -> None:
        """Queue the same encoder and split again: it goes on where it stopped."""
        for job in rows.exclude(state__in=[*Job.WAITING, Job.State.DONE]):
            try:
                jobs.enqueue(job.encoder, job.version, dtype=job.dtype, batch=job.batch)
            except jobs.JobRefused as refused:
                self.message_user(request, str(refused), messages.ERROR)


@admin.register(Probe)
class ProbeAdmin(ReadOnlyAdmin):
    """Stored ranks."""

    list_display = ("encoder", "condition", "version", "recall", "created_at")
    list_filter = ("encoder", "condition", "version__split")
    list_select_related = ("encoder", "version__split")


class MemberInline(admin.TabularInline):  # type: ignore[type-arg]  # generic in the stubs only
    """Members in their order."""

    model = PoolMember
    fields = ("encoder", "added_at")
    readonly_fields = ("added_at",)
    extra = 1


@admin.register(Pool)
class PoolAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Pools and their members. Audit versions keep the members they had."""

    list_display = ("name", "slug", "created_at")
    prepopulated_fields: ClassVar = {"slug": ("name",)}
    inlines = (MemberInline,)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """New members stand behind the others."""
        for member in formset.save(commit=False):
            pools.add(form.instance, member.encoder)
        for member in formset.deleted_objects:
            pools.remove(form.instance, member.encoder)


class VersionForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """A pool, a split, K."""

    class Meta:
        model = AuditVersion
        fields = ("pool", "version", "k", "note")

    def clean(self) -> dict[str, Any]:
        """Name what was not run yet."""
        given = super().clean() or {}
        if not self.errors:
            absent = [
                encoder.name
                for encoder in pools.encoders_of(given["pool"])
                if not probes.is_complete(encoder, given["version"])
            ]
            if absent:
                raise forms.ValidationError(f"Not run over this split yet: {', '.join(absent)}.")
        return given


@admin.register(AuditVersion)
class AuditVersionAdmin(MadeOnceAdmin):
    """Audits: add one to label a split by a pool; freeze one with the action."""

    form = VersionForm
    list_display = ("split", "number", "pool", "k", "created_at", "author", "frozen")
    list_filter = ("split", "pool")
    list_select_related = ("split", "pool", "author", "frozen__split")
    actions = ("freeze_subsets",)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer splits that can be audited."""
        if db_field.name == "version":
            kwargs["queryset"] = SplitVersion.objects.filter(current=True, split__hidden_truth=False)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: AuditVersion, form: Any, change: bool) -> None:
        made, created = versions.make_version(obj.pool, obj.version, k=obj.k, author=request.user, note=obj.note)
        obj.pk, obj.split, obj.number = made.pk, made.split, made.number
        if not created:
            self.message_user(request, f"{made} says the same already.", messages.WARNING)

    @admin.action(description="Freeze SF′ and V′ as subsets of the split", permissions=["add"])
    def freeze_subsets(self, request: HttpRequest, rows: QuerySet[AuditVersion]) -> None:
        """Make a new version of the split."""
        if rows.count() != 1:
            self.message_user(request, "Choose one audit.", messages.ERROR)
            return
        try:
            version, created = freeze(rows.select_related("split").get())
        except (AuditRefused, ProbesMissing) as refused:
            self.message_user(request, str(refused), messages.ERROR)
            return
        told = f"{version} is {'new' if created else 'unchanged'}. Run `manage.py rescore` to score submissions on it."
        self.message_user(request, told)
