"""What the API says about an upload."""

from __future__ import annotations

from django.urls import reverse
from rest_framework import serializers

from uploads.models import Upload


class ResumableUploadSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]  # generic in the stubs only
    """One upload, as its team sees it."""

    id = serializers.UUIDField(source="public_id")
    url = serializers.SerializerMethodField()
    digest = serializers.SerializerMethodField(help_text="As announced; else of the whole file, once it is here.")

    class Meta:
        model = Upload
        fields = ("id", "url", "name", "size", "offset", "digest", "expires_at")

    def get_url(self, upload: Upload) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("api-upload", args=[upload.public_id])))

    def get_digest(self, upload: Upload) -> str:
        return upload.announced or upload.digest
