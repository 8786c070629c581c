"""A split as one file, and its digest.

A bundle is a zip of ``split.json`` (everything made of text) and ``arrays.npz`` (everything made of numbers, without
pickled objects). The digest is taken over the content, not over the zip, so it is the same whoever packed it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import EvaluatorError
from evaluator.types import Breakdown, Gallery, Judgments, Lookalike, Protocol, Split, Subset

FORMAT = 1
_HEADER, _ARRAYS = "split.json", "arrays.npz"
_JUDGMENT_FIELDS = (
    "query",
    "image",
    "positive",
    "negative",
    "target",
    "member",
    "positives_released",
    "negatives_released",
)


_DAMAGED = (EOFError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What reading an unsound archive raises; ``zipfile`` promises no common base."""


def save(split: Split, path: Path) -> None:
    """Write ``split`` to ``path`` as a bundle."""
    arrays = io.BytesIO()
    np.savez(arrays, allow_pickle=False, **_arrays(split))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_HEADER, json.dumps(_header(split), ensure_ascii=False))
        archive.writestr(_ARRAYS, arrays.getvalue())


def load(path: Path) -> Split:
    """Read a bundle. Raises EvaluatorError when the file is no bundle of this format."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(_HEADER))
            packed = io.BytesIO(archive.read(_ARRAYS))
        with np.load(packed, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except OSError as error:
        raise EvaluatorError(f"cannot read {path}: {error.strerror or error}") from error
    except _DAMAGED as error:
        raise EvaluatorError(f"{path} is not a split bundle: {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else None
        raise EvaluatorError(f"{path} is a bundle of format {found}, this evaluator reads {FORMAT}")
    try:
        return _split(header, arrays)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise EvaluatorError(f"{path} is a damaged split bundle: {error!r}") from error


def digest(split: Split) -> str:
    """Return the SHA-256 of a split's content: queries, galleries, judgments, subsets, protocol; not its version."""
    header = _header(split)
    del header["version"]
    whole = hashlib.sha256(json.dumps(header, ensure_ascii=False, sort_keys=True).encode())
    for name, array in sorted(_arrays(split).items()):
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        whole.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
        whole.update(little.tobytes())
    return whole.hexdigest()


def fit_key(split: Split) -> str:
    """Return a key that two splits share exactly when one upload fits both (decision 3): queries, galleries, lists."""
    parts: list[object] = [
        split.query_ids,
        split.images if not any(gallery.is_open for gallery in split.galleries) else (),
        [(gallery.pattern or len(gallery.images)) for gallery in split.galleries],
        split.gallery_of.tolist(),
        split.protocol.remove_reference,
        split.protocol.list_length,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def ranks_key(split: Split) -> str:
    """Return a key that two splits share exactly when the ranks of one are those of the other.

    It covers what a model sees and what is judged: queries, texts, references, images, galleries, judgments. Subsets,
    groups and measures are left out: freezing SF′ and V′ makes no probe stale (decision 36).
    """
    whole = hashlib.sha256()
    parts: list[object] = [
        split.query_ids,
        split.texts,
        split.references,
        split.images,
        [gallery.pattern for gallery in split.galleries],
        split.protocol.remove_reference,
    ]
    whole.update(json.dumps(parts, ensure_ascii=False).encode())
    judged = (split.judgments.query, split.judgments.image, split.judgments.positive, split.judgments.negative)
    for array in (split.gallery_of, *judged, *(gallery.images for gallery in split.galleries)):
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        whole.update(f"{little.dtype.str} {little.shape}\n".encode())
        whole.update(little.tobytes())
    return whole.hexdigest()


def without_truth(split: Split) -> Split:
    """Return a copy for download where the truth is hidden: no judgment but image-set membership."""
    kept = split.judgments.member
    empty = np.zeros(int(kept.sum()), dtype=np.bool_)
    none = np.zeros(len(split), dtype=np.int32)
    judgments = Judgments(
        query=split.judgments.query[kept],
        image=split.judgments.image[kept],
        positive=empty,
        negative=empty,
        target=empty,
        member=split.judgments.member[kept],
        positives_released=none,
        negatives_released=none,
    )
    return replace(split, judgments=judgments, hidden_truth=True)


def _header(split: Split) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "name": split.name,
        "version": split.version,
        "protocol": asdict(split.protocol),
        "query_ids": list(split.query_ids),
        "texts": list(split.texts),
        "references": [list(images) for images in split.references],
        "images": list(split.images),
        "galleries": [{"name": gallery.name, "pattern": gallery.pattern} for gallery in split.galleries],
        "cluster_name": split.cluster_name,
        "absent": {str(subset): reason for subset, reason in split.absent.items()},
        "hidden_truth": split.hidden_truth,
        "query_aliases": dict(split.query_aliases),
        "image_prefix": split.image_prefix,
        "lookalikes": [
            {
                "name": other.name,
                "query_ids": sorted(other.query_ids),
                "images": sorted(other.images),
                "sentence": other.sentence,
            }
            for other in split.lookalikes
        ],
        "licence": split.licence,
        "groups": {dimension: list(values) for dimension, values in split.groups.items()},
    }


def _arrays(split: Split) -> dict[str, np.ndarray[Any, Any]]:
    arrays: dict[str, np.ndarray[Any, Any]] = {"gallery_of": split.gallery_of, "clusters": split.clusters}
    for name in _JUDGMENT_FIELDS:
        arrays[f"judgments.{name}"] = getattr(split.judgments, name)
    for position, gallery in enumerate(split.galleries):
        arrays[f"gallery.{position}"] = gallery.images
    for kind, table in (
        ("subset", split.subsets),
        ("stratum", split.strata),
        ("paraphrase", split.paraphrase_groups),
    ):
        arrays.update({f"{kind}.{subset}": array for subset, array in table.items()})
    for dimension, values in split.groups.items():
        arrays[f"group.{dimension}"] = np.stack(list(values.values())) if values else np.zeros((0, len(split)), bool)
    return arrays


def _split(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> Split:
    def by_subset(kind: str) -> dict[Subset, Any]:
        prefix = f"{kind}."
        found = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        return {subset: found[subset] for subset in Subset if subset in found}

    return Split(
        name=header["name"],
        version=header["version"],
        protocol=protocol_of(header["protocol"]),
        query_ids=tuple(header["query_ids"]),
        texts=tuple(header["texts"]),
        references=tuple(tuple(images) for images in header["references"]),
        images=tuple(header["images"]),
        galleries=tuple(
            Gallery(row["name"], arrays[f"gallery.{position}"], row["pattern"])
            for position, row in enumerate(header["galleries"])
        ),
        gallery_of=arrays["gallery_of"],
        judgments=Judgments(**{name: arrays[f"judgments.{name}"] for name in _JUDGMENT_FIELDS}),
        subsets=by_subset("subset"),
        clusters=arrays["clusters"],
        cluster_name=header["cluster_name"],
        strata=by_subset("stratum"),
        groups={
            dimension: dict(zip(values, arrays[f"group.{dimension}"], strict=True))
            for dimension, values in header["groups"].items()
        },
        paraphrase_groups=by_subset("paraphrase"),
        absent={Subset(name): reason for name, reason in header["absent"].items()},
        hidden_truth=header["hidden_truth"],
        query_aliases=header["query_aliases"],
        image_prefix=header["image_prefix"],
        lookalikes=tuple(
            Lookalike(row["name"], frozenset(row["query_ids"]), frozenset(row["images"]), row["sentence"])
            for row in header["lookalikes"]
        ),
        licence=header["licence"],
    )


def protocol_of(row: Mapping[str, Any]) -> Protocol:
    """Return a protocol from its fields as JSON keeps them (a bundle's header, ``SplitVersion.protocol``)."""
    lists = {
        "first_subset": Subset(row["first_subset"]),
        "subsets": tuple(Subset(name) for name in row["subsets"]),
        "measures": tuple(row["measures"]),
        "joint_measures": tuple(row["joint_measures"]),
        "breakdowns": tuple(
            Breakdown(part["dimension"], tuple(part["measures"]), part["main"]) for part in row["breakdowns"]
        ),
    }
    return Protocol(**{**row, **lists})
