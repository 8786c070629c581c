"""What other apps know of single queries. They lie above this one, so settings name their functions.

* ``QUERY_FACTS``: ``(version, native id) -> QueryFacts | None``, a card on the page of a query;
* ``QUERY_CLASSES``: ``(version) -> QueryClasses | None``, classes of all queries to filter the list by;
* ``QUERY_PANELS``: ``(entries, condition, position) -> {entry's key: indices of images, best first}``, the lists of
  those published entries of which more is kept than ranks. The images are those of the frozen split; an index beyond
  them is an image that the split does not know.

Each must make a number of SQL queries that does not grow with what it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from evaluator.types import Condition
from leaderboard.models import Entry, SplitVersion


@dataclass(frozen=True)
class QueryFacts:
    """A card: a title that leads on, facts as (name, value), and a table."""

    title: str
    address: str
    facts: tuple[tuple[str, str], ...]
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class QueryClasses:
    """One class for each query."""

    label: str
    choices: Mapping[str, str]
    """Key in an address -> words, in order."""
    of: Mapping[str, str]
    """Native id -> key; a query may lack one."""


Facts = Callable[[SplitVersion, str], QueryFacts | None]
Classes = Callable[[SplitVersion], QueryClasses | None]
Panels = Callable[[Sequence[Entry], Condition, int], Mapping[int, Sequence[int]]]


def facts_of(version: SplitVersion, query: str) -> tuple[QueryFacts, ...]:
    """Return every card on a query."""
    asked: tuple[Facts, ...] = _functions(tuple(settings.QUERY_FACTS))
    return tuple(found for function in asked if (found := function(version, query)) is not None)


def classes_of(version: SplitVersion) -> QueryClasses | None:
    """Return the first app's classes of a version's queries."""
    asked: tuple[Classes, ...] = _functions(tuple(settings.QUERY_CLASSES))
    return next((found for function in asked if (found := function(version)) is not None), None)


def panels_of(entries: Sequence[Entry], condition: Condition, position: int) -> Mapping[int, Sequence[int]]:
    """Return entry's key -> the first images of its list for one query, of those entries whose lists are kept."""
    found: dict[int, Sequence[int]] = {}
    asked: tuple[Panels, ...] = _functions(tuple(settings.QUERY_PANELS))
    for function in asked:
        found |= function(entries, condition, position)
    return found


@lru_cache(maxsize=8)
def _functions(names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(import_string(name) for name in names)
