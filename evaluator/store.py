"""A checked run as one ``.npz`` file without pickled objects: what validation leaves for scoring."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.types import JudgedPairs, JudgedRanks, Ranking, Run

_HEADER = "header"
Arrays = dict[str, np.ndarray[Any, Any]]


def save_run(run: Run, path: Path) -> None:
    """Write ``run`` to ``path``, whatever the ending of its name. The file appears whole or not at all."""
    header, arrays = _packed(run)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_HEADER: text}, **arrays)
    part.replace(path)


def load_run(path: Path) -> Run:
    """Read what :func:`save_run` wrote. Raises EvaluatorError when the file is no such run."""
    try:
        with np.load(path, allow_pickle=False) as opened:
            arrays: Arrays = {name: opened[name] for name in opened.files}
        return _unpacked(json.loads(arrays[_HEADER].tobytes()), arrays)
    except (OSError, EOFError, LookupError, ValueError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise EvaluatorError(f"{path} is not a stored run: {error}") from error


def _packed(run: Run) -> tuple[dict[str, Any], Arrays]:
    if isinstance(run, Ranking):
        arrays = {"images": run.images, "length": run.length}
        optional = {"members": run.members}
        header: dict[str, Any] = {"kind": "ranking", "unknown": run.unknown, "format": run.format}
    else:
        arrays = {"rank": run.rank, "depth": run.depth}
        pairs = run.pairs and {"query": run.pairs.query, "image": run.pairs.image}
        optional = {"member_rank": run.member_rank, **(pairs or {})}
        header = {"kind": "judged ranks", "complete": run.complete, "format": run.format}
    return header, arrays | {name: array for name, array in optional.items() if array is not None}


def _unpacked(header: dict[str, Any], arrays: Arrays) -> Run:
    if header["kind"] == "ranking":
        unknown = tuple(header["unknown"])
        return Ranking(arrays["images"], arrays["length"], unknown, arrays.get("members"), header["format"])
    pairs = JudgedPairs(arrays["query"], arrays["image"]) if "query" in arrays else None
    rank, depth, members = arrays["rank"], arrays["depth"], arrays.get("member_rank")
    return JudgedRanks(rank, depth, header["complete"], members, pairs, header.get("format", ""))
