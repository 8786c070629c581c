"""What CSV files and TREC runs share: one image a row, collected by query and put in order.

Rows of one query need not stand together. A rank orders them ascending; a score descending, and equal scores by the
byte order of image ids, which is the gallery order of decision 19: nothing that looks at relevance.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evaluator.errors import FaultList
from evaluator.formats.source import Limits, UnreadableError
from evaluator.formats.written import Role, Written, quoted

_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
LONGEST_LOOK = 10_000
"""Characters of a first line that are looked at to know it."""


@dataclass
class _Rows:
    """The rows of one query, as they come."""

    images: list[str] = field(default_factory=list)
    keys: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("I"))


@dataclass
class Table:
    """Collects rows by query, then orders each query's images by rank or by score."""

    format: str
    by_score: bool
    image_prefix: str
    limits: Limits
    role: Role = Role.RANKING
    _queries: dict[str, _Rows] = field(default_factory=dict)

    def add(self, query: str, image: str, order: str, line: int, faults: FaultList) -> None:
        """Take a row; ``order`` is its rank or score as written."""
        key = _score(order, line, faults) if self.by_score else _rank(order, line, faults)
        if key is None:
            return
        rows = self._queries.get(query)
        if rows is None:
            refuse_many_queries(len(self._queries) + 1, self.limits)
            rows = self._queries[query] = _Rows()
        rows.images.append(image)
        rows.keys.append(-key if self.by_score else key)
        rows.lines.append(line)

    def written(self, faults: FaultList) -> Written:
        """Return the rankings, each best first."""
        ordered = [self._ordered(query, rows, faults) for query, rows in self._queries.items()]
        images, lines = [rows.images for rows in ordered], [rows.lines for rows in ordered]
        ranks = [rows.keys for rows in ordered] if self.role is Role.JUDGED else ()
        return Written(self.format, list(self._queries), images, self.role, entry_lines=lines, ranks=ranks)

    def _ordered(self, query: str, rows: _Rows, faults: FaultList) -> _Rows:
        keys = rows.keys
        if all(keys[i] < keys[i + 1] for i in range(len(keys) - 1)):
            return rows
        order = sorted(range(len(keys)), key=lambda i: rows.images[i].removeprefix(self.image_prefix))
        order.sort(key=keys.__getitem__)  # two stable sorts take half the memory of one by pairs
        if not self.by_score:
            _refuse_equal_ranks(query, rows, order, faults)
        ordered_keys, lines = array("d", map(keys.__getitem__, order)), array("I", map(rows.lines.__getitem__, order))
        return _Rows([rows.images[i] for i in order], ordered_keys, lines)


def _refuse_equal_ranks(query: str, rows: _Rows, order: Sequence[int], faults: FaultList) -> None:
    for before, after in pairwise(order):
        if rows.keys[before] == rows.keys[after]:
            first, second = sorted((rows.lines[before], rows.lines[after]))
            found = f"rank {rows.keys[after]:.0f} on lines {first} and {second}"
            faults.add("repeated-rank", f"query {quoted(query)}, line {second}", found=found)


def first_line(text: str) -> str:
    """Return the first line that is not blank, or its beginning."""
    body = text.lstrip("\r\n ")  # not a tab: it may be the first, empty field
    end = body.find("\n", 0, LONGEST_LOOK)
    return body[: LONGEST_LOOK if end < 0 else end]


def cut_line(text: str) -> int:
    """Return the number of the last line where no line feed ends it, else 0: if it is wrong, the file was cut there."""
    return 0 if text.endswith("\n") else text.count("\n") + 1


def refuse_many_queries(number: int, limits: Limits) -> None:
    """Refuse many times the queries of any split, before each of them becomes a fault."""
    if number > limits.queries:
        expected = f"at most {limits.queries:,}"
        raise UnreadableError("too-many-queries", found=f"{number:,} or more", expected=expected)


def refuse_long(text: str, most: int) -> None:
    """Refuse more rows than a ranking may have images."""
    lines = text.count("\n")
    if lines > most:
        raise UnreadableError("too-many-entries", found=f"{lines:,} lines", expected=f"at most {most:,}")


def _score(text: str, line: int, faults: FaultList) -> float | None:
    try:
        score = float(text) if "_" not in text else None
    except ValueError:
        score = None
    if score is None:
        faults.add("bad-score", f"line {line}", found=quoted(text), expected="a decimal number")
    elif not math.isfinite(score):
        faults.add("not-finite", f"line {line}", found=f"the score {quoted(text)}", expected="a finite number")
        return None
    return score


def _rank(text: str, line: int, faults: FaultList) -> float | None:
    if _WHOLE.fullmatch(text.strip()):
        return float(text)
    faults.add("bad-rank", f"line {line}", found=quoted(text), expected="a whole number: 1, 2, 3, ...")
    return None
