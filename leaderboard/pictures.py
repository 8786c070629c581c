"""Where the pictures of a split lie on this machine. They are nowhere in the database: a maintainer may have them."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

_MADE = {"demo-circus": "demo", "demo-pinpoint": "demo", "demo-emoji": "emoji"}
"""Board -> folder of the state folder in which ``load_demo`` draws its pictures, or ``audit_demo`` puts them."""


def folder_of(slug: str) -> Path | None:
    """Return the folder that holds the pictures of a board, None where there is none."""
    given = Path(settings.IMAGES) / slug
    if given.is_dir():
        return given
    made = Path(settings.VAR) / _MADE.get(slug, "nowhere") / "images"
    return made if slug in _MADE and made.is_dir() else None


def may_show(slug: str) -> bool:
    """Whether this site may show pictures of a board to everybody: its own demo's, and what the maintainer named."""
    return slug in _MADE or slug in settings.SHOW_IMAGES
