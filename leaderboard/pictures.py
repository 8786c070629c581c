"""Where the pictures of a split lie on this machine. They are nowhere in the database: a maintainer may have them."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

_DRAWN = ("demo-circus", "demo-pinpoint")
"""Boards whose pictures ``load_demo`` draws."""


def folder_of(slug: str) -> Path | None:
    """Return the folder that holds the pictures of a board, None where there is none."""
    given = Path(settings.IMAGES) / slug
    if given.is_dir():
        return given
    drawn = Path(settings.VAR) / "demo" / "images"
    return drawn if slug in _DRAWN and drawn.is_dir() else None
