"""Begins uploads, within what a file and a team may have here."""

from __future__ import annotations

import uuid
from pathlib import PurePosixPath

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum
from django.utils import timezone

from accounts.models import Team, User
from accounts.services import personal_team
from uploads import selectors, stores
from uploads.models import Upload
from uploads.refusals import BadRequest, TooLarge, TooMuch
from uploads.services.failures import storing
from uploads.services.hold import expiry
from uploads.services.stored import stored_name

MOST_UPLOADS = 100
"""Uploads of a team at once: each is a row and a file, however small."""
GIB = 2**30


def shown_name(name: str) -> str:
    """Return what of an author's file name is shown: without folders, printable, short. It is never a path."""
    bare = PurePosixPath(name.replace("\\", "/")).name
    return "".join(char for char in bare if char.isprintable())[-200:] or "file"


def create(user: User, size: int, *, name: str = "", announced: str = "") -> Upload:
    """Begin an upload of ``size`` bytes for the user's team. ``announced``: the digest that its file has.

    Raises BadRequest, TooLarge, TooMuch or NotStored.
    """
    if size == 0:
        raise BadRequest("The file is empty.")
    if size > settings.VECTORS_MAX_BYTES:
        raise TooLarge(
            f"The file has {size / GIB:.2f} GiB; at most {settings.VECTORS_MAX_BYTES / GIB:.2f} GiB are taken. Send "
            "float16, or rank at home and send judged ranks: `python -m evaluator ranks --help`."
        )
    identity = uuid.uuid4()
    upload = Upload(
        public_id=identity,
        team=personal_team(user),
        user=user,
        name=shown_name(name),
        size=size,
        announced=announced,
        stored=stored_name(identity),
        created_at=timezone.now(),
        expires_at=expiry(),
    )
    _refuse_too_much(upload)
    with storing():
        upload.parts = stores.current().begin(upload.stored)
    try:
        _save_under_lock(upload)
    except TooMuch:
        stores.current().remove(upload.stored, upload.parts)
        raise
    return upload


@transaction.atomic
def _save_under_lock(upload: Upload) -> None:
    Team.objects.select_for_update().get(pk=upload.team.pk)  # one at a time, or two would share what is left
    _refuse_too_much(upload)
    upload.save()


def _refuse_too_much(upload: Upload) -> None:
    there = selectors.uploads_of(upload.team).aggregate(count=Count("pk"), size=Sum("size"))
    if there["count"] >= MOST_UPLOADS or (there["size"] or 0) + upload.size > settings.UPLOADS_MAX_BYTES:
        raise TooMuch(
            f"Your team has {there['count']} uploads with {(there['size'] or 0) / GIB:.2f} GiB here that are not "
            f"submitted; at most {MOST_UPLOADS} with {settings.UPLOADS_MAX_BYTES / GIB:.2f} GiB together are taken. "
            "Submit them, or delete those that you no longer need."
        )
