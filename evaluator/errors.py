"""Whose fault it is, as a type. The participant's faults list everything that is wrong, with place and remedy.

``FAULTS`` is the one register of fault codes: the checker, the server, the command line and ``docs/formats.md`` (under test)
all use these words.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

MAX_FAULTS = 100
"""Faults listed one by one; the rest is a count (decision 24)."""


@dataclass(frozen=True)
class FaultKind:
    """A code's meaning: a title, and how to mend it unless the fault itself says something more exact."""

    title: str
    remedy: str


FAULTS: dict[str, FaultKind] = {
    "empty-file": FaultKind("The file is empty", "Upload the file your code wrote, with one ranking for each query."),
}
"""Code -> kind, for every fault any reader can report. ``docs/formats.md`` has a line for each, under test."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where, what was found, what was expected, how to mend it (decision 24)."""

    code: str
    file: str = ""
    place: str = ""
    """``query "130"``, ``line 12``, ``byte 4096``; empty for the file as a whole."""
    found: str = ""
    expected: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.file, self.place) if part)
        detail = "; ".join(
            part
            for part in (
                self.found and f"found {self.found}",
                self.expected and f"expected {self.expected}",
                self.remedy,
            )
            if part
        )
        return f"{self.code}: {where}: {detail}" if where else f"{self.code}: {detail}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class EvaluatorError(Exception):
    """Ours: a broken bundle, an impossible state. Never shown to a participant as their fault."""


class SubmissionError(Exception):
    """The participant's: all faults of a submission, and how many more there are than are listed."""

    def __init__(self, faults: list[Fault] | tuple[Fault, ...], more: int = 0) -> None:
        self.faults = tuple(faults)
        self.more = more
        super().__init__("; ".join(str(fault) for fault in self.faults[:3]))


@dataclass
class FaultList:
    """Collects faults up to :data:`MAX_FAULTS` and counts the rest."""

    file: str = ""
    faults: list[Fault] = field(default_factory=list)
    more: int = 0

    def add(self, code: str, place: str = "", *, found: str = "", expected: str = "", remedy: str = "") -> None:
        """Note a fault. ``code`` must be registered in :data:`FAULTS`."""
        if len(self.faults) >= MAX_FAULTS:
            self.more += 1
            return
        self.faults.append(
            Fault(code, self.file, place, _short(found), _short(expected), remedy or FAULTS[code].remedy)
        )

    def count_more(self, number: int) -> None:
        """Count faults that were found in bulk and need no line of their own."""
        self.more += number

    def raise_if_any(self) -> None:
        """Raise :class:`SubmissionError` if anything was noted."""
        if self.faults:
            raise SubmissionError(self.faults, self.more)


def _short(text: str, limit: int = 200) -> str:
    """What a participant wrote is quoted, never echoed whole: a 10 MB id must not become a 10 MB message."""
    printable = "".join(char if char.isprintable() else "\ufffd" for char in text[: limit + 1])
    return printable if len(printable) <= limit else printable[:limit] + "…"
