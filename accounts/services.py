"""Rules and writes about teams and tokens."""

from __future__ import annotations

import hashlib
import secrets

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import ApiToken, Membership, Team, User

TOKEN_PREFIX = "cirb_"  # noqa: S105 (marks a string as a token of this site; it is no secret)


def personal_team(user: User) -> Team:
    """Return the user's team of one; it is made on first use."""
    found = Team.objects.filter(personal_of=user).first()
    if found:
        return found
    name = user.get_full_name() or f"researcher-{secrets.token_hex(3)}"
    try:
        with transaction.atomic():
            team = Team.objects.create(name=name, slug=_free_slug(name), personal_of=user)
            Membership.objects.create(team=team, user=user, role=Membership.Role.OWNER)
    except IntegrityError:  # two requests at once: the other one made it
        return Team.objects.get(personal_of=user)
    return team


def make_token(user: User, name: str) -> tuple[ApiToken, str]:
    """Make a token. Returns it and the key, which is never readable again."""
    key = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(user=user, name=name, digest=token_digest(key), hint=key[:10])
    return token, key


def token_digest(key: str) -> str:
    """Return what is stored of a key. A long random key needs no salt or slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()


def note_use(token: ApiToken) -> None:
    """Remember when a token was last used, to the minute: an API call should not always cost a write."""
    now = timezone.now()
    if token.last_used_at is None or (now - token.last_used_at).total_seconds() > 60:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def _free_slug(name: str) -> str:
    stem = slugify(name)[:80] or "team"
    return stem if not Team.objects.filter(slug=stem).exists() else f"{stem}-{secrets.token_hex(3)}"
