"""How a number is written for people, on the board as on the command line.

Order and arithmetic always use the full precision (public report A17).
"""

from __future__ import annotations

import math

from evaluator.measures.base import Unit
from evaluator.measures.registry import describe

PERCENT_DECIMALS = 2
NUMBER_DECIMALS = 3


def cell(measure: str, value: float) -> str:
    """Return ``55.16`` for a ``value`` of 0.5516 of a measure in percent, ``4.836`` for a ratio.

    Raises ValueError for a value that is not finite and for a measure that does not exist.
    """
    if not math.isfinite(value):
        raise ValueError(f"{measure} is {value}: nothing that is not finite is ever shown")
    percent = describe(measure).unit is Unit.PERCENT
    rounded = round(100 * value if percent else value, PERCENT_DECIMALS if percent else NUMBER_DECIMALS)
    return f"{rounded + 0.0:.{PERCENT_DECIMALS if percent else NUMBER_DECIMALS}f}"  # + 0.0: no "-0.00"


def interval(measure: str, low: float | None, high: float | None) -> str:
    """Return ``54.20–56.11``, below zero ``-2.67 to 4.47``; empty without one. Raises ValueError like :func:`cell`."""
    if low is None or high is None:
        return ""
    between = " to " if low < 0 else "–"  # a dash beside a minus sign reads as neither
    return f"{cell(measure, low)}{between}{cell(measure, high)}"
