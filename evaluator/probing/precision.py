"""Whether a model may compute in less than float32: only where the ranks of a sample stay what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np

from evaluator.encoders import Encoder, EncoderError
from evaluator.probing.job import Job
from evaluator.probing.lock import writing
from evaluator.probing.ranking import rank_conditions
from evaluator.probing.shards import check, replace_file
from evaluator.types import Condition, Gallery, IndexArray, Judgments, Similarity, Split, VectorArray

FULL = "float32"
QUERIES = 128
"""Queries of the sample, each under all three conditions."""
PICTURES = 512
"""Pictures of the sample: the positives of its queries, and others out of the whole gallery."""
_FILE = "precision.json"

Open = Callable[[str], Encoder]
"""Load the encoder in a dtype. Raises EncoderError."""


@dataclass(frozen=True)
class Verdict:
    """What the sample showed."""

    asked: str
    used: str
    queries: int
    pictures: int
    compared: int
    """Ranks of judged pictures within the sample, under three conditions."""
    changed: int

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        sample = f"{self.queries:,} queries and {self.pictures:,} pictures"
        found = f"{self.changed:,} of {self.compared:,} ranks within a sample of {sample} change in {self.asked}"
        return (
            f"{found}: computing in {self.used}" if self.changed else found.replace(f"{self.changed:,} of", "none of")
        )


@dataclass(frozen=True, eq=False)
class Sample:
    """A part of a split that is small enough to be encoded twice."""

    split: Split
    queries: IndexArray
    """Positions of its queries in the whole split."""
    images: IndexArray
    """Indices of its pictures in the whole split, ascending."""


def known(job: Job) -> Verdict | None:
    """Return what was found before for this job's dtype; None where nothing was, or the file is damaged."""
    try:
        return Verdict(**json.loads((job.place / _FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def settle(job: Job, opened: Open) -> tuple[Encoder, Verdict | None]:
    """Return the encoder in the job's dtype, or in float32 where that would change a rank; and why.

    The first time, a dtype other than float32 costs two more loadings and the sample twice. Raises EncoderError.
    """
    if job.dtype == FULL:
        return opened(FULL), None
    verdict = known(job)
    if verdict is not None:
        return opened(verdict.used), verdict
    sample = sample_of(job)
    exact = _closing(opened(FULL), job, sample)
    encoder = opened(job.dtype)
    try:
        changed = _changed(exact, _ranked(encoder, job, sample))
    except EncoderError as error:
        if error.code != "vectors-not-finite":
            encoder.close()
            raise
        changed = sum(len(ranks) for ranks in exact)
    used = FULL if changed else job.dtype
    total = sum(len(ranks) for ranks in exact)
    verdict = Verdict(job.dtype, used, len(sample.queries), len(sample.images), total, changed)
    with writing(job.place):
        job.place.mkdir(parents=True, exist_ok=True)
        replace_file(job.place / _FILE, json.dumps(asdict(verdict)).encode())
    if not changed:
        return encoder, verdict
    encoder.close()
    return opened(FULL), verdict


def sample_of(job: Job) -> Sample:
    """Return the sample: queries evenly spaced while their positives fill at most half of the pictures."""
    split, judged = job.split, job.split.judgments
    queries: list[int] = []
    images: set[int] = set()
    for query in _spaced(np.arange(len(split)), QUERIES).tolist():
        mine = judged.image[(judged.query == query) & judged.positive].tolist()
        if queries and len(images.union(mine)) > PICTURES // 2:
            break
        queries.append(query)
        images.update(mine)
    images.update(_spaced(job.rows, max(PICTURES - len(images), 0)).tolist())
    chosen = np.array(sorted(images.intersection(job.rows.tolist())), dtype=np.intp)
    return Sample(_part(split, np.array(queries), chosen), np.array(queries, dtype=np.intp), chosen)


def _part(split: Split, queries: IndexArray, images: IndexArray) -> Split:
    """Return the split of some queries over some images."""
    judged = split.judgments
    kept = np.flatnonzero(np.isin(judged.query, queries) & np.isin(judged.image, images) & judged.positive)
    none = np.zeros(len(queries), dtype=np.int32)
    place = {int(image): spot for spot, image in enumerate(images)}
    return replace(
        split,
        query_ids=tuple(split.query_ids[query] for query in queries),
        texts=tuple(split.texts[query] for query in queries),
        references=tuple(tuple(place[i] for i in split.references[query] if i in place) for query in queries),
        images=tuple(split.images[image] for image in images),
        galleries=tuple(
            Gallery(gallery.name, np.flatnonzero(np.isin(images, gallery.images)).astype(np.int32))
            for gallery in split.galleries
        ),
        gallery_of=split.gallery_of[queries],
        judgments=Judgments(
            query=np.searchsorted(queries, judged.query[kept]).astype(np.int32),
            image=np.searchsorted(images, judged.image[kept]).astype(np.int32),
            positive=judged.positive[kept],
            negative=judged.negative[kept],
            target=judged.target[kept],
            member=np.zeros(len(kept), dtype=np.bool_),
            positives_released=none,
            negatives_released=none,
        ),
    )


def _closing(encoder: Encoder, job: Job, sample: Sample) -> list[IndexArray]:
    try:
        return _ranked(encoder, job, sample)
    finally:
        encoder.close()


def _ranked(encoder: Encoder, job: Job, sample: Sample) -> list[IndexArray]:
    """Return the ranks within the sample under each condition."""
    pictures = [job.pictures.picture(image) for image in sample.images.tolist()]
    zero = encoder.card.similarity != Similarity.COSINE

    def batches(count: int, encode: Callable[[slice], VectorArray], what: str) -> VectorArray:
        size = max(1, encoder.batch)
        parts = [slice(start, min(start + size, count)) for start in range(0, count, size)]
        found = [check(encode(part), part.stop - part.start, 0, what=what, zero=zero) for part in parts]
        return np.concatenate(found)

    gallery = batches(len(pictures), lambda part: encoder.encode_images(pictures[part]), "sample of the gallery")
    queries = {}
    for condition in Condition:
        asked = [job.query(query, condition) for query in sample.queries.tolist()]
        queries[condition] = batches(
            len(asked),
            lambda part, asked=asked, condition=condition: encoder.encode_queries(asked[part], condition),  # type: ignore[misc]
            f"sample, {condition}",
        )
    ranks = rank_conditions(gallery, queries, sample.split, encoder.card.similarity)
    return [ranks[condition].rank.astype(np.intp) for condition in Condition]


def _changed(exact: list[IndexArray], other: list[IndexArray]) -> int:
    return sum(int((one != two).sum()) for one, two in zip(exact, other, strict=True))


def _spaced(values: IndexArray, count: int) -> IndexArray:
    """Return at most ``count`` of ``values``, evenly spaced."""
    spots = np.linspace(0, len(values) - 1, min(count, len(values))).astype(np.intp)
    return np.asarray(values[np.unique(spots)])
