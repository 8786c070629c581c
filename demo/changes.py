"""The changes that ``demo-circus`` asks for: each turns a reference into a text and the edit that the text means.

A maker returns None where its change does not suit the reference, for example mirroring what stands in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from demo.chance import pick
from demo.phrases import TOWARDS, WHERE, describe, noun, phrase, some
from demo.scenes import ATTRIBUTES, COMPLEMENT, Edit, Scene, others

Maker = Callable[[Scene], tuple[str, Edit] | None]


def _other(attribute: str, scene: Scene) -> str:
    """Return a value of ``attribute`` that ``scene`` does not have."""
    return pick(sorted(others(attribute, scene[attribute])), "other", attribute, scene)


def _changed(scene: Scene, *attributes: str) -> Scene:
    """Return a plain scene that has another value in each of ``attributes``."""
    values = {attribute: scene[attribute] for attribute in ATTRIBUTES}
    return Scene(**{**values, "finish": "plain", **{name: _other(name, scene) for name in attributes}})


def _only(**values: str) -> Edit:
    return {attribute: frozenset({value}) for attribute, value in values.items()}


# The text names all of the target, or so much of it that the reference is not needed.


def whole_description(scene: Scene) -> tuple[str, Edit]:
    """Name form, colour, number, size and place of a quite different scene."""
    goal = _changed(scene, "form", "colour", "number", "place")
    templates = ("instead, {goal}.", "show me {goal}.", "I would rather have {goal}.", "no, {goal}, please.")
    named = {name: goal[name] for name in ("form", "colour", "number", "size", "place")}
    return phrase(templates, scene, goal=describe(goal)), _only(**named)


def three_words(scene: Scene) -> tuple[str, Edit]:
    """Name number, colour and form, which leave at most ten scenes, twins included."""
    goal = _changed(scene, "form", "colour", "number")
    templates = ("{goal} instead.", "put {goal} there.", "replace with {goal}, same size.")
    goal_words = f"{goal.number} {goal.colour} {noun(goal.form, goal.number)}"
    return phrase(templates, scene, goal=goal_words), _only(form=goal.form, colour=goal.colour, number=goal.number)


# The target is the reference's twin: nearly the same picture.


def finish(scene: Scene) -> tuple[str, Edit]:
    """Add or take away the outline."""
    templates = ("give it a thin outline.", "the same with an outline.", "add an outline around the shape.")
    if scene.finish == "outlined":
        templates = ("without the outline.", "remove the outline.", "the same without an outline.")
    return phrase(templates, scene), _only(finish=scene.twin.finish)


def finish_described(scene: Scene) -> tuple[str, Edit]:
    """Name everything that the reference's twin shows."""
    goal = scene.twin
    templates = ("{goal}.", "show {goal}.", "I want {goal}.")
    return phrase(templates, scene, goal=describe(goal, finish=True)), _only(
        **{name: goal[name] for name in ATTRIBUTES}
    )


# One needs both: what changes is in the text, what stays in the reference.


def colour(scene: Scene) -> tuple[str, Edit]:
    """Ask for another colour."""
    goal = _other("colour", scene)
    templates = ("make it {goal}.", "the same in {goal}.", "like this, but {goal}.", "paint it {goal}.")
    return phrase(templates, scene, goal=goal), _only(colour=goal)


def form(scene: Scene) -> tuple[str, Edit]:
    """Ask for another form."""
    goal = _other("form", scene)
    templates = ("{goal} instead.", "the same, but with {goal}.", "keep all else, show {goal}.")
    return phrase(templates, scene, goal=some(goal, scene.number)), _only(form=goal)


def number(scene: Scene) -> tuple[str, Edit]:
    """Ask for another number."""
    goal = _other("number", scene)
    templates: tuple[str, ...] = ("the same, but {goal} of them.", "make it {goal}.", "{goal} of this kind.")
    if goal == "one":
        templates = ("the same, but only one of them.", "just one of these.")
    return phrase(templates, scene, goal=goal), _only(number=goal)


def place(scene: Scene) -> tuple[str, Edit]:
    """Ask for another place."""
    goal = _other("place", scene)
    templates = ("move it {towards}.", "the same, {where}.", "shift everything {towards}.")
    return phrase(templates, scene, towards=TOWARDS[goal], where=WHERE[goal]), _only(place=goal)


def size(scene: Scene) -> tuple[str, Edit]:
    """Ask for the other size."""
    goal = _other("size", scene)
    return phrase(("make it {goal}.", "the same, but {goal}.", "a {goal} version of this."), scene, goal=goal), _only(
        size=goal
    )


def colour_and_place(scene: Scene) -> tuple[str, Edit]:
    """Ask for another colour at another place."""
    goal = _changed(scene, "colour", "place")
    templates = ("make it {colour} and move it {towards}.", "in {colour}, {where}.")
    words = {"colour": goal.colour, "towards": TOWARDS[goal.place], "where": WHERE[goal.place]}
    return phrase(templates, scene, **words), _only(colour=goal.colour, place=goal.place)


def number_and_form(scene: Scene) -> tuple[str, Edit]:
    """Ask for another form in another number."""
    goal = _changed(scene, "number", "form")
    templates = ("{goal} instead.", "{goal} in the same colour.")
    return phrase(templates, scene, goal=f"{goal.number} {noun(goal.form, goal.number)}"), _only(
        number=goal.number, form=goal.form
    )


def not_colour(scene: Scene) -> tuple[str, Edit]:
    """Rule out the colour of the reference."""
    templates = ("anything but {old}, otherwise the same.", "the same, but not {old}.")
    return phrase(templates, scene, old=scene.colour), {"colour": others("colour", scene.colour)}


def not_place(scene: Scene) -> tuple[str, Edit]:
    """Rule out the place of the reference."""
    templates = ("the same, but not {where}.", "anywhere but {where}.")
    return phrase(templates, scene, where=WHERE[scene.place]), {"place": others("place", scene.place)}


def not_form(scene: Scene) -> tuple[str, Edit]:
    """Rule out the form of the reference."""
    templates = ("anything but {old}, the rest as it is.", "the same, but not {old}.")
    return phrase(templates, scene, old=some(scene.form, scene.number)), {"form": others("form", scene.form)}


def colour_anywhere(scene: Scene) -> tuple[str, Edit]:
    """Ask for another colour and set the place free."""
    goal = _other("colour", scene)
    templates = ("the same in {goal}, no matter where.", "like this, but {goal}; the position is free.")
    return phrase(templates, scene, goal=goal), {"colour": frozenset({goal}), "place": frozenset(ATTRIBUTES["place"])}


# The text names no value at all: it takes more than reading words and looking.


def mirrored(scene: Scene) -> tuple[str, Edit] | None:
    """Ask for left and right exchanged."""
    if scene.place == "middle":
        return None
    templates = ("as if seen in a mirror.", "flip the picture horizontally.", "move it to the opposite side.")
    return phrase(templates, scene), _only(place="right" if scene.place == "left" else "left")


def another(scene: Scene) -> tuple[str, Edit] | None:
    """Ask for one object more."""
    if scene.number == "three":
        return None
    return phrase(("add another of the same.", "with an extra piece."), scene), _only(
        number="two" if scene.number == "one" else "three"
    )


def fewer(scene: Scene) -> tuple[str, Edit] | None:
    """Ask for one object less."""
    if scene.number == "one":
        return None
    return phrase(("take a single piece away.", "the last of them has gone."), scene), _only(
        number="two" if scene.number == "three" else "one"
    )


def complement(scene: Scene) -> tuple[str, Edit]:
    """Ask for the colour opposite."""
    return phrase(("in the complementary colour.", "with the opposite hue."), scene), _only(
        colour=COMPLEMENT[scene.colour]
    )


TEXT: Mapping[Maker, int] = {whole_description: 24, three_words: 12}
IMAGE: Mapping[Maker, int] = {finish: 24}
BOTH: Mapping[Maker, int] = {finish_described: 12}
COMPOSITION: Mapping[Maker, int] = {
    colour: 8,
    form: 7,
    number: 7,
    place: 6,
    size: 4,
    colour_and_place: 6,
    number_and_form: 6,
    not_colour: 4,
    not_place: 4,
    not_form: 4,
    colour_anywhere: 4,
}
UNRESOLVED: Mapping[Maker, int] = {mirrored: 5, another: 4, fewer: 4, complement: 5}
"""Maker -> how many queries of ``demo-circus`` it makes; 150 in all."""
