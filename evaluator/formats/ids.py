"""Ids as written to positions and indices (decision 21): an integer or its digits as text, and official spellings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from evaluator.errors import EvaluatorError, FaultList
from evaluator.formats.json_text import NonFinite
from evaluator.formats.written import described, quoted
from evaluator.types import BoolArray, Gallery, IntArray, Split

NO_IMAGE = -1
_SUFFIX = re.compile(r"\.(jpe?g|png|webp|gif|bmp)$", re.IGNORECASE)
_LEADING_ZEROS = re.compile(r"^0+(?=\d)", re.ASCII)
_DIGITS = re.compile(r"\d+", re.ASCII)


def id_text(value: object) -> str | None:
    """Return an id written as text or as an integer, as text; None for a boolean, a float, null or a list."""
    if type(value) is str:
        return value
    return str(value) if type(value) is int else None


class ImageIds:
    """Turns image ids as written into indices, and numbers those that an open gallery accepts unseen (decision 42)."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._known = split.image_index
        self._patterns = [_compiled(pattern) for pattern in {gallery.pattern for gallery in split.galleries} if pattern]
        self._unseen: dict[str, int] = {}

    @property
    def unseen(self) -> tuple[str, ...]:
        """Ids accepted unseen, in the order of their indices, which follow those of ``split.images``."""
        return tuple(self._unseen)

    def indices(self, ids: Sequence[object]) -> IntArray:
        """Return the index of each id, :data:`NO_IMAGE` for none: all at once where all are known, else one by one."""
        if ids and type(ids[0]) is int and set(map(type, ids)) == {int}:
            ids = list(map(str, ids))
        found = self._split.image_table.find(ids)
        return np.fromiter(map(self.index, ids), np.int32, len(ids)) if found is None else found

    def index(self, value: object) -> int:
        """Return the index of one id as written."""
        text = id_text(value)
        if text is None:
            return NO_IMAGE
        found = self._known.get(text)
        if found is None:
            found = self._known.get(text.removeprefix(self._split.image_prefix))
        return self._number(text.removeprefix(self._split.image_prefix)) if found is None else found

    def text(self, index: int) -> str:
        """Return the id with this index, in the split's own spelling."""
        known = len(self._split.images)
        return self._split.images[index] if index < known else self.unseen[index - known]

    def within(self, gallery: Gallery) -> BoolArray:
        """Return which indices, known and unseen, the gallery holds."""
        inside = np.zeros(len(self._split.images) + len(self._unseen), dtype=np.bool_)
        inside[gallery.images] = True
        if gallery.pattern is not None:
            pattern = _compiled(gallery.pattern)
            names = (*self._split.images, *self._unseen)
            inside |= np.fromiter((pattern.fullmatch(name) is not None for name in names), np.bool_, len(names))
        return inside

    def _number(self, text: str) -> int:
        seen = self._unseen.get(text)
        if seen is not None:
            return seen
        if not self._accepts(text):
            return NO_IMAGE
        return self._unseen.setdefault(text, len(self._known) + len(self._unseen))

    def _accepts(self, text: str) -> bool:
        """Whether an open gallery takes the id: printable, of the pattern, and not "012" where "12" fits as well."""
        fitting = [pattern for pattern in self._patterns if text.isprintable() and pattern.fullmatch(text)]
        plain = _LEADING_ZEROS.sub("", text, count=1) if _DIGITS.fullmatch(text) else text
        return any(plain == text or not pattern.fullmatch(plain) for pattern in fitting)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        raise EvaluatorError(f"the gallery's pattern {pattern!r} is no regular expression: {error}") from error


def add_bad_image(faults: FaultList, place: str, value: object, ids: ImageIds) -> None:
    """Say what is wrong with an image id that has no index, and name the likely one."""
    text = id_text(value)
    if text is None:
        add_wrong_type(faults, place, value, "an image id")
        return
    code, likely = _diagnosis(text, "unknown-image", lambda candidate: ids.index(candidate) != NO_IMAGE)
    remedy = f"Did you mean {quoted(likely)}?" if likely else ""
    faults.add(code, place, found=quoted(text), expected="an image of the gallery", remedy=remedy)


def add_unknown_query(faults: FaultList, place: str, value: object, split: Split) -> None:
    """Say what is wrong with a query id that the split does not have."""
    text = id_text(value)
    if text is None:
        add_wrong_type(faults, place, value, "a query id")
        return
    code, likely = _diagnosis(text, "unknown-query", split.query_index.__contains__)
    remedy = f"Did you mean {quoted(likely)}?" if likely else ""
    faults.add(code, place, found=quoted(text), expected=f"a query of {split.name}", remedy=remedy)


def add_wrong_type(faults: FaultList, place: str, value: object, expected: str) -> None:
    """Say that a value is no id at all: NaN, something nested, or a boolean, a float, null."""
    if isinstance(value, NonFinite):
        faults.add("not-finite", place, found=value.token, expected=expected)
    elif isinstance(value, (list, dict)):
        faults.add("too-deep", place, found=described(value), expected=expected)
    else:
        faults.add("wrong-id-type", place, found=described(value), expected=f"{expected}, as text or whole number")


def _diagnosis(text: str, otherwise: str, exists: Callable[[str], bool]) -> tuple[str, str]:
    """Return the code, and the id that was likely meant or ""."""
    bare = text.strip().replace("\\", "/").rpartition("/")[2]
    stem = _SUFFIX.sub("", bare)
    plain = _LEADING_ZEROS.sub("", stem, count=1) if _DIGITS.fullmatch(stem) else stem
    likely = next((name for name in (bare, stem, plain, plain.removesuffix(".0")) if exists(name)), "")
    if stem != bare:
        return "image-suffix" if otherwise == "unknown-image" else otherwise, likely or plain
    if likely and plain != stem and likely == plain:
        return "leading-zeros", likely
    return otherwise, likely
