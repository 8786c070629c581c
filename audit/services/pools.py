"""Pools grow: a new model stands behind those that were there."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify

from audit.models import Encoder, Pool, PoolMember


@transaction.atomic
def add(pool: Pool, encoder: Encoder) -> bool:
    """Add an encoder to a pool, behind the others. False where it is in it already."""
    Pool.objects.select_for_update().get(pk=pool.pk)
    if PoolMember.objects.filter(pool=pool, encoder=encoder).exists():
        return False
    last = PoolMember.objects.filter(pool=pool).aggregate(last=Max("position"))["last"]
    PoolMember.objects.create(pool=pool, encoder=encoder, position=0 if last is None else last + 1)
    return True


def remove(pool: Pool, encoder: Encoder) -> bool:
    """Take an encoder out of a pool. Audit versions that it was in keep it. False where it was not in it."""
    return bool(PoolMember.objects.filter(pool=pool, encoder=encoder).delete()[0])


def ensure(name: str, note: str = "") -> tuple[Pool, bool]:
    """Return the pool of a name, and whether it is new."""
    return Pool.objects.get_or_create(slug=slugify(name), defaults={"name": name, "note": note})


def encoders_of(pool: Pool) -> list[Encoder]:
    """Return a pool's encoders in their order."""
    return [member.encoder for member in PoolMember.objects.filter(pool=pool).select_related("encoder")]
