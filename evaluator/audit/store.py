"""A frozen pool as one ``.npz`` file without pickled objects: best ranks, supports, names (decision 39)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.audit.labels import FrozenPool, Member
from evaluator.errors import EvaluatorError
from evaluator.types import Condition, IntArray

_HEADER, _KIND = "header", "frozen pool"
Arrays = dict[str, np.ndarray[Any, Any]]


def save_frozen(member: Member, path: Path) -> None:
    """Write a frozen pool to ``path``. The file appears whole or not at all.

    Raises EvaluatorError for a member that is one model, not a frozen pool.
    """
    if member.frozen is None:
        raise EvaluatorError(f"{member.name} is one model: its judged ranks are stored, not its best ranks")
    header, arrays = _packed(member.name, member.ranks, member.frozen)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_HEADER: text}, **arrays)
    part.replace(path)


def load_frozen(path: Path) -> Member:
    """Read what :func:`save_frozen` wrote. Raises EvaluatorError when the file is no such pool."""
    try:
        with np.load(path, allow_pickle=False) as opened:
            arrays: Arrays = {name: opened[name] for name in opened.files}
        return _unpacked(json.loads(arrays[_HEADER].tobytes()), arrays)
    except (OSError, EOFError, LookupError, ValueError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise EvaluatorError(f"{path} is not a stored frozen pool: {error}") from error


def _packed(name: str, ranks: Mapping[Condition, IntArray], frozen: FrozenPool) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays; best models are stored as numbers of their names."""
    names = sorted({best for each in frozen.best.values() for best in each})
    number = {best: position for position, best in enumerate(names)}
    arrays: Arrays = {"either": frozen.either}
    for condition in Condition:
        arrays[f"rank.{condition}"] = ranks[condition]
        arrays[f"support.{condition}"] = frozen.support[condition]
        arrays[f"best.{condition}"] = np.array([number[best] for best in frozen.best[condition]], dtype=np.int32)
    return {"kind": _KIND, "name": name, "models": frozen.models, "k": frozen.k, "best": names}, arrays


def _unpacked(header: Mapping[str, Any], arrays: Arrays) -> Member:
    if header["kind"] != _KIND:
        raise ValueError(f"it holds {header['kind']}")
    frozen = FrozenPool(
        models=int(header["models"]),
        k=int(header["k"]),
        support={condition: arrays[f"support.{condition}"] for condition in Condition},
        either=arrays["either"],
        best={condition: _named(arrays[f"best.{condition}"], header["best"]) for condition in Condition},
    )
    ranks = {condition: arrays[f"rank.{condition}"] for condition in Condition}
    if {array.shape for name, array in arrays.items() if name != _HEADER} != {frozen.either.shape}:
        raise ValueError("its arrays are not parallel")
    return Member(str(header["name"]), ranks, frozen)


def _named(numbers: IntArray, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[number] for number in numbers.tolist())
