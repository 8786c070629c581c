"""The queries of ``demo-emoji``. Each kind goes through all that it could ask, in an order of its own, up to a limit.

Most kinds need both the picture and the text. ``naming`` names its target outright, and two emoji that differ in
direction or by one step of tone look much alike: so there are shortcuts for an audit to find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demo.chance import shuffled
from demo.emoji.records import Emoji, held_out, job
from demo.emoji.source import LICENCE
from demo.emoji.tables import COLOURS, PHASES, TONES
from demo.phrases import phrase
from demo.rows import Row, everything, judgments, numbered
from evaluator.protocols import CIRCUS_SINGLE
from evaluator.types import Gallery, Split, Subset

NO_LIST = "Nobody has published such a list for these queries: the audit of this site makes one."
_NAMED = ("Animals & Nature", "Food & Drink", "Activities", "Travel & Places", "Objects")
"""Categories whose names say what one sees."""


@dataclass(frozen=True)
class Asked:
    """One query: what is shown, what is said, what is meant."""

    kind: str
    reference: Emoji
    target: Emoji
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.reference.id} {self.target.id}"


class _Known:
    """The emoji that queries may be about, and the way from one to another."""

    def __init__(self, emoji: Sequence[Emoji]) -> None:
        held = held_out(emoji)
        self.all = [one for one in emoji if one.base in held and not one.tones]
        self._by = {(*one.rest, one.tone, one.value): one for one in self.all}

    def other(self, one: Emoji, **changed: object) -> Emoji | None:
        """Return the emoji that differs from ``one`` in ``changed`` only."""
        fields = ("base", "gender", "hair", "facing_right", "tone", "value")
        return self._by.get(tuple(changed.get(name, getattr(one, name)) for name in fields))  # type: ignore[arg-type]


Maker = Callable[[_Known, Emoji], Iterator[tuple[Emoji | None, tuple[str, ...], dict[str, str]]]]
"""Yields for a reference each target, the templates of the text, and their words."""
_Asking = Iterator[tuple[Emoji | None, tuple[str, ...], dict[str, str]]]


def tone(known: _Known, one: Emoji) -> _Asking:
    """The same in another skin tone."""
    templates = ("the same, with {tone} skin tone.", "same, but {tone} skin tone.", "like this, in {tone} skin tone.")
    for name in TONES.values():
        if name != one.tone:
            yield known.other(one, tone=name), templates, {"tone": name}


def gender(known: _Known, one: Emoji) -> _Asking:
    """The same as a woman, or as a man."""
    templates: tuple[str, ...] = ("the same, but a {gender}.", "the same as a {gender}.")
    if one.group == "person-role":
        templates = ("the same job as a {gender}.", "a {gender} in the same job.")
    for name in ("woman", "man"):
        if name != one.gender and one.gender and not one.base.startswith("hair"):
            yield known.other(one, gender=name), templates, {"gender": name}


def hair(known: _Known, one: Emoji) -> _Asking:
    """The same person with other hair."""
    templates = ("the same person with {hair}.", "like this, but with {hair}.")
    for name in ("red hair", "curly hair", "a bald head", "white hair"):
        if one.base.startswith("hair") and name != one.hair:
            yield known.other(one, hair=name), templates, {"hair": name}


def direction(known: _Known, one: Emoji) -> _Asking:
    """The same the other way round: nearly the same picture."""
    if one.facing_right:
        yield known.other(one, facing_right=False), ("the same, facing left.", "turned to the left."), {}
    else:
        yield known.other(one, facing_right=True), ("the same, facing right.", "turned to the right."), {}


def work(known: _Known, one: Emoji) -> _Asking:
    """The same person in another job, which the text names."""
    templates = ("the same person as: {job}.", "same skin tone and gender, but {job}.")
    mine = job(one)
    others = {other.base: job(other) for other in known.all if job(other) and other.gender == one.gender}
    for base in shuffled(others, "jobs", one.id)[:3]:
        if mine and base != one.base:
            yield known.other(one, base=base), templates, {"job": others[base]}


def colour(known: _Known, one: Emoji) -> _Asking:
    """The same in another colour."""
    if one.base in COLOURS:
        for name in COLOURS[one.base].values():
            if name != one.value:
                yield known.other(one, value=name), ("the same in {colour}.", "make it {colour}."), {"colour": name}


def shape(known: _Known, one: Emoji) -> _Asking:
    """Another thing in the same colour: the text leaves about ten."""
    for family in COLOURS:
        if one.base in COLOURS and family != one.base:
            yield known.other(one, base=family), ("a {family} in the same colour.",), {"family": family}


def hour(known: _Known, one: Emoji) -> _Asking:
    """A clock at another time."""
    if one.base == "clock":
        for other in shuffled((other.value for other in known.all if other.base == "clock"), "hours", one.id)[:3]:
            if other != one.value:
                templates = ("the same, but it shows {hour}.", "set it to {hour}.")
                yield known.other(one, value=other), templates, {"hour": other}


def later(known: _Known, one: Emoji) -> _Asking:
    """A clock half an hour on, a moon one phase on: neither is named."""
    if one.base == "clock":
        number = one.value.split()[-1] if one.value.startswith("half") else one.value.split()[0]
        if not one.value.startswith("half"):
            yield known.other(one, value=f"half past {number}"), ("half an hour later.", "thirty minutes on."), {}
    for phases in (list(family.values()) for name, family in PHASES.items() if name == one.base):
        after = phases[(phases.index(one.value) + 1) % len(phases)]
        yield known.other(one, value=after), ("the phase after this one.", "a few nights later."), {}


def phase(known: _Known, one: Emoji) -> _Asking:
    """The moon in another phase."""
    if one.base in PHASES:
        for name in PHASES[one.base].values():
            if name != one.value:
                yield known.other(one, value=name), ("the same at its {phase}.", "as {phase}."), {"phase": name}


def naming(known: _Known, one: Emoji) -> _Asking:
    """Something else altogether, by its name: the picture is not needed."""
    templates = ("{name} instead.", "instead, show {name}.", "no, {name}, please.", "rather: {name}.")
    things = [other for other in known.all if _has_telling_name(other) and other.base != one.base]
    for target in shuffled((other.id for other in things), "named", one.id)[:1]:
        other = next(other for other in things if other.id == target)
        yield other, templates, {"name": other.name}


def naming_people(known: _Known, one: Emoji) -> _Asking:
    """Somebody else, by name and skin tone: the picture is not needed."""
    templates = ("{name} with {tone} skin tone instead.", "no: {name}, {tone} skin tone.")
    people = {other.id: other for other in known.all if other.tone and other.gender and other.base != one.base}
    for target in shuffled(people, "named people", one.id)[:1]:
        other = people[target]
        yield other, templates, {"name": other.name, "tone": other.tone}


KINDS: Mapping[Maker, int] = {
    tone: 240,
    naming: 80,
    naming_people: 120,
    work: 110,
    gender: 110,
    colour: 70,
    direction: 30,
    hour: 30,
    hair: 30,
    shape: 20,
    phase: 20,
    later: 20,
}
"""Maker -> how many queries at most; its name is the kind's."""


def asked(emoji: Sequence[Emoji]) -> tuple[Asked, ...]:
    """Return all queries over ``emoji``, in an order that has nothing to do with their kinds."""
    known = _Known(emoji)
    queries = [query for maker, limit in KINDS.items() for query in _made(known, maker, limit)]
    return tuple(shuffled(queries, "emoji order"))


def emoji_split(emoji: Sequence[Emoji]) -> tuple[Split, dict[str, str]]:
    """Return ``demo-emoji`` over ``emoji``, which are in the order of their ids, and the kind of each query id."""
    place = {one.id: number for number, one in enumerate(emoji)}
    queries = asked(emoji)
    rows = [
        Row(query.text, (place[query.reference.id],), (place[query.target.id],), target=place[query.target.id])
        for query in queries
    ]
    ids = tuple(f"emoji-{number:04d}" for number in range(1, len(rows) + 1))
    split = Split(
        name="demo-emoji",
        version=1,
        protocol=CIRCUS_SINGLE,
        query_ids=ids,
        texts=tuple(row.text for row in rows),
        references=tuple(row.references for row in rows),
        images=tuple(place),
        galleries=(Gallery("emoji", everything(len(emoji))),),
        gallery_of=np.zeros(len(rows), dtype=np.int32),
        judgments=judgments(rows),
        subsets={Subset.FULL: np.ones(len(rows), dtype=np.bool_)},
        clusters=numbered(query.reference.base for query in queries),
        cluster_name="base emoji",
        absent={Subset.SF: NO_LIST, Subset.V: NO_LIST},
        licence=LICENCE,
    )
    return split, {name: query.kind for name, query in zip(ids, queries, strict=True)}


def _made(known: _Known, maker: Maker, limit: int) -> list[Asked]:
    """Return the queries of a kind: one of each reference, then a second of each, and so on up to ``limit``."""
    kind = getattr(maker, "__name__", "")
    rounds: list[list[Asked]] = []
    for one in known.all:
        made = [
            Asked(kind, one, target, phrase(templates, f"{kind} {one.id} {target.id}", **words))
            for target, templates, words in maker(known, one)
            if target is not None and target != one
        ]
        for turn, query in enumerate(shuffled(made, "turns", kind, one.id)):
            rounds += [[]] if turn == len(rounds) else []
            rounds[turn].append(query)
    return [query for one_round in rounds for query in shuffled(one_round, "round", kind)][:limit]


def _has_telling_name(one: Emoji) -> bool:
    return (
        one.category in _NAMED
        and not one.value
        and not one.gender
        and not one.tone
        and re.fullmatch(r"[a-z]+( [a-z]+){0,3}", one.name) is not None
    )
