"""Two labellings of the same queries: which queries moved, and because of which model (decision 40)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from evaluator.audit.labels import UNIMODAL, Label, Labelling, Member, solved
from evaluator.errors import EvaluatorError
from evaluator.types import Condition


@dataclass(frozen=True)
class Move:
    """One query whose label, or kind of shortcut, is another one."""

    query: int
    before: str
    after: str
    because: tuple[str, ...]
    """Names of the models that came or went and decide it; of K where that changed and no model does."""


def moves(before: Labelling, after: Labelling) -> tuple[Move, ...]:
    """Return every query that moved, by position. Raises EvaluatorError where the two label other queries."""
    if len(before) != len(after):
        raise EvaluatorError(f"labels of {len(before)} and of {len(after)} queries cannot be compared")
    changed = np.flatnonzero((before.label != after.label) | (before.kind != after.kind))
    explain = _explainer(before, after)
    return tuple(Move(i, before.words(i), after.words(i), explain(i)) for i in map(int, changed))


def flow(moved: Iterable[Move]) -> dict[tuple[str, str], int]:
    """Return (label before, label after) -> how many queries went that way."""
    return dict(Counter((move.before, move.after) for move in moved))


def _explainer(before: Labelling, after: Labelling) -> Callable[[int], tuple[str, ...]]:
    """Return what names the models that one move is due to."""
    old = {member.name for member in before.members}
    new = {member.name for member in after.members}
    came = [member for member in after.members if member.name not in old]
    went = [member for member in before.members if member.name not in new]

    def explain(query: int) -> tuple[str, ...]:
        decided = _deciding(came, after, before, query) + _deciding(went, before, after, query)
        if decided or before.k == after.k:
            return tuple(decided)
        return (f"K = {after.k} instead of {before.k}",)

    return explain


def _deciding(members: list[Member], here: Labelling, there: Labelling, query: int) -> list[str]:
    """Return the members, only in ``here``, that solve a query under a condition that nobody solves it in ``there``.

    Nobody at either K: what another K alone would have changed is no model's doing.
    """
    k = max(here.k, there.k)
    gained = [condition for condition in _telling(here, query) if not solved(there.rank[condition], k)[query]]
    return [
        member.name
        for member in members
        if any(solved(member.ranks[condition][query : query + 1], here.k)[0] for condition in gained)
    ]


def _telling(labelling: Labelling, query: int) -> tuple[Condition, ...]:
    """Return the conditions that a query's label rests on."""
    if labelling.has(Label.SHORTCUT)[query]:
        return UNIMODAL
    return (Condition.MULTIMODAL,) if labelling.has(Label.COMPOSITION_REQUIRED)[query] else ()
