"""The right to write an upload: one request at a time has it, for as long as it is heard of."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from uploads import stores
from uploads.models import Upload
from uploads.refusals import Busy, NoSuchUpload, WrongOffset

LEASE = timedelta(seconds=10)
"""A request that was not heard of for so long may be taken over from: its connection is most likely dead."""
RENEW_SECONDS = 3


def expiry() -> datetime:
    """Return when an upload expires that got a part just now."""
    return timezone.now() + timedelta(seconds=settings.UPLOAD_EXPIRES_SECONDS)


class Hold:
    """One request's right to write. Each change is one conditional UPDATE on the writer."""

    def __init__(self, upload: Upload, writer: str) -> None:
        self.upload = upload
        self._rows: QuerySet[Upload] = Upload.objects.filter(pk=upload.pk, writer=writer)
        self._renewed = time.monotonic()

    def fence(self) -> None:
        """Raise where another request has taken over, or the upload was ended."""
        if not self._rows.exists():
            raise _why_not(self.upload.pk, self.upload.offset)

    def renew(self) -> None:
        """Say that this request lives, every few seconds at most. Raises like ``fence``."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            self._update()

    def commit(self, **columns: Any) -> None:
        """Write columns of the upload. Raises like ``fence``, and then nothing is written."""
        self._update(**columns)
        for name, value in columns.items():
            setattr(self.upload, name, value)

    def _update(self, **columns: Any) -> None:
        expires_at = expiry()
        if not self._rows.update(writing_until=timezone.now() + LEASE, expires_at=expires_at, **columns):
            raise _why_not(self.upload.pk, self.upload.offset)
        self.upload.expires_at = expires_at
        self._renewed = time.monotonic()

    def release(self) -> None:
        """Let the next request write at once."""
        self._rows.update(writer="", writing_until=None)


@contextmanager
def holding(upload: Upload, offset: int) -> Iterator[Hold]:
    """Hold an upload that ends at ``offset``. Raises WrongOffset, Busy or NoSuchUpload."""
    hold = _take(upload, offset)
    try:
        yield hold
    finally:
        hold.release()


def _take(upload: Upload, offset: int) -> Hold:
    now, writer = timezone.now(), str(uuid.uuid4())
    rows = Upload.objects.filter(pk=upload.pk, offset=offset, expires_at__gt=now)
    columns = {"writer": writer, "writing_until": now + LEASE, "expires_at": expiry()}
    released = rows.filter(writer="").update(**columns)
    if not (released or rows.filter(writing_until__lte=now).update(**columns)):
        raise _why_not(upload.pk, offset)
    upload.refresh_from_db()
    hold = Hold(upload, writer)
    if not released:
        hold.commit(parts=stores.current().overtake(upload.parts))
    return hold


def _why_not(pk: int, offset: int) -> Exception:
    """Return why a request may not write at ``offset``."""
    now = timezone.now()
    upload = Upload.objects.filter(pk=pk, expires_at__gt=now).first()
    if upload is None:
        return NoSuchUpload()
    if upload.writing_until is None and upload.offset != offset:
        return WrongOffset(offset, upload.offset)
    left = (upload.writing_until - now).total_seconds() if upload.writing_until else 0
    return Busy(max(1, math.ceil(left))) if left > 0 or upload.offset == offset else WrongOffset(offset, upload.offset)
