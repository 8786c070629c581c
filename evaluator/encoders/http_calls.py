"""JSON over HTTPS to an API that is busy, slow or down at times: rate, time limit, retries; the key never shows."""

from __future__ import annotations

import email.utils
import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from evaluator.encoders.problems import EncoderError

AGAIN = (408, 409, 425, 429)
"""Statuses below 500 that say: later. Every one from 500 on says so as well."""
_LONGEST_WAIT = 900.0
"""Seconds; an API that asks for more is not waited for."""
_LONGEST_BACKOFF = 60.0
_LARGEST_ANSWER = 64 * 2**20
_SHOWN = 400
_LOCAL = ("localhost", "127.0.0.1", "::1")


class _Later(Exception):  # noqa: N818 an answer, not an error
    """The API is busy or down: try again, after ``wait`` seconds where it says so."""

    def __init__(self, said: str, wait: float | None = None) -> None:
        super().__init__(said)
        self.wait = wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key is sent to the address in the spec and to no other."""

    def redirect_request(self, *args: Any) -> None:
        return None


@dataclass
class Caller:
    """Calls one address, one request at a time."""

    url: str
    headers: Mapping[str, str]
    key: str = ""
    timeout: float = 60.0
    tries: int = 6
    per_minute: float = 0.0
    """Requests begun in a minute at most; 0 for no limit."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it."""
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        here = urlsplit(self.url).hostname in _LOCAL
        direct = [urllib.request.ProxyHandler({})] if here else []  # a proxy knows another machine by that name
        self._opener = urllib.request.build_opener(_NoRedirect, *direct)

    def post(self, body: Any) -> Any:
        """Return the JSON that the API answers. Raises EncoderError."""
        content = json.dumps(body).encode()
        said, wait = "", 0.0
        for attempt in range(self.tries):
            time.sleep(wait)
            self._pace()
            try:
                return self._parsed(self._once(content))
            except _Later as later:
                said = self._shown(str(later))
                wait = self._wait(attempt, later.wait)
            if wait > _LONGEST_WAIT:
                raise EncoderError("api-failing", f"it asks to wait {wait:,.0f} seconds: {said}")
        raise EncoderError("api-failing", f"{self.tries} tries: {said}")

    def _wait(self, attempt: int, asked: float | None) -> float:
        """Return the seconds before the next try: exponential, spread so that clients do not come back together."""
        backoff: float = min(_LONGEST_BACKOFF, self.first_wait * 2**attempt) * random.uniform(0.5, 1)  # noqa: S311
        return backoff if asked is None else asked + min(backoff, 1.0)

    def _pace(self) -> None:
        now = time.monotonic()
        if self._next > now:
            time.sleep(self._next - now)
        if self.per_minute:
            self._next = max(now, self._next) + 60 / self.per_minute

    def _once(self, content: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self.headers}
        request = urllib.request.Request(self.url, content, headers, method="POST")  # noqa: S310 checked below
        deadline = time.monotonic() + self.timeout
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                return _read(response, deadline)
        except urllib.error.HTTPError as error:
            raise self._refusal(error, deadline) from error
        except TimeoutError as error:
            raise _Later(f"no answer within {self.timeout:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            raise _Later(str(getattr(error, "reason", "")) or str(error) or type(error).__name__) from error

    def _refusal(self, error: urllib.error.HTTPError, deadline: float) -> Exception:
        try:
            answer = _read(error, deadline).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException, EncoderError):
            answer = ""
        said = f"{error.code} {error.reason}: {answer}"
        if error.code in AGAIN or error.code >= 500:
            return _Later(said, _asked_wait(error.headers.get("Retry-After")))
        return EncoderError("api-refused", self._shown(said))

    def _parsed(self, answer: bytes) -> Any:
        try:
            return json.loads(answer)
        except ValueError as error:
            shown = self._shown(answer[:_SHOWN].decode("utf-8", "replace"))
            raise EncoderError("api-answer", f"no JSON: {shown}") from error

    def _shown(self, said: str) -> str:
        """Return words for a person: in one line, not long, and without the key, which some answers repeat."""
        hidden = said.replace(self.key, "[key]") if self.key else said
        return " ".join("".join(sign if sign.isprintable() else " " for sign in hidden).split())[:_SHOWN]


def check_address(url: str) -> None:
    """Refuse an address that a key may not be sent to: all but https, and this machine. Raises EncoderError."""
    try:
        parts = urlsplit(url)
        local = parts.scheme == "http" and parts.hostname in _LOCAL
    except ValueError as error:
        raise EncoderError("spec", f"{url} is no address") from error
    if parts.username or parts.password or not parts.hostname or not (parts.scheme == "https" or local):
        raise EncoderError("spec", f"{url} must be https, without a name or password in it; http is for this machine")


def _read(response: Any, deadline: float) -> bytes:
    """Return the whole answer; a server that sends a byte now and then has no longer than any other."""
    pieces, size = [], 0
    while piece := response.read1(1 << 16):
        size += len(piece)
        if size > _LARGEST_ANSWER:
            raise EncoderError("api-answer", f"longer than {_LARGEST_ANSWER:,} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
        pieces.append(piece)
    return b"".join(pieces)


def _asked_wait(value: str | None) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, which is a number or a date; None where it is neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, moment - time.time())
