"""What maintainers see of uploads: how far they are; and they can end one, with its bytes."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from uploads.models import Upload
from uploads.services.finishing import end


@admin.register(Upload)
class UploadAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Uploads that are not submitted yet."""

    list_display = ("public_id", "team", "name", "size", "offset", "created_at", "expires_at")
    list_select_related = ("team",)
    search_fields = ("public_id", "name", "team__name", "announced")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: Upload) -> None:
        end(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Upload]) -> None:
        for upload in queryset:
            end(upload)
