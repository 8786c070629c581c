"""Code points and words of the families that queries go through."""

from __future__ import annotations

from collections.abc import Mapping

TONES: Mapping[str, str] = {
    "1f3fb": "light",
    "1f3fc": "medium-light",
    "1f3fd": "medium",
    "1f3fe": "medium-dark",
    "1f3ff": "dark",
}
"""Unicode's five modifiers for skin."""

HAIR: Mapping[str, str] = {"1f9b0": "red hair", "1f9b1": "curly hair", "1f9b2": "a bald head", "1f9b3": "white hair"}

COLOURS: Mapping[str, Mapping[str, str]] = {
    "heart": {
        "2764": "red",
        "1fa77": "pink",
        "1f9e1": "orange",
        "1f49b": "yellow",
        "1f49a": "green",
        "1f499": "blue",
        "1fa75": "light blue",
        "1f49c": "purple",
        "1f90e": "brown",
        "1f5a4": "black",
        "1fa76": "grey",
        "1f90d": "white",
    },
    "circle": {
        "1f534": "red",
        "1f7e0": "orange",
        "1f7e1": "yellow",
        "1f7e2": "green",
        "1f535": "blue",
        "1f7e3": "purple",
        "1f7e4": "brown",
        "26ab": "black",
        "26aa": "white",
    },
    "square": {
        "1f7e5": "red",
        "1f7e7": "orange",
        "1f7e8": "yellow",
        "1f7e9": "green",
        "1f7e6": "blue",
        "1f7ea": "purple",
        "1f7eb": "brown",
        "2b1b": "black",
        "2b1c": "white",
    },
    "book": {"1f4d5": "red", "1f4d7": "green", "1f4d8": "blue", "1f4d9": "orange"},
}
"""Family -> code point -> colour."""

PHASES: Mapping[str, Mapping[str, str]] = {
    "moon": {
        "1f311": "new moon",
        "1f312": "waxing crescent",
        "1f313": "first quarter",
        "1f314": "waxing gibbous",
        "1f315": "full moon",
        "1f316": "waning gibbous",
        "1f317": "last quarter",
        "1f318": "waning crescent",
    },
}
"""Family -> code point -> phase, in the order of a month."""

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
HOURS: Mapping[str, str] = {
    **{f"{0x1F550 + hour:x}": f"{name} o'clock" for hour, name in enumerate(_NUMBERS)},
    **{f"{0x1F55C + hour:x}": f"half past {name}" for hour, name in enumerate(_NUMBERS)},
}
"""Code point of a clock's face -> the time it shows."""
