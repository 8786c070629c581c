"""Numbers printed elsewhere, committed as facts with their source (decisions 6 and 43): one JSON file a publication.

Values are in [0, 1] as everywhere (decision 7); ``decimals`` counts the decimals of the value that the source gives:
55.16 % is 0.5516 with four. A file that breaks the schema, names an unknown measure or says a number twice is never
loaded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluator.measures import registry
from evaluator.measures.base import Unit
from evaluator.types import Condition, Protocol, Subset
from leaderboard import boards

FOLDER = Path(__file__).parent


class ReportedFileError(ValueError):
    """A committed file of reported numbers breaks the schema; the message names file and place."""


@dataclass(frozen=True)
class ReportedScore:
    """One printed number."""

    subset: Subset
    condition: Condition | None
    """None for a measure over several conditions."""
    measure: str
    value: float
    decimals: int
    group: str = ""
    """``dimension=value``, or empty for the whole subset."""

    @property
    def key(self) -> tuple[Subset, Condition | None, str, str]:
        return self.subset, self.condition, self.group, self.measure

    @property
    def shown(self) -> str:
        """The cell as people read it: percent where the measure is one, with the decimals that were printed."""
        if registry.describe(self.measure).unit is Unit.PERCENT:
            return f"{100 * self.value:.{max(self.decimals - 2, 0)}f}"
        return f"{self.value:.{self.decimals}f}"


@dataclass(frozen=True)
class ReportedEntry:
    """One row of a printed table."""

    method: str
    scores: tuple[ReportedScore, ...]
    declared: Mapping[str, Any] = field(default_factory=dict)
    """What the source says of what authors declare (decision 30); nothing is guessed."""
    printed_as: str = ""
    """The row's name in the source, where it is another."""
    paper_url: str = ""
    code_url: str = ""
    pool_member: bool = False
    unranked: str = ""
    """Why the row stands unranked although it has numbers (decision 6)."""
    note: str = ""


@dataclass(frozen=True)
class ReportedAverage:
    """One joint measure of which a source prints only a mean over methods, by subset."""

    measure: str
    over: str
    """What the mean is over, in words."""
    values: Mapping[Subset, float]
    decimals: int

    @property
    def shown(self) -> dict[str, str]:
        """Subset -> the number with the decimals that were printed."""
        return {str(subset): f"{value:.{self.decimals}f}" for subset, value in self.values.items()}


@dataclass(frozen=True)
class ReportedBoard:
    """What one publication says on one board; ``averages`` and ``notes`` are what belongs to no single row."""

    board: str
    entries: tuple[ReportedEntry, ...]
    averages: tuple[ReportedAverage, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportedFile:
    """One publication."""

    name: str
    source: str
    url: str
    commit: str
    note: str
    boards: tuple[ReportedBoard, ...]

    @property
    def permalink(self) -> str:
        """The publication's address, at its commit where it has one."""
        return f"{self.url}/tree/{self.commit}" if self.commit else self.url


@lru_cache(maxsize=1)
def read_reported() -> tuple[ReportedFile, ...]:
    """Return every committed publication, checked. Raises ReportedFileError.

    A method has one reported row on a board: two publications would overwrite each other's at every load.
    """
    publications = tuple(read_reported_file(path) for path in sorted(FOLDER.glob("*.json")))
    rows = ((part.board, entry.method) for file in publications for part in file.boards for entry in part.entries)
    try:
        _check_once(rows, "reported rows of all publications")
    except ValueError as error:
        raise ReportedFileError(str(error)) from error
    return publications


def board_notes(board: str) -> tuple[str, ...]:
    """Return what the publications say about a board as a whole, for its page."""
    published = (part for reported in read_reported() for part in reported.boards)
    return tuple(note for part in published if part.board == board for note in part.notes)


def reported_average(board: str, measure: str) -> tuple[ReportedFile, ReportedAverage] | None:
    """Return the printed mean over methods of a measure on a board, with its publication; None where there is none."""
    for reported in read_reported():
        for part in reported.boards:
            for average in part.averages:
                if (part.board, average.measure) == (board, measure):
                    return reported, average
    return None


def read_reported_file(path: Path) -> ReportedFile:
    """Return one file, checked against the schema and the protocols of its boards. Raises ReportedFileError."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        parts = tuple(_board(part) for part in fields.pop("boards"))
        return ReportedFile(**fields, boards=parts)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReportedFileError(f"{path.name}: {error}") from error


def _board(fields: dict[str, Any]) -> ReportedBoard:
    averages = tuple(map(_average, fields.get("averages", ())))
    entries = tuple(map(_entry, fields["entries"]))
    part = ReportedBoard(fields["board"], entries, averages, tuple(fields.get("notes", ())))
    protocol = boards.board(part.board).protocol
    for average in part.averages:
        _check_average(average, protocol, part.board)
    for entry in part.entries:
        _check_entry(entry, protocol, f"{part.board}, {entry.method}")
    _check_once((entry.method for entry in part.entries), part.board)
    return part


def _average(fields: dict[str, Any]) -> ReportedAverage:
    return ReportedAverage(**{**fields, "values": {Subset(name): value for name, value in fields["values"].items()}})


def _check_average(average: ReportedAverage, protocol: Protocol, place: str) -> None:
    for subset, value in average.values.items():
        score = ReportedScore(subset, None, average.measure, value, average.decimals)
        _check_score(score, protocol, f"{place}, mean over {average.over}")


def _entry(fields: dict[str, Any]) -> ReportedEntry:
    return ReportedEntry(**{**fields, "scores": tuple(map(_score, fields["scores"]))})


def _score(fields: dict[str, Any]) -> ReportedScore:
    condition = fields["condition"]
    return ReportedScore(
        **{
            **fields,
            "subset": Subset(fields["subset"]),
            "condition": None if condition is None else Condition(condition),
        }
    )


def _check_entry(entry: ReportedEntry, protocol: Protocol, place: str) -> None:
    if not entry.scores:
        raise ValueError(f"{place}: no scores")
    for score in entry.scores:
        _check_score(score, protocol, place)
    _check_once((score.key for score in entry.scores), place)


def _check_score(score: ReportedScore, protocol: Protocol, place: str) -> None:
    where = f"{place}, {score.subset} {score.measure} {score.group}".rstrip()
    if score.subset not in protocol.subsets or score.measure not in _known_measures(score, protocol):
        raise ValueError(f"{where}: not on this board")
    if (score.condition is None) != (score.measure in protocol.joint_measures):
        raise ValueError(f"{where}: a condition belongs to every measure but the joint ones")
    highest = 1.0 if registry.describe(score.measure).unit is Unit.PERCENT else float("inf")
    if not 0.0 <= score.value <= highest or round(score.value, score.decimals) != score.value:
        raise ValueError(f"{where}: {score.value} is no number of {score.decimals} decimals from 0 to {highest:g}")


def _known_measures(score: ReportedScore, protocol: Protocol) -> tuple[str, ...]:
    if not score.group:
        return protocol.measures + protocol.joint_measures
    dimension = score.group.partition("=")[0]
    return tuple(name for part in protocol.breakdowns if part.dimension == dimension for name in part.measures)


def _check_once(keys: Iterable[object], place: str) -> None:
    repeated = [key for key, times in Counter(keys).items() if times > 1]
    if repeated:
        raise ValueError(f"{place}: given more than once: {repeated[0]}")
