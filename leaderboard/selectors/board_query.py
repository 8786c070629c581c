"""What an address asks of a board. Every state of the page is in it, and only what differs from the default."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from evaluator.types import Condition
from leaderboard.declarations import DECLARATIONS
from leaderboard.models import Entry

TRUST = "trust"
NOT_SAID = "not-said"
"""Filter value for entries whose author or source did not say."""
MOST_COLUMNS = 80
"""Columns that an address may choose; more are left out, so that no address makes a page without end."""
MOST_LETTERS = 100
"""Length of what may be searched for."""
MOST_PARAMETERS = 10_000_000
"""The largest size that may be asked for, in millions of parameters."""


@dataclass(frozen=True)
class Filter:
    """One thing rows can be filtered by: its key in the address, its words, and value -> words of the choices."""

    key: str
    label: str
    choices: Mapping[str, str]


FILTERS: tuple[Filter, ...] = (
    Filter("supervision", "Training", {**DECLARATIONS[0].choices, NOT_SAID: "not said"}),
    Filter("training_overlap", "Training overlap", {**DECLARATIONS[1].choices, NOT_SAID: "not said"}),
    Filter("query_text", "Query text", {**DECLARATIONS[2].choices, NOT_SAID: "not said"}),
    Filter("system", "System", {**DECLARATIONS[3].choices, NOT_SAID: "not said"}),
    Filter("weights", "Weights", {**DECLARATIONS[4].choices, NOT_SAID: "not said"}),
    Filter("code", "Code", {"open": "address given", NOT_SAID: "none given"}),
    Filter(TRUST, "Trust", {str(value): str(label) for value, label in Entry.Trust.choices}),
)


@dataclass(frozen=True)
class BoardQuery:
    """The state of a board's page."""

    sort: str = ""
    """Key of a column, ``method`` or ``published``; empty: the column that ranks the board."""
    worst_first: bool = False
    search: str = ""
    """Words that a method's or a team's name must hold."""
    filters: Mapping[str, str] = field(default_factory=dict)
    parameters: int | None = None
    """The most parameters an encoder may have, in millions; rows whose authors did not say do not pass."""
    since: date | None = None
    """The first day of publication, in UTC."""
    until: date | None = None
    """The last one."""
    hide_reported: bool = False
    everything: bool = False
    chosen: tuple[str, ...] = ()
    """Keys of the columns to show; empty: the main ones, or everything."""
    condition: Condition = Condition.MULTIMODAL
    as_of: date | None = None
    """The day at whose end, in UTC, the board is seen."""
    page: int = 1

    def query_string(self, **changes: Any) -> str:
        """Return ``?...`` of this state with changes; ``?`` alone for the default, so that a link always resets."""
        return "?" + urlencode(replace(self, **changes).pairs, safe=":@(),")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of everything that differs from the default."""
        pairs = [
            ("sort", f"-{self.sort}" if self.worst_first and self.sort else self.sort),
            ("q", self.search),
            *self.filters.items(),
            ("parameters", "" if self.parameters is None else str(self.parameters)),
            ("from", _iso(self.since)),
            ("to", _iso(self.until)),
            ("reported", "hide" if self.hide_reported else ""),
            ("columns", "all" if self.everything else ""),
            ("cols", ",".join(key.replace(",", "%2C") if "=" in key else key for key in self.chosen)),
            ("condition", "" if self.condition is Condition.MULTIMODAL else str(self.condition)),
            ("as_of", _iso(self.as_of)),
            ("page", str(self.page) if self.page > 1 else ""),
        ]
        return [(name, value) for name, value in pairs if value]

    @property
    def narrows(self) -> int:
        """How many things keep rows away."""
        more = (self.search, self.hide_reported, self.parameters is not None, self.since, self.until)
        return len(self.filters) + sum(bool(part) for part in more)

    def without(self, *names: str) -> list[tuple[str, str]]:
        """Return the pairs but those called ``names``: what a form that sets them carries along unseen."""
        return [(name, value) for name, value in self.pairs if name not in names]


def read(parameters: Mapping[str, str]) -> BoardQuery:
    """Return the state that an address asks for. What it does not know is the default: old links keep working."""
    sort = parameters.get("sort", "")
    condition = parameters.get("condition", "")
    return BoardQuery(
        sort=_printable(sort.removeprefix("-")),
        worst_first=sort.startswith("-"),
        search=_printable(parameters.get("q", ""))[:MOST_LETTERS].strip(),
        filters={part.key: parameters[part.key] for part in FILTERS if parameters.get(part.key) in part.choices},
        parameters=_whole(parameters.get("parameters", ""), MOST_PARAMETERS),
        since=_day(parameters.get("from", "")),
        until=_day(parameters.get("to", "")),
        hide_reported=parameters.get("reported") == "hide",
        everything=parameters.get("columns") == "all",
        chosen=tuple(_columns(parameters))[:MOST_COLUMNS],
        condition=Condition(condition) if condition in set(Condition) else Condition.MULTIMODAL,
        as_of=_day(parameters.get("as_of", "")),
        page=_whole(parameters.get("page", ""), 10**9) or 1,
    )


def _columns(parameters: Mapping[str, str]) -> Iterable[str]:
    """Return the keys of ``cols``: with commas between, as links have them, or one a value, as a form sends them."""
    values = parameters.getlist("cols") if isinstance(parameters, QueryDict) else [parameters.get("cols", "")]
    keys = (key for value in values for key in _between_commas(_printable(value)))
    return dict.fromkeys(key.replace("%2C", ",") for key in keys if key)


def _between_commas(text: str) -> Iterator[str]:
    """Yield the parts between commas; those in brackets, as in ``Mean(Recall@10,Recall@50)``, part nothing."""
    depth, part = 0, ""
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth <= 0:
            yield part
            part = ""
        else:
            part += char
    yield part


def _printable(text: str) -> str:
    """Return text without what no database takes (NUL) and no page shows."""
    return "".join(char for char in text if char.isprintable())


def _whole(text: str, most: int) -> int | None:
    """Return a whole number above 0; None for anything else."""
    value = int(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0
    return value if 0 < value <= most else None


def _day(text: str) -> date | None:
    """Return the day of ``2026-12-01``; None for anything else."""
    try:
        return date.fromisoformat(text) if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None
    except ValueError:
        return None


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""


def accepts(query: BoardQuery, entry: Entry) -> bool:
    """Whether a row passes the filters."""
    if query.hide_reported and entry.trust == Entry.Trust.REPORTED:
        return False
    if query.search and not _is_named(query.search, entry):
        return False
    if query.parameters is not None and not _is_small(query.parameters, entry):
        return False
    if (query.since or query.until) and not _is_dated(query, entry):
        return False
    return all(_matches(entry, key, wanted) for key, wanted in query.filters.items())


def _is_named(search: str, entry: Entry) -> bool:
    """Whether each word stands in the method's or the team's name, in any case."""
    team = entry.method.team
    name = f"{entry.method.name} {team.name if team else ''}".casefold()
    return all(word in name for word in search.casefold().split())


def _is_small(most: int, entry: Entry) -> bool:
    said = entry.declared.get("parameters")
    try:
        return 0 < float(said) <= most  # an old entry may have it as text
    except (TypeError, ValueError):
        return False


def _is_dated(query: BoardQuery, entry: Entry) -> bool:
    if entry.published_at is None:
        return False
    day = entry.published_at.astimezone(UTC).date()
    return (query.since is None or query.since <= day) and (query.until is None or day <= query.until)


def _matches(entry: Entry, key: str, wanted: str) -> bool:
    if key == TRUST:
        return entry.trust == wanted
    if key == "code":
        return bool(entry.method.code_url) == (wanted == "open")
    said = entry.declared.get(key)
    if wanted == NOT_SAID:
        return not said
    return wanted in said if isinstance(said, list) else said == wanted
