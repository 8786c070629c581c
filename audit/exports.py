"""Tables as CSV, with nothing in a cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from leaderboard.exports import tame


def written(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return CSV with a head; numbers at full precision, an empty cell for None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([tame(head) for head in heads])
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(cell: Any) -> Any:
    return tame(cell) if isinstance(cell, str) else cell
