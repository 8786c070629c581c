"""JSON text to values, with the faults that ``json`` lets pass: repeated keys, NaN, and places in bytes and lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from evaluator.formats.source import Limits, UnreadableError

_MOST_REPEATS = 100_000
"""Repeated keys remembered; a file with more is bad enough, and must not cost more memory than its text."""
_KEY_END = re.compile(r'"\s*:')
_SHORTEST_PAIR = len('"":1,')


@dataclass(frozen=True)
class NonFinite:
    """``NaN``, ``Infinity`` or ``-Infinity``: not JSON, but what Python writes without being asked."""

    token: str

    def __str__(self) -> str:
        return self.token


@dataclass
class JsonReader:
    """Reads JSON texts and remembers every key that stood twice in one object, with that object."""

    repeats: list[tuple[dict[str, Any], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_constant=NonFinite)

    def read(self, text: str) -> object:
        """Return the value of ``text``. Raises UnreadableError with line and byte offset."""
        try:
            return self._decoder.decode(text)
        except json.JSONDecodeError as error:
            raise _unreadable(text, error) from error
        except RecursionError as error:
            raise UnreadableError("too-deep", found="lists within lists, hundreds deep") from error
        except ValueError as error:  # int() refuses more than 4,300 digits
            raise UnreadableError("number-too-long", found="a number of thousands of digits") from error

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen and len(self.repeats) < _MOST_REPEATS:
                    self.repeats.append((table, key))
                seen.add(key)
        return table


def refuse_costly(text: str, limits: Limits) -> None:
    """Refuse text that would become far more memory than it has bytes, before it is read."""
    _refuse_more(text, "[{", limits.containers, "too-many-lists")
    _refuse_more(text, ",", limits.entries, "too-many-entries")
    if len(text) // _SHORTEST_PAIR > limits.keys:
        number = sum(1 for _ in _KEY_END.finditer(text))
        _refuse(number, limits.keys, "too-many-queries")


def _refuse_more(text: str, signs: str, limit: int, code: str) -> None:
    """Count ``signs``, unless the text is too short for so many: each value takes two characters or more."""
    if len(text) // 2 > limit:
        _refuse(sum(map(text.count, signs)), limit, code)


def _refuse(number: int, limit: int, code: str) -> None:
    if number > limit:
        raise UnreadableError(code, found=f"{number:,}", expected=f"at most {limit:,}")


def _unreadable(text: str, error: json.JSONDecodeError) -> UnreadableError:
    offset = len(text[: error.pos].encode(errors="surrogatepass"))
    place = f"line {error.lineno}, byte {offset}"
    if _ends_early(text, error):
        return UnreadableError("truncated", place, found="an end within the JSON", expected="the rest of it")
    around = text[error.pos : error.pos + 20]
    return UnreadableError("invalid-json", place, found=f"{error.msg}, at {around!r}", expected="valid JSON")


def _ends_early(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text was fine as far as it goes: the parser stopped at its end, or in its last word."""
    rest = text[error.pos :].rstrip()
    return not rest or error.msg.startswith("Unterminated string") or _is_cut_word(rest)


def _is_cut_word(rest: str) -> bool:
    return any(word.startswith(rest) for word in ("true", "false", "null", "NaN", "Infinity", "-Infinity"))
