"""What an encoder is asked for, and what goes in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evaluator.encoders.problems import EncoderError
from evaluator.types import Condition, Similarity, VectorArray

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Picture:
    """One image of a gallery or query, opened only where an encoder wants pixels.

    A ``black`` picture stands for the one at ``path`` in the text-only condition: it has that one's size and nothing
    else of it. Its ``id`` is empty, so that an encoder that knows images by id sees as little as one that looks.
    """

    id: str
    path: Path | None = None
    black: bool = False

    def open(self) -> Image:
        """Return it as RGB, in the orientation its pixels are stored in, as the published audit reads it.

        Raises EncoderError where the file is missing or no picture.
        """
        from PIL import Image, UnidentifiedImageError

        if self.path is None:
            raise EncoderError("picture-missing", self.id)
        try:
            with Image.open(self.path) as opened:
                return Image.new("RGB", opened.size) if self.black else opened.convert("RGB")
        except FileNotFoundError as error:
            raise EncoderError("picture-missing", self.path.name) from error
        except (OSError, UnidentifiedImageError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise EncoderError("picture-damaged", f"{self.path.name}: {error}") from error


@dataclass(frozen=True)
class Query:
    """One query as an encoder gets it, already under its condition (:mod:`evaluator.encoders.conditions`)."""

    id: str
    pictures: tuple[Picture, ...]
    text: str
    instruction: str = ""
    """The split's instruction prefix; empty in the image-only condition, as the text is."""

    @property
    def prompt(self) -> str:
        """Instruction and text as the published audit joins them: one line each."""
        return "\n".join(part for part in (self.instruction, self.text) if part)


@dataclass(frozen=True)
class Card:
    """What pages say of an encoder. Everything that decides its vectors is in here or in its spec."""

    name: str
    family: str
    model: str
    """Name of the weights, as their publisher writes it."""
    revision: str
    """The exact state of the weights: a commit, a release, a digest."""
    conditions: Mapping[Condition, str]
    """How each condition is built for this encoder, in a sentence (decision 37)."""
    licence: str = ""
    dimension: int | None = None
    similarity: Similarity = Similarity.COSINE
    training: str = ""
    """How it was trained, where the reader must know it; empty for published weights."""


class Encoder(Protocol):
    """A loaded model. Vectors are float32; row i belongs to input i. It may be asked in any order and any batch."""

    @property
    def card(self) -> Card:
        """What it is."""

    @property
    def batch(self) -> int:
        """How many pictures, or queries, it takes at once."""

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return the vectors (b, d) of images of the gallery. Raises EncoderError."""

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return the vectors (b, d) of queries that are already under ``condition``. Raises EncoderError."""

    def close(self) -> None:
        """Give up memory, connections and files."""
