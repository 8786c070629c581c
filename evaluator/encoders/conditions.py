"""The three conditions of the audit, exactly as decision 37 has them (CIRCUS, section 3; its released generator).

* multimodal: reference pictures, instruction, text;
* text-only: a black RGB picture of each reference's size in its place; instruction and text stay;
* image-only: reference pictures; the text is empty, and the instruction is left out.
"""

from __future__ import annotations

from dataclasses import replace

from evaluator.encoders.base import Query
from evaluator.types import Condition

USUAL = {
    Condition.MULTIMODAL: "reference picture, instruction and text",
    Condition.TEXT_ONLY: "a black RGB picture of the reference's size, instruction and text",
    Condition.IMAGE_ONLY: "reference picture, empty text, no instruction",
}
"""How the conditions are built for an encoder that takes a picture beside an empty text."""


def under(query: Query, condition: Condition) -> Query:
    """Return ``query``, given in full, as it is under ``condition``."""
    if condition is Condition.TEXT_ONLY:
        return replace(query, pictures=tuple(replace(shown, id="", black=True) for shown in query.pictures))
    if condition is Condition.IMAGE_ONLY:
        return replace(query, text="", instruction="")
    return query
