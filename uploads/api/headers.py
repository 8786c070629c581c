"""The headers of tus 1.0: read from requests, written into answers."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from django.conf import settings
from django.utils.http import http_date

from uploads.models import Upload
from uploads.refusals import BadRequest
from uploads.services.receiving import Checksum

VERSION = "1.0.0"
EXTENSIONS = ("creation", "creation-with-upload", "checksum", "expiration", "termination")
ALGORITHMS = {"sha1": 20, "sha256": 32, "md5": 16}
"""Checksum -> its bytes."""
PART = "application/offset+octet-stream"
_DIGEST = re.compile("[0-9a-f]{64}")


def whole_number(headers: Any, name: str) -> int:
    """Return a header that is a whole number. Raises BadRequest."""
    text = str(headers.get(name, "")).strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise BadRequest(f"Give {name} as a whole number of bytes.")
    return int(text)


def metadata(headers: Any) -> tuple[str, str]:
    """Return file name and digest of ``Upload-Metadata``, each "" where it is not given. Raises BadRequest."""
    pairs: dict[str, str] = {}
    for item in filter(None, str(headers.get("Upload-Metadata", "")).split(",")):
        key, _, value = item.strip().partition(" ")
        pairs[key] = _text(key, value)
    digest = pairs.get("digest", "").lower()
    if digest and not _DIGEST.fullmatch(digest):
        raise BadRequest("The digest in Upload-Metadata is 64 hexadecimal digits, written in base64.")
    return pairs.get("filename", ""), digest


def _text(key: str, value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise BadRequest(f"The value of {key[:40]!r} in Upload-Metadata is not UTF-8 text in base64.") from None


def checksum(headers: Any) -> Checksum | None:
    """Return what ``Upload-Checksum`` says, None where it is not given. Raises BadRequest."""
    given = str(headers.get("Upload-Checksum", "")).strip()
    if not given:
        return None
    algorithm, _, value = given.partition(" ")
    if algorithm not in ALGORITHMS:
        raise BadRequest(f"There is no checksum {algorithm[:20]!r} here; use one of {', '.join(ALGORITHMS)}.")
    try:
        expected = base64.b64decode(value, validate=True)
    except binascii.Error:
        expected = b""
    if len(expected) != ALGORITHMS[algorithm]:
        raise BadRequest(f"Upload-Checksum is `{algorithm}`, a space, and {ALGORITHMS[algorithm]} bytes in base64.")
    return Checksum(algorithm, expected)


def of_server() -> dict[str, str]:
    """Return what OPTIONS answers."""
    return {
        "Tus-Version": VERSION,
        "Tus-Extension": ",".join(EXTENSIONS),
        "Tus-Max-Size": str(settings.VECTORS_MAX_BYTES),
        "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
    }


def of_part(upload: Upload) -> dict[str, str]:
    """Return where an upload goes on, and until when."""
    return {"Upload-Offset": str(upload.offset), "Upload-Expires": http_date(upload.expires_at.timestamp())}


def of_upload(upload: Upload) -> dict[str, str]:
    """Return what HEAD answers."""
    pairs = {"filename": upload.name, "digest": upload.announced}
    given = (f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items() if value)
    return {
        **of_part(upload),
        "Upload-Length": str(upload.size),
        "Upload-Metadata": ",".join(given),
        "Cache-Control": "no-store",
    }
