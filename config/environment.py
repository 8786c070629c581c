"""Reads the environment. A value that is wrong stops the process with a sentence; nothing falls back in silence."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, validate

BASE_DIR = Path(__file__).resolve().parent.parent

env = Env(prefix="CIRBOARD_")

T = TypeVar("T")


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """Return one of ``allowed``."""
    return _checked(lambda: env.str(name, default, validate=validate.OneOf(allowed)))


def flag(name: str, *, default: bool) -> bool:
    """Return a boolean written as true/false, yes/no, on/off or 1/0."""
    return _checked(lambda: env.bool(name, default))


def whole(name: str, default: int, *, least: int = 0, most: int = 2**40) -> int:
    """Return a whole number within bounds."""
    return _checked(lambda: env.int(name, default, validate=validate.Range(min=least, max=most)))


def text(name: str, default: str = "") -> str:
    """Return a string as it is."""
    return _checked(lambda: env.str(name, default))


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Return a comma-separated list without blanks."""
    return [word for part in _checked(lambda: env.list(name, list(default))) if (word := str(part).strip())]


_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?/[^\s\"'<>]*")


def image_addresses(given: str) -> dict[str, str]:
    """Return board -> address pattern of its images, out of JSON. ``{id}`` is the image's id, ``{id:012}`` with zeros
    in front to twelve digits."""
    wrong = "CIRBOARD_IMAGE_URLS"
    try:
        patterns = json.loads(given)
    except ValueError as error:
        raise ImproperlyConfigured(f"{wrong} is no JSON: {error}") from error
    if not isinstance(patterns, dict):
        raise ImproperlyConfigured(f'{wrong} must be an object such as {{"board": "https://example.org/{{id}}.jpg"}}.')
    for board, pattern in patterns.items():
        bare = re.sub(r"\{id(:0\d{1,2})?\}", "", pattern) if isinstance(pattern, str) else pattern
        if not isinstance(pattern, str) or bare == pattern or "{" in bare or not _ADDRESS.fullmatch(bare):
            raise ImproperlyConfigured(
                f"{wrong}: the address of {board} must begin with http:// or https:// and a host, and hold {{id}}."
            )
    return patterns


def secret_key(folder: Path, *, production: bool) -> str:
    """Return Django's secret key: from the environment or, on embedded defaults only, made and kept in ``folder``."""
    given = text("SECRET_KEY")
    if given:
        if len(given) < 32:
            raise ImproperlyConfigured("CIRBOARD_SECRET_KEY must have at least 32 characters.")
        return given
    if production:
        raise ImproperlyConfigured("Set CIRBOARD_SECRET_KEY: production never makes up a secret of its own.")
    kept = folder / "secret-key"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(secrets.token_urlsafe(48))
    return kept.read_text().strip()


def _checked(read: Callable[[], T]) -> T:
    try:
        return read()
    except EnvError as error:
        raise ImproperlyConfigured(f"The environment is wrong: {error}") from error
