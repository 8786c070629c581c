"""What maintainers may change of boards: whether they are open, their quota, and the words about a method."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import models
from django.http import HttpRequest

from leaderboard.models import Entry, Method, Split, SplitVersion


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """For what only services write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Split)
class SplitAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Opens and closes boards; the rest comes from ``leaderboard.boards``."""

    list_display = ("slug", "name", "benchmark", "open", "daily_quota", "hidden_truth")
    list_filter = ("benchmark", "open")
    fields = ("slug", "name", "benchmark", "open", "daily_quota", "hidden_truth")
    readonly_fields = ("slug", "name", "benchmark", "hidden_truth")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(SplitVersion)
class SplitVersionAdmin(ReadOnlyAdmin):
    """Frozen states of splits."""

    list_display = ("split", "number", "current", "query_count", "gallery_size", "digest", "created_at")
    list_filter = ("split", "current")
    exclude = ("protocol",)


class MethodForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """A name or an address to mend."""

    def clean_name(self) -> str:
        """Refuse the name of another method of the same team: Django looks only at fields that can be changed."""
        name = str(self.cleaned_data["name"])
        if Method.objects.filter(team=self.instance.team, name=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("This team has another method of that name.")
        return name


@admin.register(Method)
class MethodAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Methods, to mend a name or an address."""

    list_display = ("name", "team", "created_at")
    search_fields = ("name", "team__name")
    form = MethodForm
    formfield_overrides: ClassVar = {models.URLField: {"assume_scheme": "https"}}
    fields = ("name", "team", "paper_url", "code_url")
    readonly_fields = ("team",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    """Entries, to look at: they are never overwritten (decision 32)."""

    list_display = ("method", "split", "version", "trust", "evaluator_version", "published_at")
    list_filter = ("split", "trust")
    list_select_related = ("method", "split", "version__split")
    search_fields = ("method__name", "public_id")
