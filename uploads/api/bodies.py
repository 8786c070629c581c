"""The body of a request, a little at a time. Django REST framework would read it whole."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from django.http import HttpRequest
from django.http.request import UnreadablePostError
from rest_framework.parsers import BaseParser

from uploads.refusals import BadRequest, ConnectionBroke

READ_BYTES = 64 * 2**10
SILENCE_SECONDS = 30
"""A sender that is silent for so long gives its thread back; it resumes later."""


DROPPED_BYTES = 16 * 2**20
DROPPED_SECONDS = 5
"""How much of a refused part is read and dropped, and for how long; a silent sender is waited for as long again."""


class Unread(BaseParser):
    """Leaves every body alone: looking for a CSRF token would else parse it."""

    media_type = "*/*"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return {}


def length_of(request: HttpRequest) -> int:
    """Return the announced length of the body. Raises BadRequest where there is none."""
    given = str(request.META.get("CONTENT_LENGTH") or "")
    if not (given.isascii() and given.isdecimal()):
        raise BadRequest("Give Content-Length: parts of unknown length are not taken.")
    return int(given)


def pieces(request: HttpRequest, patience: float = SILENCE_SECONDS) -> Iterator[bytes]:
    """Yield the body in small pieces. Raises ConnectionBroke where it ends too early, or is silent for too long."""
    left = length_of(request)
    _lose_patience(request, patience)
    while left:
        try:
            piece = request.read(min(READ_BYTES, left))
        except UnreadablePostError:
            raise ConnectionBroke from None
        if not piece:
            raise ConnectionBroke
        left -= len(piece)
        yield piece


def _lose_patience(request: HttpRequest, seconds: float) -> None:
    """Set the limit on silence; gunicorn's threads have none of their own."""
    if (socket := request.META.get("gunicorn.socket")) is not None:
        socket.settimeout(seconds)


def drop_rest(request: HttpRequest) -> None:
    """Read some of a body that was refused: who is still sending when the server closes sees a reset, not the answer.

    Parts of the usual sizes are read to their end; a client that sends more asks with HEAD after the reset.
    """
    deadline, left = time.monotonic() + DROPPED_SECONDS, DROPPED_BYTES
    with suppress(ConnectionBroke, BadRequest):
        for piece in pieces(request, DROPPED_SECONDS):
            left -= len(piece)
            if left < 0 or time.monotonic() > deadline:
                return
