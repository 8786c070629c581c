"""What must be right of the settings before an upload can begin; every command of Django says it at its start."""

from __future__ import annotations

import importlib.util
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error

from evaluator.digests import BLOCK

MOST_PARTS = 10_000
"""Of one object, in S3."""


def check_store(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the store of uploads."""
    if settings.UPLOAD_STORE == "disk":
        return []
    found: list[CheckMessage] = []
    if importlib.util.find_spec("boto3") is None:
        found.append(
            Error(
                "CIRBOARD_UPLOAD_STORE names S3 storage, but boto3 is not installed: install the extra s3.",
                id="uploads.E001",
            )
        )
    if not urlsplit(settings.UPLOAD_STORE).netloc:
        found.append(Error("CIRBOARD_UPLOAD_STORE names no bucket: write s3://bucket/prefix.", id="uploads.E002"))
    endpoint = urlsplit(settings.UPLOAD_ENDPOINT)
    if settings.UPLOAD_ENDPOINT and not (endpoint.scheme in ("http", "https") and endpoint.netloc):
        found.append(
            Error("CIRBOARD_UPLOAD_ENDPOINT is not an address such as https://storage.example.org.", id="uploads.E003")
        )
    if settings.VECTORS_MAX_BYTES > MOST_PARTS // 2 * BLOCK:
        found.append(
            Error(
                f"CIRBOARD_VECTORS_MAX_BYTES is more than S3 storage takes: {MOST_PARTS // 2 * BLOCK}.",
                id="uploads.E004",
            )
        )
    return found
