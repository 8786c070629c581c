"""From the package's list to emoji that know what they share: the same thing in other tones, genders, hair, directions.

All of this is read from the code points, as Unicode composes them (UTS #51); names only serve for words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from demo.chance import shuffled
from demo.emoji.tables import COLOURS, HAIR, HOURS, PHASES, TONES

_JOINER, _RIGHT = "200d", "27a1"
_SIGNS = {"2640": "woman", "2642": "man"}
_ADULTS = {"1f468": "man", "1f469": "woman", "1f9d1": "person"}
_ROLES = ("person-role", "person-fantasy", "person-activity")
_HELD_OUT = 4
"""One of so many bases is kept out of training."""
_ALWAYS_HELD_OUT = frozenset({"hair of woman", "clock", "1f3c3", "role 1f9af", *COLOURS, *PHASES})
"""Families that differ in hair or in a value, and those who run or carry a cane, who also face right."""


@dataclass(frozen=True)
class Emoji:
    """One picture of the package."""

    id: str
    """Its code points, as the package names the file, without the ending."""
    name: str
    """In lower case, tone and all left out."""
    short: str
    """Its other name, in words."""
    category: str
    group: str
    """The package's subcategory."""
    base: str
    """What it shares with all that show the same thing."""
    tone: str = ""
    """One of :data:`TONES`; empty for the yellow that stands for none, and for things."""
    tones: str = ""
    """Both tones of a couple, in words."""
    gender: str = ""
    hair: str = ""
    facing_right: bool = False
    value: str = ""
    """Colour, hour or phase, where a family differs in it."""

    @property
    def rest(self) -> tuple[str, str, str, bool]:
        """All that may differ within a base but the tone."""
        return self.base, self.gender, self.hair, self.facing_right


def read_emoji(package: Path) -> tuple[Emoji, ...]:
    """Return the emoji of an unpacked package that have a picture there, by id. Raises OSError and ValueError."""
    rows: list[dict[str, Any]] = json.loads((package / "emoji.json").read_text(encoding="utf-8"))
    there = {path.stem for path in (package / "img" / "google" / "64").glob("*.png")}
    found = [emoji for row in rows for emoji in _variants(row) if emoji.id in there]
    return tuple(sorted(found, key=lambda emoji: emoji.id))


def held_out(emoji: Iterable[Emoji]) -> frozenset[str]:
    """Return the bases that training never sees: a quarter of them, and some in any case."""
    bases = {one.base for one in emoji}
    drawn = shuffled(bases, "emoji held out")[: len(bases) // _HELD_OUT]
    return frozenset(drawn) | (_ALWAYS_HELD_OUT & bases)


def captions(one: Emoji) -> Iterator[str]:
    """Yield what the small encoder's training says of a picture: both names, with what the names leave out."""
    names = dict.fromkeys((one.name, one.short))
    for name in names:
        if one.tone:
            yield f"{name}, {one.tone} skin tone"
        elif one.tones:
            yield f"{name}, {one.tones}"
        else:
            yield name


def job(one: Emoji) -> str:
    """Return what a person is or does, without the gender; empty where the name says nothing of the kind."""
    if one.group not in _ROLES or one.gender not in ("woman", "man") or one.facing_right:
        return ""
    found = re.fullmatch(rf"{one.gender} ([a-z -]+)", one.name)
    named = found[1] if found else ""
    return (
        "" if re.match(r"(in|with|wearing|feeding|getting)\b", named) or named.split(" ")[0].endswith("ing") else named
    )


def _variants(row: dict[str, Any]) -> Iterator[Emoji]:
    plain = _plain(row)
    yield plain
    for tones, variant in row.get("skin_variations", {}).items():
        words = [TONES.get(tone, tone) for tone in tones.lower().split("-")]
        made = replace(plain, id=Path(variant["image"]).stem)
        yield replace(made, tone=words[0]) if len(words) == 1 and not plain.tones else replace(made, tones=_two(words))


def _two(words: list[str]) -> str:
    first, last = words[0], words[-1]
    return f"both {first} skin tone" if first == last else f"{first} and {last} skin tones"


def _plain(row: dict[str, Any]) -> Emoji:
    identity = Path(row["image"]).stem
    points = [point for point in identity.split("-") if point != "fe0f"]
    facing_right = points[-2:] == [_JOINER, _RIGHT]
    points = points[:-2] if facing_right else points
    base, gender, hair, value = _composed(points, row["subcategory"])
    name = _words(row["name"] or row["short_name"])
    return Emoji(
        id=identity,
        name=name,
        short=_words(row["short_name"]),
        category=row["category"],
        group=row["subcategory"],
        base=base,
        gender=gender,
        hair=hair,
        facing_right=facing_right,
        value=value,
    )


def _composed(points: list[str], group: str) -> tuple[str, str, str, str]:
    """Return base, gender, hair and value of code points without tone and direction."""
    first, last = points[0], points[-1]
    if len(points) == 1 and first in _values():
        family, value = _values()[first]
        return family, "", "", value
    if len(points) > 2 and last in _SIGNS:
        return "-".join(points[:-2]), _SIGNS[last], "", ""
    if first in _ADULTS and group != "family" and (len(points) < 4 or last not in _ADULTS):
        gender = _ADULTS[first]
        if len(points) == 1 or last in HAIR:
            return f"hair of {gender}", gender, HAIR.get(last, ""), ""
        if len(points) == 3:
            return f"role {last}", gender, "", ""
    return "-".join(points), "", "", ""


@cache
def _values() -> dict[str, tuple[str, str]]:
    """Return code point -> (family, value)."""
    families = {**COLOURS, **PHASES, "clock": HOURS}
    return {point: (family, value) for family, points in families.items() for point, value in points.items()}


def _words(name: str) -> str:
    return re.sub(r"[_\s]+", " ", name.replace("-", " ") if name.islower() else name).strip().lower()
