"""The world of the demo: every combination of five attributes once, and some of them a second time with an outline.

A scene shows equal objects: their form, colour, number, size and place. With all 540 combinations in the gallery a
reference has 14 neighbours that differ in one attribute, so neither the reference nor one or two words of a text single
out a target: together they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from demo.chance import pick, shuffled

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "form": ("circle", "square", "triangle", "star", "heart"),
    "colour": ("red", "orange", "yellow", "green", "blue", "purple"),
    "number": ("one", "two", "three"),
    "size": ("small", "large"),
    "place": ("left", "middle", "right"),
    "finish": ("plain", "outlined"),
}
"""Attribute -> its values. Only twins (see :data:`TWINS`) are outlined."""

TONES = ("LIGHTEST", "SECOND_LIGHTEST", "SECOND_DARKEST", "DARKEST")
"""Backgrounds from light to dark, named like the values of PinPoint's skin-tone buckets, for which they stand in."""

TWINS = 40
"""Scenes that are in the gallery twice, the second time with a thin outline and otherwise alike."""

COMPLEMENT = {
    "red": "green",
    "green": "red",
    "orange": "blue",
    "blue": "orange",
    "yellow": "purple",
    "purple": "yellow",
}
"""Colour -> the one opposite on the painter's wheel."""

Edit = Mapping[str, frozenset[str]]
"""Attribute -> the values it may have after the change; one that is not there stays as it is in the reference."""


@dataclass(frozen=True, order=True)
class Scene:
    """What a picture shows. Every field holds one of the values in :data:`ATTRIBUTES`."""

    form: str
    colour: str
    number: str
    size: str
    place: str
    finish: str = "plain"

    def __getitem__(self, attribute: str) -> str:
        return str(getattr(self, attribute))

    def __str__(self) -> str:
        return " ".join(self[attribute] for attribute in ATTRIBUTES)

    @property
    def twin(self) -> Scene:
        """The same scene with the other finish."""
        return replace(self, finish="outlined" if self.finish == "plain" else "plain")

    @property
    def identity(self) -> str:
        """What a scene shares with its twin, and what decides everything about its picture that is not an attribute."""
        return " ".join((self.form, self.colour, self.number, self.size, self.place))

    @property
    def tone(self) -> str:
        """One of :data:`TONES`. It says nothing about the objects."""
        return pick(TONES, "tone", self.identity)

    def after(self, edit: Edit) -> Edit:
        """Return all that ``edit`` asks when this scene is the reference: every attribute's allowed values."""
        return {attribute: edit.get(attribute, frozenset({self[attribute]})) for attribute in ATTRIBUTES}


@cache
def gallery() -> tuple[Scene, ...]:
    """Return all scenes. Their order, which the tie rule reads, has nothing to do with what they show."""
    plain = [Scene(*values) for values in product(*list(ATTRIBUTES.values())[:5])]
    twins = [scene.twin for scene in shuffled(plain, "twins")[:TWINS]]
    return tuple(shuffled([*plain, *twins], "gallery"))


@cache
def image_ids() -> tuple[str, ...]:
    """Return the image id of every scene of :func:`gallery`, in the same (byte) order."""
    return tuple(f"scene-{number:04d}" for number in range(1, len(gallery()) + 1))


@cache
def position(scene: Scene) -> int:
    """Return the index of ``scene`` in :func:`gallery`. Raises ValueError where it is not in it."""
    return gallery().index(scene)


def answers(wanted: Edit) -> tuple[int, ...]:
    """Return the gallery indices of all scenes whose every attribute has a value that ``wanted`` allows there."""
    return tuple(index for index, scene in enumerate(gallery()) if misses(scene, wanted) == 0)


def misses(scene: Scene, wanted: Edit) -> int:
    """Return in how many attributes ``scene`` has a value that ``wanted`` does not allow."""
    return sum(scene[attribute] not in values for attribute, values in wanted.items())


def others(attribute: str, value: str) -> frozenset[str]:
    """Return all values of ``attribute`` but ``value``."""
    return frozenset(ATTRIBUTES[attribute]) - {value}
