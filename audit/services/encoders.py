"""Registers models under audit, and says again what they are when they are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from audit.models import Encoder
from evaluator.encoders import EncoderError, Spec
from evaluator.encoders.registry import FAMILIES


class EncoderRefused(Exception):  # noqa: N818 (a verdict)
    """What was to be registered is not a model in one exact state, or is known by another name."""


def register(spec: Spec, *, source_url: str = "") -> tuple[Encoder, bool]:
    """Return the encoder of a spec, and whether it is new. Raises EncoderRefused.

    A registered state never changes: other weights or options are another encoder with another name.
    """
    check(spec)
    slug = slugify(spec.name)
    if not slug:
        raise EncoderRefused(f"The name {spec.name!r} has no letter or digit to make an address of.")
    with transaction.atomic():
        known = Encoder.objects.filter(name=spec.name).first() or Encoder.objects.filter(slug=slug).first()
        if known is None:
            return Encoder.objects.create(slug=slug, source_url=source_url, **spec.as_dict()), True
    if spec_of(known).fingerprint != spec.fingerprint or known.name != spec.name:
        raise EncoderRefused(
            f"{known.name} is registered already, with revision {known.revision} and other options. What was audited "
            "never changes: give this state a name of its own."
        )
    return known, False


def check(spec: Spec) -> None:
    """Raise EncoderRefused where a spec is none that can be opened."""
    if spec.family not in FAMILIES:
        raise EncoderRefused(f"There is no family {spec.family}: choose one of {', '.join(FAMILIES)}.")
    try:
        Spec.from_dict(spec.as_dict())
    except EncoderError as error:
        raise EncoderRefused(str(error)) from error


def spec_of(encoder: Encoder) -> Spec:
    """Return what an encoder is opened from."""
    return Spec(
        name=encoder.name,
        family=encoder.family,
        model=encoder.model,
        revision=encoder.revision,
        licence=encoder.licence,
        options=encoder.options,
    )


def note_card(encoder: Encoder, card: Mapping[str, Any]) -> None:
    """Keep what the opened encoder says of itself: dimension, conditions, training."""
    encoder.conditions = dict(card.get("conditions") or {})
    encoder.dimension = card.get("dimension")
    encoder.training = card.get("training") or encoder.training
    encoder.save(update_fields=["conditions", "dimension", "training"])
