"""Why an importer refuses a folder: every difference from what was published, with its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MAX_LISTED = 20
"""Differences of one kind listed one by one, for example images that are missing from a gallery."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not as published: what, as expected, as found, and in which file."""

    what: str
    expected: str
    found: str
    file: str = ""

    def __str__(self) -> str:
        place = f" ({self.file})" if self.file else ""
        return f"{self.what}: expected {self.expected}, found {self.found}{place}"


class ImportRefused(Exception):  # noqa: N818 - a verdict on the files, not a failure of ours
    """The files are not the ones that were published. ``differences`` names each one."""

    def __init__(self, *differences: Difference) -> None:
        self.differences = differences
        super().__init__("; ".join(str(difference) for difference in differences[:3]))


class FileMissing(ImportRefused):
    """A file that the import cannot do without is in none of the folders."""


def compare_counts(expected: Mapping[str, int], found: Mapping[str, int], file: str) -> list[Difference]:
    """Return a difference for each count of ``expected`` that ``found`` does not reproduce."""
    return [
        Difference(what, f"{number:,}", f"{found[what]:,}", file)
        for what, number in expected.items()
        if found[what] != number
    ]


def require_counts(expected: Mapping[str, int], found: Mapping[str, int], file: str) -> None:
    """Raise :class:`ImportRefused` naming every count that differs from the published one."""
    refuse_any(compare_counts(expected, found, file))


def refuse_any(differences: list[Difference]) -> None:
    """Raise :class:`ImportRefused` if there is any difference."""
    if differences:
        raise ImportRefused(*differences)


def require_none(what: str, offenders: list[str], file: str) -> None:
    """Raise :class:`ImportRefused` listing ``offenders``, of which there should be none."""
    if offenders:
        shown = ", ".join(offenders[:MAX_LISTED]) + (", …" if len(offenders) > MAX_LISTED else "")
        raise ImportRefused(Difference(what, "none", f"{len(offenders):,}: {shown}", file))
