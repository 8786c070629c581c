"""Small steps that several families share: options checked by name, unit length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.encoders.problems import EncoderError
from evaluator.encoders.spec import Spec
from evaluator.types import VectorArray


def check_options(spec: Spec, known: Sequence[str]) -> None:
    """Refuse an option that the family does not know: a typing error would change nothing, unseen."""
    unknown = sorted(spec.options.keys() - set(known))
    if unknown:
        raise EncoderError("spec", f"unknown option {', '.join(unknown)}; {spec.family} has {', '.join(known)}")


def choice(spec: Spec, name: str, default: str, choices: Sequence[str]) -> str:
    """Return an option that is one of a few words. Raises EncoderError."""
    value = str(spec.option(name, default, str))
    if value not in choices:
        raise EncoderError("spec", f"option {name} is {value}: choose one of {', '.join(choices)}")
    return value


def share(spec: Spec, name: str, default: float) -> float:
    """Return an option between 0 and 1. Raises EncoderError."""
    value = float(spec.option(name, default, int, float))
    if not 0 <= value <= 1:
        raise EncoderError("spec", f"option {name} must be from 0 to 1, not {value}")
    return value


def count(spec: Spec, name: str, default: int, least: int = 0) -> int:
    """Return an option that is a whole number, at least ``least``. Raises EncoderError."""
    value = int(spec.option(name, default, int))
    if value < least:
        raise EncoderError("spec", f"option {name} must be at least {least}, not {value}")
    return value


def unit(rows: VectorArray) -> VectorArray:
    """Return rows (b, d) at length 1; a row of zeros stays one, and is refused where vectors are checked."""
    rows = rows.astype(np.float32, copy=False)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=-1, keepdims=True)
    found: VectorArray = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return found


def shortened(rows: VectorArray, dimension: int) -> VectorArray:
    """Return the first ``dimension`` coordinates at length 1, all of them for 0. Raises EncoderError."""
    if dimension > rows.shape[-1]:
        raise EncoderError("spec", f"option dimension is {dimension}, and vectors have {rows.shape[-1]}")
    return unit(rows[..., :dimension] if dimension else rows)
