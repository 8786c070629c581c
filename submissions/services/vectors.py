"""Vectors that were sent: where they lie, and whether they can be ranked. They stay as they came (decision 26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator.errors import Fault, SubmissionError
from evaluator.types import Condition, Embeddings, Similarity, Split
from evaluator.vectors import VectorFile, VectorLimits, read_embeddings
from submissions import sandbox
from submissions.models import SentFile, Submission
from submissions.services.failures import LeaseKeeper
from submissions.services.reading import PATIENCE, Reading, Verdict, in_child, runs_in_order
from uploads import services as uploads

Role = SentFile.Role

GALLERY = "gallery"
"""What stands in place of the condition in a fault of the gallery's files."""
_FORMATS = {b"\x93NUMPY": "npy vectors", b"PK": "npz vectors", b"PAR1": "Parquet vectors"}
_COPIES = 5
"""Times the bytes of the files that reading may take: mapped files count as memory where a limit is enforced, bfloat16
is widened to twice its size, and rows in another order than the split's are a copy of that."""
_LARGER = 2
"""By how much an array may be larger than the largest file: bfloat16 once more."""
_GIB = 2**30
_REMEDY = {
    "needs-memory": (
        "Save the vectors uncompressed, as .npy or with numpy.savez, in float16 and in the order of the split kit: "
        "then they are read where they lie."
    ),
    "needs-time": "Save the vectors uncompressed, as .npy or with numpy.savez, and in float16.",
}


@dataclass(frozen=True)
class Sent:
    """The files of one submission of vectors, in a form that a child can use: it has no database."""

    files: tuple[SentFile, ...]
    conditions: Mapping[int, Condition | None]
    """Key of a file -> its condition; None for the gallery's."""
    similarity: Similarity

    @classmethod
    def of(cls, submission: Submission) -> Sent:
        """Return what a submission sent."""
        files = tuple(submission.files.filter(role__in=SentFile.OF_VECTORS).select_related("run").order_by("pk"))
        conditions = {file.pk: Condition(file.run.condition) if file.run else None for file in files}
        return cls(files, conditions, Similarity(submission.similarity))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def open(self, split: Split, folder: Path) -> dict[Condition, Embeddings]:
        """Return the vectors of every condition, in the order of the split.

        Raises SubmissionError whose faults carry the author's names for the files, and OSError.
        """
        paths = {file.pk: self._placed(file, folder) for file in self.files}
        runs = {found for found in self.conditions.values() if found is not None}
        queries = {
            condition: self._vectors(paths, condition, Role.QUERIES, Role.QUERY_IDS)
            for condition in Condition
            if condition in runs
        }
        gallery = self._vectors(paths, None, Role.GALLERY, Role.GALLERY_IDS)
        limits = VectorLimits(array_bytes=_LARGER * settings.VECTORS_MAX_BYTES)
        return read_embeddings(gallery, queries, split, similarity=self.similarity, limits=limits)

    def faults_of(self, error: SubmissionError) -> dict[str, Any]:
        """Return the faults as rows, with the condition and the author's name of each file."""
        return {"faults": [self._row(fault) for fault in error.faults], "more": error.more}

    def _placed(self, file: SentFile, folder: Path) -> Path:
        """Return the file under a name that is its key: a fault names it, and the key is looked up."""
        link = folder / str(file.pk)
        link.symlink_to(uploads.fetch(file.stored, folder))
        return link

    def _vectors(self, paths: Mapping[int, Path], of: Condition | None, vectors: Role, ids: Role) -> VectorFile:
        mine = {file.role: paths[file.pk] for file in self.files if self.conditions[file.pk] == of}
        return VectorFile(mine[vectors], mine.get(ids))

    def _row(self, fault: Fault) -> dict[str, str]:
        row, known = fault.as_dict(), {str(file.pk): file for file in self.files}
        file = known.get(fault.file)
        condition = str(self.conditions[file.pk] or GALLERY) if file else ""
        beside = known.get(fault.place)  # a fault of the list of ids names it as the place
        place = beside.name if beside else fault.place
        return {"condition": condition, **row, "file": file.name if file else fault.file, "place": place}


def read_vectors(submission: Submission, split: Split, folder: Path, keeper: LeaseKeeper) -> Verdict:
    """Look at all vectors, in one child; nothing is kept of them but what they are."""
    sent = Sent.of(submission)
    seconds = settings.READ_SECONDS * (1 + sent.size // _GIB)
    memory = settings.READ_MEMORY_BYTES + _COPIES * sent.size
    allowed = sandbox.Allowance(seconds, PATIENCE * seconds, memory, largest_copy(sent))
    answer = in_child(lambda: _look(sent, split, folder), allowed, folder, keeper, sent.files, _REMEDY)
    if faults := answer.get("faults"):
        rows = tuple({"condition": "", **fault} for fault in faults)
        return Verdict([Reading(None, faults=rows, more=answer["more"])])
    return Verdict([Reading(run, format=answer[run.condition]) for run in runs_in_order(submission)])


def largest_copy(sent: Sent) -> int:
    """Return the largest file that a child may write: a copy of one that is stored elsewhere."""
    return max(settings.UNPACKED_MAX_BYTES, *(file.size for file in sent.files))


def _look(sent: Sent, split: Split, folder: Path) -> dict[str, Any]:
    """Inside the child: return the format of each run's queries, or the faults."""
    try:
        sent.open(split, folder)
    except SubmissionError as error:
        return sent.faults_of(error)
    queries = (file for file in sent.files if file.role == Role.QUERIES)
    return {str(sent.conditions[file.pk]): format_of(folder / str(file.pk)) for file in queries}


def format_of(path: Path) -> str:
    """Return in what format the vectors of a file are that was read, such as "npz vectors"."""
    with path.open("rb") as opened:
        beginning = opened.read(16)
    return next((name for magic, name in _FORMATS.items() if beginning.startswith(magic)), "safetensors vectors")


def removed_on(files: Iterable[SentFile]) -> str:
    """Return the day on which vectors were deleted, in words; "" while all are there."""
    days = [file.removed_at for file in files if file.removed_at is not None]
    return f"{min(days):%-d %B %Y}" if days else ""
