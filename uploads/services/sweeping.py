"""Removes uploads that nobody goes on with, and stored files that no row refers to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from uploads import stores
from uploads.models import Upload

log = logging.getLogger(__name__)

LEFT_OVER = timedelta(days=1)


def sweep_expired(needed: Callable[[str], bool]) -> int:
    """Remove expired uploads, and files older than a day that are of no upload and not ``needed``.

    Safe beside requests and other sweeps. Returns how many files went; an error of the store waits for the next sweep.
    """
    try:
        swept = sum(_sweep(upload) for upload in list(Upload.objects.filter(expires_at__lt=timezone.now())))
        left = _sweep_left_over(needed)
    except OSError:
        log.exception("the sweep of uploads broke off")
        return 0
    if swept or left:
        log.info("removed %d expired uploads and %d files that were left over", swept, left)
    return swept + left


def _sweep(upload: Upload) -> int:
    """Remove an upload unless another part came, or somebody took it, since it was looked at."""
    with transaction.atomic():
        gone, _ = Upload.objects.filter(pk=upload.pk, expires_at__lt=timezone.now()).delete()
    if gone:
        stores.current().remove(upload.stored, upload.parts)
    return int(bool(gone))


def _sweep_left_over(needed: Callable[[str], bool]) -> int:
    store = stores.current()
    names = list(store.older(timezone.now() - LEFT_OVER))
    # Rows first: whoever takes an upload over makes its file needed before the row is gone.
    known = set(Upload.objects.values_list("stored", flat=True)) if names else set()
    left = [name for name in names if name not in known and not needed(name)]
    for name in left:
        store.remove(name, {})
    return len(left)
