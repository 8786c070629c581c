"""Ranks vectors over the whole gallery, in a child of the worker: judged ranks, and the nearest images for panels.

The child may use torch and a GPU; the worker never does, so that it can fork. What came out is stored before anything
is scored: another attempt, and another board that judges the same images, take it from there.
"""

from __future__ import annotations

import json
import logging
import shutil
import signal
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage

from evaluator.errors import EvaluatorError
from evaluator.ranks import candidates, covers
from evaluator.search import judged_ranks, top_k
from evaluator.search.devices import cores, open_kernels
from evaluator.store import load_run, save_run
from evaluator.types import Condition, Embeddings, IntArray, JudgedPairs, JudgedRanks, Ranking, Split
from submissions import sandbox
from submissions.models import Evaluation, Run, Submission
from submissions.services.failures import LeaseKeeper
from submissions.services.leftovers import reading_folder
from submissions.services.vectors import Sent, largest_copy, removed_on

log = logging.getLogger(__name__)

NEAREST = 50
"""Images of each query that are kept once the vectors are gone (decision 26)."""
_SMALLER = 4
"""By what a block shrinks where memory did not suffice."""
_LEAST_BLOCK = 64
_PROGRESS = "progress.json"
_OUT_OF_MEMORY = ("not enough memory", "out of memory", "can't allocate memory", "cannot allocate memory")


class MemoryRanOutError(EvaluatorError):
    """Ours: memory did not suffice, with a smaller block neither."""


class VectorsGone(Exception):  # noqa: N818 (a verdict)
    """The vectors were deleted, and no ranks that were kept cover what is judged now. Says so in words."""


def ranks_file(evaluation: Evaluation, condition: Condition) -> str:
    """Return the name under which the ranks of an evaluation are stored.

    The submission's public id is in it: keys may come again, where a database was made anew beside an old storage, and
    ranks of other vectors would be taken for these.
    """
    return f"ranks/{evaluation.submission.public_id}/{evaluation.pk}-{condition}.npz"


def ranks_of(
    evaluation: Evaluation, split: Split, attempt: int, keeper: LeaseKeeper
) -> tuple[dict[Condition, JudgedRanks], dict[Condition, str]]:
    """Return the ranks of every run of a submission of vectors, and the files they are stored in.

    Ranks that this evaluator made before are used again where they cover what ``split`` judges; those of an earlier one
    only where the vectors are gone. Raises VectorsGone, MemoryRanOutError, ClaimLost and whatever ended the child.
    """
    submission = evaluation.submission
    conditions = [Condition(run.condition) for run in submission.runs.all()]
    names = {condition: ranks_file(evaluation, condition) for condition in conditions}
    removed = removed_on(submission.files.all())
    kept = _kept(evaluation, split, conditions, any_evaluator=bool(removed))
    if kept is None and removed:
        raise VectorsGone(
            f"The vectors were deleted on {removed}, and the ranks kept of them lack images that are judged here. Send "
            "the vectors again for scores on this board."
        )
    if kept is None:
        _rank(submission, split, names, attempt, keeper)
        kept = {condition: _load(name) for condition, name in names.items()}
    else:
        for condition, ranks in kept.items():
            _save(ranks, names[condition])
    return kept, names


def _kept(
    evaluation: Evaluation, split: Split, conditions: list[Condition], *, any_evaluator: bool
) -> dict[Condition, JudgedRanks] | None:
    """Return ranks that an attempt at this evaluation, or at another of the same submission, stored."""
    mine = Evaluation.objects.filter(submission=evaluation.submission_id).select_related("submission")
    known = mine.filter(version__fit_key=evaluation.version.fit_key)
    if not any_evaluator:
        known = known.filter(evaluator_version=evaluation.evaluator_version)
    for other in sorted(known, key=lambda each: (each.pk != evaluation.pk, -each.pk)):
        names = {condition: ranks_file(other, condition) for condition in conditions}
        if not all(map(default_storage.exists, names.values())):
            continue
        found = {condition: _load(name) for condition, name in names.items()}
        if all(ranks.pairs is not None and covers(split, ranks) for ranks in found.values()):
            return found
    return None


def _load(name: str) -> JudgedRanks:
    found = load_run(Path(default_storage.path(name)))
    if not isinstance(found, JudgedRanks):
        raise EvaluatorError(f"{name} holds no judged ranks")
    return found


def _save(ranks: JudgedRanks, name: str) -> None:
    save_run(ranks, _stored(name))


def _stored(name: str) -> Path:
    path = Path(default_storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _rank(
    submission: Submission, split: Split, names: Mapping[Condition, str], attempt: int, keeper: LeaseKeeper
) -> None:
    """Rank the vectors; where memory does not suffice once more with smaller blocks."""
    sent = Sent.of(submission)
    for turn in range(2):
        times_smaller = attempt - 1 + turn  # an attempt that was lost may have been ended for its memory
        with tempfile.TemporaryDirectory(dir=reading_folder()) as made:
            folder = Path(made)
            try:
                sandbox.run(_work(sent, split, folder, times_smaller), _allowed(sent), folder, _Tick(folder, keeper))
            except (sandbox.TooMuchMemory, sandbox.SandboxKilled) as error:
                if not _may_be_memory(error):
                    raise
                log.warning("memory did not suffice to rank with a block %d times smaller", _SMALLER**times_smaller)
                told = error
                continue
            _keep(submission, folder, names)
            return
    words = f"memory did not suffice to rank the vectors, with a smaller block neither: {told!r}"
    raise MemoryRanOutError(words) from None  # a killed child would call for further attempts: two were made


def _may_be_memory(error: Exception) -> bool:
    """Whether a child ended for lack of memory: it said so, or was killed as the kernel does it."""
    return isinstance(error, sandbox.TooMuchMemory) or (
        isinstance(error, sandbox.SandboxKilled) and error.signal == signal.SIGKILL
    )


def _allowed(sent: Sent) -> sandbox.Allowance:
    seconds = settings.RANKING_SECONDS
    return sandbox.Allowance(seconds * cores(), seconds, None, largest_copy(sent))


def _keep(submission: Submission, folder: Path, names: Mapping[Condition, str]) -> None:
    """Move what the child made into storage. Every attempt stores the same under the same names."""
    for run in submission.runs.all():
        condition = Condition(run.condition)
        nearest = f"arrays/{run.pk}.npz"
        shutil.move(_nearest_file(folder, condition), _stored(nearest))
        shutil.move(_ranks_file(folder, condition), _stored(names[condition]))
        Run.objects.filter(pk=run.pk).update(arrays=nearest)


def _nearest_file(folder: Path, condition: Condition) -> Path:
    return folder / f"{condition}.nearest.npz"


def _ranks_file(folder: Path, condition: Condition) -> Path:
    return folder / f"{condition}.ranks.npz"


class _Tick:
    """What the worker does while it waits: renews its lease, and says how far the child is."""

    def __init__(self, folder: Path, keeper: LeaseKeeper) -> None:
        self._file, self._keeper = folder / _PROGRESS, keeper

    def __call__(self) -> None:
        try:
            done, total = json.loads(self._file.read_text())
        except FileNotFoundError:
            done = total = 0
        self._keeper(done, total)


# ── Inside the child ─────────────────────────────────────────────────────────────────────────────────────────────────


def _work(sent: Sent, split: Split, folder: Path, times_smaller: int) -> Callable[[], dict[str, Any]]:
    def work() -> dict[str, Any]:
        try:
            return rank_all(sent, split, folder, times_smaller)
        except RuntimeError as error:  # what torch and faiss raise, on every device
            if any(words in str(error).lower() for words in _OUT_OF_MEMORY):
                raise MemoryError from error
            raise

    return work


def rank_all(sent: Sent, split: Split, folder: Path, times_smaller: int = 0) -> dict[str, Any]:
    """Write the judged ranks and the nearest images of every condition into ``folder``."""
    block = _block(times_smaller)
    judgments = split.judgments
    vectors = sent.open(split, folder)
    for number, (condition, embeddings) in enumerate(vectors.items()):
        tell = _teller(folder, number, len(vectors))
        ranks = judged_ranks(embeddings, split, block=block, progress=tell)
        written = replace(ranks, pairs=JudgedPairs(judgments.query, judgments.image))
        save_run(written, _ranks_file(folder, condition))
        save_run(nearest_images(embeddings, split, block), _nearest_file(folder, condition))
    return {}


def _block(times_smaller: int) -> int:
    """Return how many images are multiplied at a time: 0 is what suits the device."""
    if not times_smaller:
        return 0
    usual: int = open_kernels("auto", 0)[0].block
    return max(_LEAST_BLOCK, int(usual // _SMALLER**times_smaller))


def _teller(folder: Path, number: int, count: int) -> Callable[[int, int], None]:
    """Return what writes how far the child is, the conditions one after the other."""
    part = folder / f"{_PROGRESS}.part"

    def tell(done: int, total: int) -> None:
        part.write_text(json.dumps([number * total + done, count * total]))
        part.replace(folder / _PROGRESS)

    return tell


def nearest_images(embeddings: Embeddings, split: Split, block: int = 0) -> Ranking:
    """Return the nearest images of each query in its own gallery, the references dropped where the protocol says so."""
    removed = split.protocol.remove_reference
    more = max(map(len, split.references), default=0) if removed else 0
    depth = np.minimum(candidates(split), NEAREST).astype(np.int32)
    images = np.full((len(split), int(depth.max(initial=0))), -1, dtype=np.int32)
    for number, gallery in enumerate(split.galleries):
        mine = np.flatnonzero(split.gallery_of == number)
        if not len(mine) or not len(gallery.images):
            continue
        whole = len(gallery.images) == len(split.images)
        held = embeddings.gallery if whole else embeddings.gallery[gallery.images]
        found = top_k(replace(embeddings, queries=embeddings.queries[mine], gallery=held), NEAREST + more, block=block)
        for query, row in zip(mine.tolist(), gallery.images[found.images], strict=True):
            images[query, : depth[query]] = _without(row, split.references[query] if removed else ())[: depth[query]]
    return Ranking(images, depth, format="vectors")


def _without(row: IntArray, references: tuple[int, ...]) -> IntArray:
    return row[~np.isin(row, references)] if references else row
