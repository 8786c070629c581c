"""What training leaves behind: two linear heads, and how they came about.

They lie in a folder as ``heads.npz`` and ``card.json``. The revision is a digest of all that decides vectors: the
heads, the picture size, and the weights they sit on.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.encoders.problems import EncoderError
from evaluator.encoders.small_towers import DIGESTS, PICTURE_BLOCKS, TEXT_BLOCKS
from evaluator.types import VectorArray

HEADS, CARD = "heads.npz", "card.json"
_ALWAYS = 0.001
"""A last coordinate that every vector has: what says nothing, such as a black picture, is no zero vector."""
_LEAST = 0.01
"""Share of the usual length below which a vector is not brought to length 1: rounding is not made a direction."""


@dataclass(frozen=True)
class Training:
    """How heads were trained."""

    pictures: int
    pairs: int
    """Of a picture and a caption; a picture may have several."""
    pairs_digest: str
    """SHA-256 over all pictures' bytes and their captions."""
    side: int
    """Pictures were this many pixels square, and still have to be."""
    epochs: int
    seed: int
    seconds: float
    subject: str = ""
    """What the pictures show, in words for the card."""

    def sentence(self) -> str:
        """Say it as a page does."""
        subject = f" of {self.subject}" if self.subject else ""
        return (
            "Small encoder, not CLIP: two linear heads on frozen EfficientNet-Lite0 and all-MiniLM-L6-v2, trained "
            f"contrastively on {self.pictures:,} pictures{subject} with {self.pairs:,} captions in {self.seconds:.0f} "
            f"seconds ({self.epochs} epochs, seed {self.seed}). In-domain: it knows no other kind of picture. Features "
            "are the last layer's mean and a grid of four by four cells for pictures, and the means of the last layer "
            "and of the word embeddings for texts."
        )


@dataclass(frozen=True, eq=False)
class Heads:
    """Two matrices from features to one space of d dimensions."""

    picture: VectorArray  # (3072, d)
    text: VectorArray  # (768, d)
    usual: VectorArray  # (2,) median length of what the heads gave in training, pictures and texts
    training: Training

    def pictures(self, features: VectorArray) -> VectorArray:
        """Return the vectors (b, d) of pictures' features, at length 1; a black picture's is about zero."""
        return _brought(features @ self.picture, float(self.usual[0]))

    def texts(self, features: VectorArray) -> VectorArray:
        """Return the vectors (b, d) of texts' features, at length 1; the empty text's is about zero."""
        return _brought(features @ self.text, float(self.usual[1]))

    @property
    def dimension(self) -> int:
        """Of the encoder's vectors."""
        return int(self.picture.shape[1]) + 1

    @property
    def revision(self) -> str:
        """SHA-256 over all that decides vectors."""
        digest = hashlib.sha256(json.dumps([DIGESTS, self.training.side]).encode())
        for array in (self.picture, self.text, self.usual):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<f4").tobytes())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write them into ``folder``. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / HEADS, allow_pickle=False, picture=self.picture, text=self.text, usual=self.usual)
        card = {"revision": self.revision, **asdict(self.training)}
        (folder / CARD).write_text(json.dumps(card, indent=1), encoding="utf-8")


def finished(rows: VectorArray) -> VectorArray:
    """Return rows (b, d) with the coordinate that all vectors have, at length 1."""
    longer = np.hstack([rows, np.full((len(rows), 1), _ALWAYS, dtype=np.float32)])
    found: VectorArray = (longer / np.linalg.norm(longer, axis=1, keepdims=True)).astype(np.float32)
    return found


def load(folder: Path, revision: str) -> Heads:
    """Read heads, which must be in the state ``revision``. Raises EncoderError."""
    name = folder.name
    if not (folder / HEADS).is_file() or not (folder / CARD).is_file():
        raise EncoderError("weights-missing", f"{name} holds no {HEADS} and {CARD}: train the heads first")
    try:
        with np.load(folder / HEADS, allow_pickle=False) as arrays:
            picture, text, usual = (np.asarray(arrays[key], np.float32) for key in ("picture", "text", "usual"))
        row: dict[str, Any] = json.loads((folder / CARD).read_text(encoding="utf-8"))
        row.pop("revision")
        heads = Heads(picture, text, usual, Training(**row))
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise EncoderError("weights-damaged", f"{name}: {error}") from error
    width = picture.shape[1:]
    if (picture.shape, text.shape) != ((sum(PICTURE_BLOCKS), *width), (sum(TEXT_BLOCKS), *width)) or len(width) != 1:
        raise EncoderError("weights-other", f"{name}: heads of shapes {picture.shape} and {text.shape}")
    if heads.revision != revision.lower().removeprefix("sha256:"):
        raise EncoderError("wrong-revision", f"{revision}: the digest of the heads in {name} is {heads.revision}")
    return heads


def _brought(rows: VectorArray, usual: float) -> VectorArray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: VectorArray = (rows / np.maximum(lengths, max(_LEAST * usual, 1e-12))).astype(np.float32)
    return found
