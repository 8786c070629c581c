"""What an address asks of a board. Every state of the page is in it, and only what differs from the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from evaluator.types import Condition
from leaderboard.declarations import DECLARATIONS
from leaderboard.models import Entry

TRUST = "trust"
NOT_SAID = "not-said"
"""Filter value for entries whose author or source did not say."""


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
    Filter(TRUST, "Trust", {str(value): str(label) for value, label in Entry.Trust.choices}),
)


@dataclass(frozen=True)
class BoardQuery:
    """The state of a board's page."""

    sort: str = ""
    """Key of a column, ``method`` or ``published``; empty: the column that ranks the board."""
    worst_first: bool = False
    filters: Mapping[str, str] = field(default_factory=dict)
    hide_reported: bool = False
    everything: bool = False
    condition: Condition = Condition.MULTIMODAL
    page: int = 1

    def query_string(self, **changes: Any) -> str:
        """Return ``?...`` of this state with changes; ``?`` alone for the default, so that a link always resets."""
        state = replace(self, **changes)
        pairs = [
            ("sort", f"-{state.sort}" if state.worst_first and state.sort else state.sort),
            *state.filters.items(),
            ("reported", "hide" if state.hide_reported else ""),
            ("columns", "all" if state.everything else ""),
            ("condition", "" if state.condition is Condition.MULTIMODAL else str(state.condition)),
            ("page", str(state.page) if state.page > 1 else ""),
        ]
        return "?" + urlencode([(name, value) for name, value in pairs if value])


def read(parameters: Mapping[str, str]) -> BoardQuery:
    """Return the state that an address asks for. What it does not know is the default: old links keep working."""
    sort = parameters.get("sort", "")
    condition = parameters.get("condition", "")
    page = parameters.get("page", "")
    return BoardQuery(
        sort=sort.removeprefix("-"),
        worst_first=sort.startswith("-"),
        filters={part.key: parameters[part.key] for part in FILTERS if parameters.get(part.key) in part.choices},
        hide_reported=parameters.get("reported") == "hide",
        everything=parameters.get("columns") == "all",
        condition=Condition(condition) if condition in set(Condition) else Condition.MULTIMODAL,
        page=int(page) if page.isascii() and page.isdigit() and int(page[:9]) > 0 else 1,
    )


def accepts(query: BoardQuery, entry: Entry) -> bool:
    """Whether a row passes the filters."""
    if query.hide_reported and entry.trust == Entry.Trust.REPORTED:
        return False
    return all(_matches(entry, key, wanted) for key, wanted in query.filters.items())


def _matches(entry: Entry, key: str, wanted: str) -> bool:
    if key == TRUST:
        return entry.trust == wanted
    said = entry.declared.get(key)
    if wanted == NOT_SAID:
        return not said
    return wanted in said if isinstance(said, list) else said == wanted
