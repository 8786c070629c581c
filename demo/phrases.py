"""How the demo's queries put a change into words."""

from __future__ import annotations

from demo.chance import pick
from demo.scenes import Scene

WHERE = {"left": "on the left", "middle": "in the middle", "right": "on the right"}
TOWARDS = {"left": "to the left", "middle": "to the middle", "right": "to the right"}
FINISH = {"plain": "without an outline", "outlined": "with an outline"}


def noun(form: str, number: str) -> str:
    """Return ``form`` in the singular or, for more than one, the plural."""
    return form if number == "one" else f"{form}s"


def some(form: str, number: str) -> str:
    """Return ``form`` as the object of a sentence: ``a heart``, ``hearts``."""
    return f"a {form}" if number == "one" else noun(form, number)


def describe(scene: Scene, *, finish: bool = False) -> str:
    """Name all that a scene shows: ``two large green stars on the right``; the finish only where it is asked for."""
    words = f"{scene.number} {scene.size} {scene.colour} {noun(scene.form, scene.number)} {WHERE[scene.place]}"
    return f"{words}, {FINISH[scene.finish]}" if finish else words


def phrase(templates: tuple[str, ...], key: object, **words: str) -> str:
    """Fill in the one of ``templates`` that ``key`` determines, and begin with a capital."""
    return sentence(pick(templates, "phrase", key, *templates).format(**words))


def sentence(text: str) -> str:
    """Return ``text`` with its first letter capital and the rest as it is."""
    return text[:1].upper() + text[1:]
