"""One table of a report: columns with units, rows of cells, a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from evaluator.types import Condition

Cell = int | float | str | None
"""A string in a column of numbers says why there is none; None: the column does not apply to the row."""


class Unit(StrEnum):
    """What the cells of a column are."""

    TEXT = "text"
    QUERIES = "queries"
    SHARE = "share"
    """In [0, 1]; pages show percent."""
    NUMBER = "number"
    MODELS = "models"
    RANK = "rank"
    """1-based; 0 where no model ranks a positive."""


@dataclass(frozen=True)
class Column:
    """One column; ``key`` is its head in CSV."""

    key: str
    title: str
    unit: Unit = Unit.TEXT


@dataclass(frozen=True)
class Table:
    """A table with a key that its addresses end with."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            **asdict(self),
            "columns": [asdict(column) for column in self.columns],
            "rows": list(map(list, self.rows)),
        }


TITLES = {
    Condition.MULTIMODAL: "Multimodal",
    Condition.TEXT_ONLY: "Text only",
    Condition.IMAGE_ONLY: "Image only",
}


def by_condition(unit: Unit, suffix: str = "") -> tuple[Column, ...]:
    """Return a column for each condition, ``suffix`` behind its title."""
    return tuple(Column(str(condition), title + suffix, unit) for condition, title in TITLES.items())
