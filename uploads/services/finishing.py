"""What becomes of an upload: whole and taken over, or ended."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.models import Team
from evaluator.digests import BlockDigest
from uploads import selectors, stores
from uploads.models import Upload
from uploads.refusals import DigestDiffers, NoSuchUpload, NotWhole
from uploads.services.failures import storing

log = logging.getLogger(__name__)


def whole(team: Team, public_id: UUID | str) -> Upload:
    """Return a team's upload that is here to its last byte, by its id or its address.

    Raises NoSuchUpload (another team's too), NotWhole or NotStored.
    """
    upload = selectors.upload_of(team, _id(public_id))
    if upload.offset < upload.size:
        raise NotWhole(upload.offset, upload.size)
    finish(upload)
    return upload


def _id(public_id: UUID | str) -> UUID:
    try:
        return public_id if isinstance(public_id, UUID) else UUID(public_id.strip().rstrip("/").rpartition("/")[2])
    except ValueError:
        raise NoSuchUpload from None


def finish(upload: Upload) -> None:
    """Make an upload whole whose last byte is settled, and give it its digest. Doing it twice does no harm.

    Raises DigestDiffers where another digest was announced, and then the upload is ended; and NotStored.
    """
    if upload.digest:
        return
    digest = BlockDigest(upload.blocks).hexdigest()  # at the end, the last and shorter block is among them
    if upload.announced and upload.announced != digest:
        end(upload)
        raise DigestDiffers(upload.announced, digest)
    with storing():
        stores.current().finish(upload.stored, upload.parts)
    upload.digest = digest
    Upload.objects.filter(pk=upload.pk).update(digest=digest)


def take(upload: Upload) -> None:
    """Take a whole upload over, inside the caller's transaction: its row goes, its stored file is the caller's.

    Raises NoSuchUpload where somebody else took or ended it meanwhile.
    """
    taken, _ = Upload.objects.filter(pk=upload.pk).exclude(digest="").delete()
    if not taken:
        raise NoSuchUpload


def end(upload: Upload) -> None:
    """End an upload: its row goes, then its bytes. A request that writes it finds out at its next write."""
    transaction.on_commit(lambda: _remove(upload))
    Upload.objects.filter(pk=upload.pk).delete()


def _remove(upload: Upload) -> None:
    try:
        stores.current().remove(upload.stored, upload.parts)
    except OSError:
        log.exception("the bytes of an ended upload stay until they are swept")


def expiry() -> timedelta:
    """Return how long an upload stays after its last part."""
    return timedelta(seconds=settings.UPLOAD_EXPIRES_SECONDS)
