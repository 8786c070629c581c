"""What becomes of an upload: whole and taken over, or ended."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import transaction

from accounts.models import Team
from uploads import selectors, stores
from uploads.models import Upload
from uploads.refusals import NoSuchUpload, NotWhole
from uploads.services.failures import storing

log = logging.getLogger(__name__)


def whole(team: Team, public_id: UUID | str) -> Upload:
    """Return a team's upload that is here to its last byte, by its id or its address.

    Raises NoSuchUpload (another team's too), NotWhole or NotStored.
    """
    upload = selectors.upload_of(team, identity(public_id))
    if upload.offset < upload.size:
        raise NotWhole(upload.offset, upload.size)
    finish(upload)
    return upload


def identity(public_id: UUID | str) -> UUID:
    """Return the id out of an id or an address. Raises NoSuchUpload."""
    try:
        return public_id if isinstance(public_id, UUID) else UUID(public_id.strip().rstrip("/").rpartition("/")[2])
    except ValueError:
        raise NoSuchUpload from None


def finish(upload: Upload) -> None:
    """Have the store put a file together whose last byte is settled. Doing it twice does no harm.

    Raises NotStored; the row is whole all the same, and whoever asks for it next tries again.
    """
    with storing():
        stores.current().finish(upload.stored, upload.parts)


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
