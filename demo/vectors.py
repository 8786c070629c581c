"""The demo's method that is sent as vectors: what ``histogram+words`` sees, laid out so that a cosine compares it.

Its files are in three formats on purpose: ``.npz``, ``.safetensors``, and ``.npy`` with a list of ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from demo.baselines import Pictures
from demo.features import Features, read
from evaluator.types import Condition, Split

METHOD = "features+words (embeddings)"
_WEIGHTS = {"hue": 1.0, "stripe": 1.0, "area": 0.2, "roughness": 0.3}
_USUAL = {"hue": 0.0, "stripe": 0.0, "area": -4.0, "roughness": 3.0}
"""What is taken from each block, so that a cosine does not see its size alone."""
_ALWAYS = 0.1
"""A last coordinate that every vector has: a black picture without a text says nothing, and is no zero vector."""
_DECIMALS = 5
"""A last bit must not make another file on another machine."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class VectorFile:
    """One file of the method; ``field`` is what submissions call it, ``file`` is relative to the folder."""

    split: str
    method: str
    field: str
    file: str


def gallery_vectors(pictures: Pictures) -> Matrix:
    """Return one vector (G, d) for each picture of the gallery."""
    return _laid_out(pictures.features)[: pictures.black]


def query_vectors(split: Split, condition: Condition, pictures: Pictures) -> Matrix:
    """Return one vector (n, d) for each query: the references' features, overridden by what the words say."""
    black = ((pictures.black,),) * len(split)
    references = black if condition is Condition.TEXT_ONLY else split.references
    texts = ("",) * len(split) if condition is Condition.IMAGE_ONLY else split.texts
    return _laid_out(pictures.features.averaged(references).overridden_by(read(texts)))


def write_vectors(folder: Path, split: Split, pictures: Pictures) -> Iterator[VectorFile]:
    """Write the vectors of a split below ``folder``/vectors; yield what is there."""
    queries = {condition: query_vectors(split, condition, pictures) for condition in Condition}
    names = {field: f"vectors/{split.name}.{name}" for field, name in _NAMES.items()}
    _write_npz(folder / names["gallery"], gallery_vectors(pictures), split.images)
    _write_safetensors(folder / names["multimodal"], queries[Condition.MULTIMODAL], split.query_ids)
    np.save(folder / names["text_only"], queries[Condition.TEXT_ONLY])
    (folder / names["text_only_ids"]).write_text("\n".join(split.query_ids), encoding="utf-8")
    _write_npz(folder / names["image_only"], queries[Condition.IMAGE_ONLY], split.query_ids)
    yield from (VectorFile(split.name, METHOD, field, name) for field, name in names.items())


_NAMES = {
    "gallery": "gallery.npz",
    "multimodal": "multimodal.safetensors",
    "text_only": "text-only.npy",
    "text_only_ids": "text-only.ids.txt",
    "image_only": "image-only.npz",
}


def _laid_out(features: Features) -> Matrix:
    blocks = [_WEIGHTS[name] * np.nan_to_num(block - _USUAL[name]) for name, block in features.blocks().items()]
    always = np.full((len(blocks[0]), 1), _ALWAYS)
    return np.round(np.hstack([*blocks, always]), _DECIMALS).astype(np.float32)


def _write_npz(path: Path, vectors: Matrix, ids: tuple[str, ...]) -> None:
    np.savez(path, allow_pickle=False, vectors=vectors, ids=np.array(ids))


def _write_safetensors(path: Path, vectors: Matrix, ids: tuple[str, ...]) -> None:
    raw = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    tensor = {"dtype": "F32", "shape": list(vectors.shape), "data_offsets": [0, len(raw)]}
    header = json.dumps({"__metadata__": {"ids": json.dumps(ids)}, "vectors": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + raw)
