"""Vectors computed elsewhere, read from files: one of the gallery, one of the queries under each condition.

Formats are those of vectors on the site (``docs/formats.md``): ``.npz``, ``.npy``, ``.safetensors``, Parquet, with ids.
Images are found by their id, queries by theirs; a condition without a file cannot be built. Options:

``gallery``      path of the gallery's vectors, from the spec's own folder; or ``{"vectors": path, "ids": path}``
``queries``      condition (``multimodal``, ``text-only``, ``image-only``) -> path, or such an object
``conditions``   condition -> how it was built, in words for the page; decision 37's are assumed
``similarity``   ``cosine`` (default) or ``inner product``

``model`` names what computed them. ``revision`` is the digest of all files, and checked, where it is 64 hexadecimal
digits; anything else is a label that nothing vouches for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.digests import digest_of_file
from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.conditions import USUAL
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options, choice
from evaluator.encoders.spec import Spec
from evaluator.formats.ids import id_text
from evaluator.formats.source import UnreadableError
from evaluator.types import Condition, Similarity, VectorArray
from evaluator.vectors import VectorFile, VectorLimits
from evaluator.vectors.source import Matrix
from evaluator.vectors.tables import read_table

_DIGEST = re.compile(r"[0-9a-fA-F]{64}\Z")
_BATCH = 1024


def open_family(spec: Spec, opening: Opening) -> FilesEncoder:
    """Find the files, and check their digest. Raises EncoderError."""
    check_options(spec, ("gallery", "queries", "conditions", "similarity"))
    return FilesEncoder(spec, opening)


@dataclass(frozen=True)
class _Table:
    """The vectors of one file, and the row of each id."""

    name: str
    matrix: Matrix
    row: Mapping[str, int]

    def take(self, ids: Sequence[str]) -> VectorArray:
        missing = [wanted for wanted in ids if wanted not in self.row]
        if missing:
            shown = ", ".join(repr(wanted) for wanted in missing[:3])
            raise EncoderError("vectors-missing", f"{self.name} has none for {shown}, of {len(missing)} looked for")
        return np.asarray(self.matrix[[self.row[wanted] for wanted in ids]], dtype=np.float32)


class FilesEncoder:
    """An encoder that looks up what another program computed."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        start = opening.folder or Path()
        gallery = _file(start, "gallery", spec.option("gallery", None, str, dict))
        queries = _by_condition(spec, "queries")
        files = {condition: _file(start, condition, value) for condition, value in queries.items()}
        if not files:
            raise EncoderError("spec", "option queries must name a file for one condition at least")
        revision = _checked(spec.revision, [gallery, *(files[key] for key in sorted(files))])
        self._images = _read(gallery)
        self._queries = {condition: _read(file) for condition, file in files.items()}
        for table in self._queries.values():
            _check_width(table, self._images)
        self._batch = opening.batch or _BATCH
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=spec.model,
            revision=revision,
            conditions=_words(spec, files),
            licence=spec.licence,
            dimension=self._images.matrix.shape[1],
            similarity=Similarity(choice(spec, "similarity", "cosine", tuple(Similarity))),
        )

    @property
    def card(self) -> Card:
        """What it is."""
        return self._card

    @property
    def batch(self) -> int:
        """How many rows it takes at once."""
        return self._batch

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return the vectors (b, d) of images, as they are in the file. Raises EncoderError."""
        return self._images.take([picture.id for picture in pictures])

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return the vectors (b, d) of queries under ``condition``. Raises EncoderError."""
        if condition not in self._queries:
            raise EncoderError("condition", f"no file holds queries that are {condition}")
        return self._queries[condition].take([query.id for query in queries])

    def close(self) -> None:
        """Let go of the files."""
        self._queries = {}


def files_digest(files: Sequence[VectorFile]) -> str:
    """Return SHA-256 over the digests of files in their order, a list of ids after its vectors. Raises OSError."""
    paths = [path for file in files for path in (file.path, file.ids) if path is not None]
    return hashlib.sha256("".join(f"{digest_of_file(path)}\n" for path in paths).encode()).hexdigest()


def _file(start: Path, name: str, value: Any) -> VectorFile:
    row = {"vectors": value} if isinstance(value, str) else value
    if not isinstance(row, dict) or not row.keys() <= {"vectors", "ids"} or not isinstance(row.get("vectors"), str):
        raise EncoderError("spec", f"{name} must be a path, or an object of vectors and ids")
    ids = row.get("ids")
    if not isinstance(ids, str | None):
        raise EncoderError("spec", f"ids of {name} must be a path")
    return VectorFile(start / row["vectors"], start / ids if ids else None)


def _by_condition(spec: Spec, name: str) -> dict[Condition, Any]:
    option = spec.option(name, {}, dict)
    unknown = sorted(option.keys() - set(Condition))
    if unknown:
        raise EncoderError("spec", f"option {name} has {', '.join(unknown)}; conditions are {', '.join(Condition)}")
    return {Condition(key): value for key, value in option.items()}


def _checked(revision: str, files: Sequence[VectorFile]) -> str:
    """Return the revision; where it is a digest it must be the files'. Raises EncoderError."""
    if not _DIGEST.match(revision):
        return revision
    try:
        found = files_digest(files)
    except OSError as error:
        raise _unreadable(error) from error
    if found != revision.lower():
        raise EncoderError("wrong-revision", f"{revision}: the digest of the files is {found}")
    return found


def _read(file: VectorFile) -> _Table:
    try:
        table = read_table(file.path, file.ids, VectorLimits())
    except OSError as error:
        raise _unreadable(error) from error
    except MemoryError as error:
        raise EncoderError("out-of-memory", file.path.name) from error
    except UnreadableError as error:
        facts = ", ".join(part for part in (error.place, error.facts["found"], error.facts["expected"]) if part)
        raise EncoderError("vectors-file", f"{file.path.name}: {error.code}, {facts}") from error
    return _Table(file.path.name, table.matrix, _rows(file.path.name, table.ids, len(table.matrix)))


def _rows(name: str, ids: Sequence[object] | None, count: int) -> dict[str, int]:
    if ids is None or len(ids) != count:
        raise EncoderError("vectors-file", f"{name}: {'no' if ids is None else len(ids)} ids for {count} vectors")
    rows: dict[str, int] = {}
    for at, value in enumerate(ids):
        text = id_text(value)
        if text is None or text in rows:
            raise EncoderError("vectors-file", f"{name}: {'no id' if text is None else f'{text!r} again'} on row {at}")
        rows[text] = at
    return rows


def _check_width(queries: _Table, gallery: _Table) -> None:
    found, wanted = queries.matrix.shape[1], gallery.matrix.shape[1]
    if found != wanted:
        raise EncoderError("vectors-shape", f"{found} coordinates in {queries.name}, {wanted} in {gallery.name}")


def _words(spec: Spec, files: Mapping[Condition, VectorFile]) -> dict[Condition, str]:
    told = _by_condition(spec, "conditions")
    if not all(isinstance(words, str) for words in told.values()):
        raise EncoderError("spec", "option conditions must have a text for each condition")
    given = {condition: told.get(condition, f"{USUAL[condition]}, computed elsewhere") for condition in files}
    return {condition: given.get(condition, "not available: there is no file") for condition in Condition}


def _unreadable(error: OSError) -> EncoderError:
    name = Path(str(error.filename)).name if error.filename else "a file"
    return EncoderError("vectors-file", f"{name}: {error.strerror or error}")
