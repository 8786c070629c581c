"""What the running code works on, so that every log line can say it (``config.logs``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_subject: ContextVar[str] = ContextVar("subject", default="-")


@contextmanager
def about(**facts: object) -> Iterator[None]:
    """Mark the enclosed work: ``with about(evaluation=7): ...``. Inner facts are added to outer ones."""
    outer = _subject.get()
    inner = " ".join(f"{name}={fact}" for name, fact in facts.items())
    token = _subject.set(inner if outer == "-" else f"{outer} {inner}")
    try:
        yield
    finally:
        _subject.reset(token)


def current_subject() -> str:
    """Return the facts of the innermost :func:`about`, or "-"."""
    return _subject.get()
