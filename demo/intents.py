"""What the base queries of ``demo-pinpoint`` ask for, each in six phrasings.

Every kind leaves something free (where the objects stand, how large they are), so that several answers are right. The
finish is always free: whether a shape has an outline was never asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from demo.chance import pick
from demo.phrases import WHERE, noun, sentence, some
from demo.scenes import ATTRIBUTES, COMPLEMENT, Edit, Scene, others

WORDINGS = 6


@dataclass(frozen=True)
class Request:
    """One base query's meaning and its phrasings, apart from the reference images."""

    category: str
    """One of PinPoint's six kinds of intent."""
    edit: Edit
    phrasings: tuple[str, ...]


Asker = Callable[[Scene, Scene], Request]
"""Makes a request from the first and the second reference; most look at the first only."""


def _request(category: str, edit: Edit, free: tuple[str, ...], phrasings: tuple[str, ...]) -> Request:
    anything = {attribute: frozenset(ATTRIBUTES[attribute]) for attribute in (*free, "finish")}
    return Request(category, {**anything, **edit}, tuple(sentence(phrasing) for phrasing in phrasings))


def _other(attribute: str, scene: Scene) -> str:
    return pick(sorted(others(attribute, scene[attribute])), "request", attribute, scene)


def swap_colour(first: Scene, _: Scene) -> Request:
    """Another colour, at any place."""
    old, new = first.colour, _other("colour", first)
    phrasings = (
        f"swap the colour for {new}, wherever it stands",
        f"the same thing in {new}, any place",
        f"Can I see this in {new}? The position does not matter.",
        f"{new} instead of {old}, anywhere in the picture",
        f"turn it {new} and put it where you like",
        f"same shape, size and number, but {new}, at any position",
    )
    return _request("Swap", {"colour": frozenset({new})}, ("place",), phrasings)


def swap_form(first: Scene, _: Scene) -> Request:
    """Another form, in any size."""
    old, new = noun(first.form, first.number), some(_other("form", first), first.number)
    phrasings = (
        f"swap the {old} for {new}, small or large",
        f"{new} in this colour, at this place, any size",
        f"What would it look like with {new}? Size is up to you.",
        f"put {new} where the {old} stood, big or little",
        f"same colour, same spot, same count, but {new}",
        f"replace by {new} of whatever size",
    )
    return _request("Swap", {"form": frozenset({_other("form", first)})}, ("size",), phrasings)


def fit_place(first: Scene, _: Scene) -> Request:
    """The same at another place, in any number."""
    where = WHERE[_other("place", first)]
    phrasings = (
        f"something like this that fits {where}, as many as you want",
        f"a version for a page with room {where}",
        f"I have space {where}: show the same shape there, in any number",
        f"same shape, size and colour {where}, the count is free",
        f"what could stand {where} to match this?",
        f"one or several of these {where}",
    )
    return _request("Context Fit", {"place": frozenset({_other("place", first)})}, ("number",), phrasings)


def fit_size(first: Scene, _: Scene) -> Request:
    """The other size, at any place."""
    new = _other("size", first)
    phrasings = (
        f"a {new} version that fits on any side",
        f"the {new} kind of this, left, right or in between",
        f"I need it {new}; the place is free",
        f"show this {new}, somewhere in the picture",
        f"same, but {new}, and it may move sideways",
        f"is there a {new} one, no matter where?",
    )
    return _request("Context Fit", {"size": frozenset({new})}, ("place",), phrasings)


def negate_colour(first: Scene, _: Scene) -> Request:
    """Any colour but this, in any size."""
    old = first.colour
    phrasings = (
        f"anything but {old}, small or large",
        f"this without the {old}, in whatever size",
        f"please no {old}; the size is free",
        f"any colour except {old}, big or little",
        f"not {old}, otherwise alike, size aside",
        f"the same picture in any size, only never in {old}",
    )
    return _request("Negation", {"colour": others("colour", old)}, ("size",), phrasings)


def negate_form(first: Scene, _: Scene) -> Request:
    """Any form but this."""
    old = noun(first.form, "two")
    phrasings = (
        f"no {old} please, the rest as it is",
        f"everything but {old}",
        f"other shapes than {old}, same colour and place",
        f"keep colour, count and place, avoid {old}",
        f"I am tired of {old}: what else is there like this?",
        f"the same without any {old}",
    )
    return _request("Negation", {"form": others("form", first.form)}, (), phrasings)


def complement(first: Scene, _: Scene) -> Request:
    """The colour opposite, at any place."""
    phrasings = (
        "the counterpart in the complementary colour, anywhere",
        "what goes with this: the opposite hue, any position",
        "a companion in the colour across the wheel",
        "complementary colour, same shape, wherever it stands",
        "pair this with its contrast colour",
        "the match for this in its opposite colour, place is free",
    )
    return _request("Complement", {"colour": frozenset({COMPLEMENT[first.colour]})}, ("place",), phrasings)


def explore_number(first: Scene, _: Scene) -> Request:
    """Another number, in any size."""
    phrasings = (
        "more ideas like this with another count, small or large",
        "show me the same in other numbers, any size",
        "how else could these be grouped? Size is up to you.",
        "variations on the quantity and the size",
        "fewer or more of these",
        "the same shape and colour in a different number",
    )
    return _request("Explore", {"number": others("number", first.number)}, ("size",), phrasings)


def colour_of_second(_: Scene, second: Scene) -> Request:
    """Form and number of the first, colour of the second."""
    phrasings = (
        "the shape of the first in the colour of the second, at any place and size",
        "<img1> recoloured like <img2>, small or large, wherever it stands",
        "take the colour from <img2>, shape and number from <img1>; the rest is free",
        "Can the first have the second's colour? Any place, any size.",
        "the first image's shapes, painted as in the second",
        "paint <img1> with the colour of <img2>",
    )
    return _request("Composition", {"colour": frozenset({second.colour})}, ("place", "size"), phrasings)


def place_of_second(_: Scene, second: Scene) -> Request:
    """Form and colour of the first, place of the second."""
    phrasings = (
        "the first, standing where the second does, in any number and size",
        "put <img1> at the place of <img2>, once or several times, small or large",
        "<img1> moved to the position in <img2>; count and size are free",
        "shape and colour of the first image at the spot of the second",
        "same place as <img2>, but the kind that <img1> shows",
        "Where the second stands, show the first, big or little, few or many.",
    )
    return _request("Composition", {"place": frozenset({second.place})}, ("number", "size"), phrasings)


def number_of_second(_: Scene, second: Scene) -> Request:
    """Form and colour of the first, number of the second."""
    phrasings = (
        "the first, as many times as in the second, at any place and size",
        "<img1> in the number of <img2>",
        "as many as in <img2>, of the kind in <img1>; position and size are free",
        "count the second, draw the first",
        "take the quantity from <img2>, the shape and the colour from <img1>",
        "The second says how many, the first says of what.",
    )
    return _request("Composition", {"number": frozenset({second.number})}, ("place", "size"), phrasings)


SINGLE: Mapping[Asker, int] = {
    swap_colour: 6,
    swap_form: 5,
    fit_place: 4,
    fit_size: 3,
    negate_colour: 3,
    negate_form: 2,
    complement: 2,
    explore_number: 2,
}
"""Asker -> how many base queries with one reference it makes."""

DOUBLE: Mapping[Asker, tuple[str, int]] = {
    colour_of_second: ("colour", 3),
    place_of_second: ("place", 3),
    number_of_second: ("number", 3),
}
"""Asker -> what the second reference is looked at for, and how many base queries with two references it makes."""
