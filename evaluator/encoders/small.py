"""The encoder that runs by default: two frozen networks that come as packages, and two small heads trained on the spot.

No encoder with a joint space for pictures and texts can be had as a package, so one is made in a minute, for one kind
of picture at a time. It is a real encoder, it sees pixels and reads words; but it is small and in-domain, no CLIP, and
its card says so.

``python -m evaluator.encoders.small train --pairs FOLDER --out FOLDER`` trains heads on the pictures of a folder.
``pairs.json`` in it is a list of pairs: a picture's name in the folder, and a caption. Then the spec of an encoder is
``{"family": "small", "name": …, "model": the folder of heads, "revision": what training printed}``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluator.encoders.base import Card, Picture, Query
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import Opening
from evaluator.encoders.shaping import check_options
from evaluator.encoders.small_heads import finished, load
from evaluator.encoders.small_towers import LICENCE, PICTURES, TEXTS, Towers
from evaluator.encoders.small_training import SIDE, Pair, Progress, Recipe, train
from evaluator.encoders.spec import Spec
from evaluator.types import Condition, VectorArray

__all__ = ["CONDITIONS", "PAIRS", "Pair", "Progress", "Recipe", "SmallEncoder", "open_family", "train"]

PAIRS = "pairs.json"

_SUM = "the sum of both unit vectors"
CONDITIONS = {
    Condition.MULTIMODAL: f"reference picture, instruction and text; {_SUM}",
    Condition.TEXT_ONLY: (
        "a black RGB picture of the reference's size, instruction and text; the black picture is encoded as any other, "
        "but features count from a black picture's, so that it adds nothing to the text's vector"
    ),
    Condition.IMAGE_ONLY: (
        "reference picture, empty text, no instruction; the empty text is encoded as any other, but features count "
        "from the empty text's, so that it adds nothing to the picture's vector"
    ),
}
"""How each condition is built (decision 37)."""


def open_family(spec: Spec, opening: Opening) -> SmallEncoder:
    """Load heads and networks. Raises EncoderError."""
    check_options(spec, ())
    return SmallEncoder(spec, opening)


class SmallEncoder:
    """Two frozen networks and two linear heads into one space. Vectors are compared by their cosine."""

    def __init__(self, spec: Spec, opening: Opening) -> None:
        folder = (opening.folder or Path()) / spec.model
        self._heads = load(folder, spec.revision)
        self._towers = Towers(opening, self._heads.training.side)
        self._card = Card(
            name=spec.name,
            family=spec.family,
            model=f"{PICTURES} and {TEXTS} with heads {folder.name}",
            revision=self._heads.revision,
            conditions=CONDITIONS,
            licence=spec.licence or LICENCE,
            dimension=self._heads.dimension,
            training=self._heads.training.sentence(),
        )

    @property
    def card(self) -> Card:
        """What it is."""
        return self._card

    @property
    def batch(self) -> int:
        """How many inputs it takes at once; fewer once memory ran out."""
        return self._towers.picture_batches.size

    def encode_images(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return unit vectors (b, d) of pictures. Raises EncoderError."""
        return finished(self._seen(pictures))

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> VectorArray:
        """Return unit vectors (b, d) of queries: the mean of the pictures' vectors plus the text's.

        Nothing depends on ``condition``: a black picture and an empty text are encoded like any other.
        Raises EncoderError.
        """
        total = self._heads.texts(self._towers.read([query.prompt for query in queries]))
        owners = [number for number, query in enumerate(queries) for _ in query.pictures]
        if owners:
            seen = self._seen([picture for query in queries for picture in query.pictures])
            counts = np.bincount(owners, minlength=len(queries)).astype(np.float32)
            np.add.at(total, owners, seen / counts[owners][:, None])
        return finished(total)

    def close(self) -> None:
        """Give up the networks' memory."""
        self._towers.close()

    def _seen(self, pictures: Sequence[Picture]) -> VectorArray:
        return self._heads.pictures(self._towers.see(pictures))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m evaluator.encoders.small", description=__doc__)
    command = parser.add_subparsers(required=True).add_parser("train", help="train heads")
    command.add_argument("--pairs", type=Path, required=True, help=f"folder of pictures, with {PAIRS}")
    command.add_argument("--out", type=Path, required=True, help="where to write the heads")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--side", type=int, default=SIDE, help="pictures are brought to this many pixels square")
    command.add_argument("--subject", default="", help="what the pictures show, for the encoder's card")
    given = parser.parse_args(arguments)
    try:
        rows = json.loads((given.pairs / PAIRS).read_text(encoding="utf-8"))
        pairs = [(given.pairs / name, str(caption)) for name, caption in rows]
        revision = train(pairs, given.out, seed=given.seed, side=given.side, subject=given.subject, progress=_show)
    except (EncoderError, OSError, ValueError, TypeError) as error:
        sys.stderr.write(f"Training failed. {error}\n")
        return 3
    sys.stdout.write(f"{revision}\n")
    return 0


def _show(what: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{what} {done}/{total}{'' if done < total else chr(10)}")


if __name__ == "__main__":
    sys.exit(main())
