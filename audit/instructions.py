"""The instruction prefix that queries of a split are given: data, printed on the page of every audit.

From CIRCUS's released generator (retrieval/generate_retrieval_data.py at 067e7277) and the ``full_text`` of its audit
files. On CIRCO the release holds two: the audit's, which is CIRR's, and another one in ``eval_subset_circo.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """What stands before the text, on a line of its own."""

    text: str
    source: str


_CIRR = "Retrieve a day-to-day image that aligns with the modification instructions of the provided image."
_NONE = Instruction("", "The queries of this split are used without a prefix.")

INSTRUCTIONS: Mapping[str, Instruction] = {
    "circus-cirr": Instruction(_CIRR, "The audit of CIRCUS."),
    "circus-fashioniq": Instruction(
        "Find a fashion image that aligns with the reference image and style note.", "The audit of CIRCUS."
    ),
    "circus-lasco": Instruction("", "CIRCUS's released LaSCo queries have none."),
    "circus-circo": Instruction(
        _CIRR,
        "The audit of CIRCUS. Its evaluation script for CIRCO has another one: “Retrieve an image that matches the "
        "reference image under the described change.”",
    ),
}


def of(slug: str) -> Instruction:
    """Return the prefix of a split; none where nobody published one."""
    return INSTRUCTIONS.get(slug, _NONE)
