"""One encoder on one split: where its vectors, its ranks and its record lie, and under which keys.

``state/vectors/ENCODER-DTYPE/gallery-PICTURES`` and ``…/CONDITION-QUERIES`` hold shards; ``state/jobs/JOB`` holds
``job.json`` and ``ranks/CONDITION.npz``. A key covers all that decides what lies under it, so nothing is ever stale: a
changed picture, text, option or weight is another key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.bundle import ranks_key
from evaluator.digests import digest_of_file
from evaluator.encoders import EncoderError, Query, Spec
from evaluator.encoders.conditions import under
from evaluator.errors import EvaluatorError
from evaluator.probing.lock import writing
from evaluator.probing.pictures import Pictures
from evaluator.probing.shards import Shards, replace_file
from evaluator.store import load_run, save_run
from evaluator.types import Condition, IndexArray, JudgedRanks, Split

SHARD = 256
"""Inputs of a shard: what a killed process loses at most."""
_FORMAT = 1
_KEY = 20
"""Hexadecimal digits of a key in a path."""


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be probed. ``folder`` is where the spec's relative paths start from, as in ``Opening``."""

    spec: Spec
    split: Split
    pictures: Pictures
    state: Path
    instruction: str = ""
    dtype: str = "float32"
    shard: int = SHARD
    folder: Path | None = None

    def __post_init__(self) -> None:
        if any(gallery.is_open for gallery in self.split.galleries):
            raise EvaluatorError(f"the gallery of {self.split.name} is open: an audit needs the whole gallery")
        if self.split.hidden_truth or not len(self.split.judgments):
            raise EvaluatorError(f"the truth of {self.split.name} is hidden: an audit needs to know the positives")

    @cached_property
    def rows(self) -> IndexArray:
        """The images that are in a gallery, ascending: only they are encoded."""
        return np.unique(np.concatenate([gallery.images for gallery in self.split.galleries])).astype(np.intp)

    @property
    def inputs(self) -> int:
        """How many pictures and queries its probes encode, each query once for each condition."""
        return len(self.rows) + len(Condition) * len(self.split)

    @cached_property
    def _encoder(self) -> str:
        return _key(self.spec.fingerprint, *_named_files(self.spec.options, self.folder or Path()))

    @cached_property
    def _gallery(self) -> str:
        return self.pictures.digest(self.rows.tolist())

    @cached_property
    def _queries(self) -> str:
        """What the queries show and say, and what of it is judged over which gallery."""
        shown = sorted({image for images in self.split.references for image in images})
        return _key(ranks_key(self.split), self.pictures.digest(shown))

    @cached_property
    def key(self) -> str:
        """Equal for two jobs exactly when they have the same ranks."""
        return _key(self._encoder, self.dtype, self._gallery, self._queries, self.instruction)

    @property
    def place(self) -> Path:
        """The folder of the record and the ranks."""
        return self.state / "jobs" / self.key

    def gallery_shards(self) -> Shards:
        """Return the gallery's vectors: every split with these pictures has the same."""
        return Shards(self._vectors / f"gallery-{_key(self._gallery)}", len(self.rows), self.shard)

    def query_shards(self, condition: Condition) -> Shards:
        """Return the queries' vectors under one condition; without an instruction where it shows none."""
        instruction = "" if condition is Condition.IMAGE_ONLY else self.instruction
        folder = self._vectors / f"{condition}-{_key(self._queries, instruction)}"
        return Shards(folder, len(self.split), self.shard)

    @property
    def _vectors(self) -> Path:
        return self.state / "vectors" / f"{self._encoder}-{self.dtype}"

    def query(self, position: int, condition: Condition) -> Query:
        """Return one query as it is under a condition."""
        split = self.split
        shown = tuple(self.pictures.picture(image) for image in split.references[position])
        whole = Query(split.query_ids[position], shown, split.texts[position], self.instruction)
        return under(whole, condition)

    def record(self) -> dict[str, Any] | None:
        """Return what ``job.json`` says; None where there is none, or a damaged one."""
        try:
            row = json.loads((self.place / "job.json").read_bytes())
        except (OSError, ValueError):
            return None
        return row if isinstance(row, dict) and row.get("format") == _FORMAT else None

    def write_record(self, **facts: Any) -> None:
        """Write ``job.json``: what is probed, and these facts. Raises EncoderError."""
        split = {"name": self.split.name, "version": self.split.version, "ranks_key": ranks_key(self.split)}
        row = {
            "format": _FORMAT,
            "spec": self.spec.as_dict(),
            "split": split,
            "instruction": self.instruction,
            "dtype": self.dtype,
            **facts,
        }
        with writing(self.place):
            self.place.mkdir(parents=True, exist_ok=True)
            replace_file(self.place / "job.json", json.dumps(row, indent=1).encode())

    def ranks_path(self, condition: Condition) -> Path:
        return self.place / "ranks" / f"{condition}.npz"

    def save_ranks(self, ranks: Mapping[Condition, JudgedRanks]) -> None:
        """Keep the ranks. Raises EncoderError where the disk does not take them."""
        with writing(self.place):
            (self.place / "ranks").mkdir(parents=True, exist_ok=True)
            for condition, found in ranks.items():
                save_run(found, self.ranks_path(condition))

    def ranks(self) -> dict[Condition, JudgedRanks] | None:
        """Return the ranks of a finished job; None where any is missing or damaged: it is ranked again."""
        record = self.record()
        if record is None or not record.get("finished"):
            return None
        found = {}
        for condition in Condition:
            try:
                run = load_run(self.ranks_path(condition))
            except EvaluatorError:
                return None
            if not isinstance(run, JudgedRanks) or run.rank.shape != (len(self.split.judgments),):
                return None
            found[condition] = run
        return found


def _key(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_KEY]


def _named_files(value: Any, folder: Path) -> Iterator[str]:
    """Yield the digest of each file that an option names: vectors that were computed anew are other vectors."""
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _named_files(value[name], folder)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _named_files(part, folder)
    elif isinstance(value, str) and value:
        try:
            path = folder / value
            if path.is_file():
                yield digest_of_file(path)
        except (OSError, ValueError) as error:
            if isinstance(error, PermissionError):
                raise EncoderError("spec", f"{value}: {error.strerror}") from error
