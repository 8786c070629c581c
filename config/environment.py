"""Reads the environment. A value that is wrong stops the process with a sentence; nothing falls back in silence."""

from __future__ import annotations

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
