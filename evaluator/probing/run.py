"""The three probes of one encoder: encode what is not there, rank, keep."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.encoders import Encoder, EncoderError, Picture, Spec
from evaluator.probing.job import SHARD, Job
from evaluator.probing.lock import held
from evaluator.probing.pace import GALLERY, Pace, Told
from evaluator.probing.pictures import Pictures
from evaluator.probing.ranking import rank_conditions
from evaluator.probing.shards import Shards, check
from evaluator.types import Condition, JudgedRanks, Similarity, Split, VectorArray

Encode = Callable[[slice], VectorArray]


def probe(  # noqa: PLR0913 everything that decides a probe
    encoder: Encoder,
    spec: Spec,
    split: Split,
    pictures: Pictures,
    *,
    state: Path,
    instruction: str = "",
    shard: int = SHARD,
    progress: Told | None = None,
    dtype: str = "float32",
    folder: Path | None = None,
) -> dict[Condition, JudgedRanks]:
    """Return the ranks of every judged image of ``split`` under all three conditions.

    ``encoder`` is what ``spec`` opened, computing in ``dtype``, with ``folder`` as in ``Opening``. What it encodes is
    kept below ``state``, ``shard`` inputs at a time; a second call, after whatever ended the first, encodes only shards
    that are not finished, and of a gallery that another split has too, none. ``progress`` is called after each batch.
    Raises EncoderError, EvaluatorError where the split cannot be audited.
    """
    job = Job(spec, split, pictures, state, instruction, dtype, shard, folder)
    with held(state):
        return run(encoder, job, progress)


def run(
    encoder: Encoder,
    job: Job,
    progress: Told | None = None,
    facts: dict[str, Any] | None = None,
    encoded: Callable[[], object] = lambda: None,
) -> dict[Condition, JudgedRanks]:
    """Do ``job``; the caller holds its state. ``facts`` go into its record. Raises EncoderError.

    ``encoded`` is called once all vectors are there: whoever owns the encoder may free its memory for the ranking.
    """
    if (finished := job.ranks()) is not None:
        return finished
    facts = {"card": describe(encoder), **(facts or {})}
    job.write_record(finished=False, **facts)
    pace = Pace(job.inputs, progress)
    gallery, queries = _encoded(encoder, job, pace)
    similarity = encoder.card.similarity
    encoded()
    began = time.monotonic()
    ranks = rank_conditions(
        gallery.matrix(job.rows, len(job.split.images)),
        {condition: shards.matrix() for condition, shards in queries.items()},
        job.split,
        similarity,
        pace.ranked,
    )
    job.save_ranks(ranks)
    seconds = sum(shards.seconds for shards in (gallery, *queries.values())) + time.monotonic() - began
    job.write_record(finished=True, seconds=round(seconds, 3), dimension=gallery.dimension, **facts)
    return ranks


def describe(encoder: Encoder) -> dict[str, Any]:
    """Return an encoder's card as JSON keeps it."""
    card = encoder.card
    return {
        "name": card.name,
        "family": card.family,
        "model": card.model,
        "revision": card.revision,
        "licence": card.licence,
        "dimension": card.dimension,
        "similarity": str(card.similarity),
        "conditions": {str(condition): told for condition, told in card.conditions.items()},
        "training": card.training,
    }


def _encoded(encoder: Encoder, job: Job, pace: Pace) -> tuple[Shards, dict[Condition, Shards]]:
    """Encode what is missing and return the shards, all of them there."""
    gallery = job.gallery_shards()
    queries = {condition: job.query_shards(condition) for condition in Condition}
    pace.found(GALLERY, gallery.done + sum(shards.done for shards in queries.values()))
    pace.start()
    known = encoder.card.dimension or 0
    filler = _Filler(encoder, pace)
    filler.fill(GALLERY, gallery, known, lambda part: encoder.encode_images(_pictures(job, part)))
    for condition, shards in queries.items():
        filler.fill(condition, shards, gallery.dimension, _encode_queries(encoder, job, condition))
    return gallery, queries


def _pictures(job: Job, part: slice) -> list[Picture]:
    return [job.pictures.picture(image) for image in job.rows[part].tolist()]


def _encode_queries(encoder: Encoder, job: Job, condition: Condition) -> Encode:
    def encode(part: slice) -> VectorArray:
        queries = [job.query(position, condition) for position in range(part.start, part.stop)]
        return encoder.encode_queries(queries, condition)

    return encode


class _Filler:
    """Fills shards, batch by batch."""

    def __init__(self, encoder: Encoder, pace: Pace) -> None:
        self._batch = max(1, encoder.batch)
        self._zero = encoder.card.similarity != Similarity.COSINE
        self._pace = pace

    def fill(self, phase: str, shards: Shards, dimension: int, encode: Encode) -> None:
        """Encode every missing shard. ``dimension`` is 0 where it is not known before."""
        if dimension and shards.dimension not in (0, dimension):
            raise EncoderError("vectors-shape", f"{phase}: dimension {shards.dimension} instead of {dimension}")
        for part in list(shards.missing()):
            began = time.monotonic()
            vectors: list[VectorArray] = []
            for start in range(part.start, part.stop, self._batch):
                some = slice(start, min(start + self._batch, part.stop))
                found = encode(some)
                known = dimension or shards.dimension or (vectors[0].shape[1] if vectors else 0)
                what = f"{phase}, inputs {some.start} to {some.stop - 1}"
                vectors.append(check(found, some.stop - some.start, known, what=what, zero=self._zero))
                self._pace.encoded(phase, some.stop - some.start)
            shards.save(part, np.concatenate(vectors), time.monotonic() - began)
