"""Reads about uploads. What has expired is gone, swept or not; another team's never was."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import Team
from uploads.models import Upload
from uploads.refusals import NoSuchUpload


def uploads_of(team: Team, digest: str = "") -> QuerySet[Upload]:
    """Return a team's uploads, newest first; with ``digest``, those that were announced with it or have it."""
    found = Upload.objects.filter(team=team, expires_at__gt=timezone.now())
    return found.filter(Q(announced=digest) | Q(digest=digest)) if digest else found


def upload_of(team: Team, public_id: UUID) -> Upload:
    """Return one of a team's uploads. Raises NoSuchUpload."""
    upload = uploads_of(team).filter(public_id=public_id).first()
    if upload is None:
        raise NoSuchUpload
    return upload
