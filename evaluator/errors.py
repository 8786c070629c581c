"""Whose fault it is, as a type. The participant's faults list everything that is wrong, with place and remedy.

``FAULTS`` is the one register of fault codes: the checker, the server, the command line and ``docs/formats.md`` all use
these words, under test.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field

MAX_FAULTS = 100
"""Faults listed one by one; the rest is a count (decision 24)."""
EXAMINED = 2_000
"""Faults of one stage looked at one by one: enough to see every kind, where a file may have ten million of them."""


@dataclass(frozen=True)
class FaultKind:
    """A code's meaning: a title, and how to mend it unless the fault itself says something more exact."""

    title: str
    remedy: str


FAULTS: dict[str, FaultKind] = {
    # The file as a whole
    "no-file": FaultKind("No file", "Send at least one ranking file."),
    "empty-file": FaultKind("The file is empty", "Upload the file your code wrote, with one ranking for each query."),
    "too-large": FaultKind("The file is too large", "Keep to the list length that the protocol asks for."),
    "binary-file": FaultKind("Not a text file", "Send text: JSON, JSON lines, CSV or TREC. Nothing else is opened."),
    "wrong-encoding": FaultKind("Not UTF-8", "Save the file as UTF-8."),
    "unknown-format": FaultKind(
        "The format is not recognised", "Send one of the formats described in the documentation; see the templates."
    ),
    # Archives
    "gzip-damaged": FaultKind("The .gz file is damaged", "Compress the file again and check it with gzip -t."),
    "zip-damaged": FaultKind("The .zip file is damaged", "Compress the file again and check it with unzip -t."),
    "zip-path": FaultKind("A path in the .zip leaves its folder", "Zip the file by its bare name."),
    "zip-link": FaultKind("The .zip holds a symbolic link", "Zip the file itself, not a link to it."),
    "zip-encrypted": FaultKind("The .zip is encrypted", "Zip the file without a password."),
    "zip-method": FaultKind("The .zip uses an unusual compression", "Zip with the usual method (deflate)."),
    "zip-entries": FaultKind("The .zip has too many entries", "Put only the ranking file in the .zip."),
    "zip-empty": FaultKind("The .zip holds no file", "Put the ranking file in the .zip."),
    "zip-several-files": FaultKind("The .zip holds several files", "Put one ranking file in each .zip."),
    "nested-archive": FaultKind("An archive inside an archive", "Compress the file once."),
    # JSON
    "truncated": FaultKind("The file ends too early", "Write the file again and upload it whole; was the disk full?"),
    "invalid-json": FaultKind("Not valid JSON", "Write the file with a JSON library rather than by hand."),
    "wrong-top-type": FaultKind(
        "The JSON is not an object", 'Write one object: {"query id": ["image id", "image id", ...], ...}.'
    ),
    "too-deep": FaultKind("Nested too deep", "Put image ids, and nothing else, into each list."),
    "number-too-long": FaultKind("A number is too long to be an id", "Write the ids of the split."),
    "not-finite": FaultKind("NaN or Infinity", "Look for the NaN in your scores; every value must be finite."),
    "repeated-key": FaultKind("A key stands twice in one object", "Keep one of the two."),
    "too-many-lists": FaultKind("Too many lists or objects", "Write one list for each query of the split."),
    "too-many-queries": FaultKind("Too many queries", "Write one ranking for each query of the split."),
    "too-many-entries": FaultKind("Too many entries", "Keep to the list length that the protocol asks for."),
    "not-a-list": FaultKind("A query without a list of images", "Give each query a list of image ids, best first."),
    "no-retrieved-items": FaultKind("retrieved_items is missing", 'Write {"retrieved_items": [...]} for each query.'),
    "line-keys": FaultKind("A line lacks a key", 'Write {"query": ..., "images": [...]} on each line.'),
    # CIRR's two files
    "unknown-metric": FaultKind(
        "The metric is neither recall nor recall_subset", 'Write "metric": "recall" or "metric": "recall_subset".'
    ),
    "unknown-version": FaultKind("The version is not rc2", 'Rank the rc2 release of CIRR and write "version": "rc2".'),
    "two-rankings": FaultKind("Two files of the same kind", "Send one ranking, and for CIRR one subset file."),
    "no-main-ranking": FaultKind("Only the subset file was sent", 'Send the file with "metric": "recall" as well.'),
    "subset-not-taken": FaultKind("This split has no subset file", "Send the ranking alone."),
    "not-a-member": FaultKind(
        "An image outside the query's image set", "Rank the five other members of the query's image set."
    ),
    # Tables
    "csv-header": FaultKind(
        "The header lacks a column", "Begin the file with a header such as query,image,rank or query,image,score."
    ),
    "csv-row": FaultKind("A row does not fit the header", "Write one image a row, with as many fields as the header."),
    "trec-columns": FaultKind("A line without six columns", "Write: query Q0 image rank score run-name."),
    "bad-rank": FaultKind("A rank that is no whole number", "Number the images of a query 1, 2, 3, ..."),
    "repeated-rank": FaultKind("A rank given twice", "Give each image of a query its own rank."),
    "bad-score": FaultKind("A score that is no number", "Write scores as decimal numbers, higher is better."),
    # Queries
    "no-queries": FaultKind("The file holds no query", "Write one ranking for each query of the split."),
    "unknown-query": FaultKind("A query that the split does not have", "Use the query ids of the split kit."),
    "missing-query": FaultKind("A query without a ranking", "Rank every query; a missing one is never skipped."),
    "repeated-query": FaultKind("A query that stands twice", "Keep one ranking for each query."),
    "other-split": FaultKind("The ids are those of another split", "Send the file to that split, or rank this one."),
    "other-gallery": FaultKind("Ranked over another gallery", "Rank the whole gallery of this split."),
    # Images
    "wrong-id-type": FaultKind("An id that is neither text nor a whole number", "Write ids as text or whole numbers."),
    "image-suffix": FaultKind("A file name instead of an id", "Write image ids without folder and suffix."),
    "leading-zeros": FaultKind("A number with leading zeros", "Write the number without leading zeros: 12, not 012."),
    "unknown-image": FaultKind("An image that is not in the gallery", "Use the image ids of the split kit."),
    "not-in-gallery": FaultKind("An image of another gallery", "Rank only the images of this query's gallery."),
    "repeated-image": FaultKind("An image that stands twice in one ranking", "List each image once for each query."),
    "list-too-short": FaultKind("A ranking that is too short", "Lengthen the list; the protocol says how far."),
    "reference-in-list": FaultKind(
        "Too short once the reference is dropped",
        "Remove the reference image before you cut the list, or list one image more.",
    ),
    "list-too-long": FaultKind("A ranking that is too long", "Cut the list; the protocol says where."),
    # Judged ranks
    "ranks-not-taken": FaultKind(
        "Judged ranks where the truth is hidden", "Send a ranking: which images are judged is not told here."
    ),
    "rank-outside-gallery": FaultKind(
        "A rank that the gallery does not have",
        "Count from 1 over the whole gallery, as python -m evaluator ranks does.",
    ),
    "not-judged": FaultKind(
        "An image that is not judged for the query", "Give the ranks of the judged images alone; see the template."
    ),
    "judged-without-rank": FaultKind(
        "A judged image without a rank", "Give the rank of every judged image, however low; see the template."
    ),
    # Vectors
    "vector-not-finite": FaultKind(
        "A vector that is not finite", "Look for NaN and overflow in your encoder; float32 must hold every number."
    ),
    "vector-zero": FaultKind(
        "A zero vector", "A vector of zeros has no direction to compare; encode the image or query again."
    ),
    "vector-dimension": FaultKind(
        "Vectors of another dimension", "Encode queries and gallery with the same model, into vectors of one length."
    ),
    "vector-format": FaultKind(
        "Not a file of vectors", "Send .npz with ids and vectors, .npy with a list of ids, .safetensors or Parquet."
    ),
    "vector-objects": FaultKind(
        "Pickled objects, which are never opened",
        "Save plain numbers: numpy.savez with allow_pickle=False, or safetensors.",
    ),
    "vector-damaged": FaultKind(
        "The file of vectors is damaged", "Write the file again and copy it whole; was the disk full?"
    ),
    "vector-type": FaultKind(
        "Numbers of another type", "Save floating numbers: float16, bfloat16, float32 or float64."
    ),
    "vector-too-large": FaultKind("Vectors beyond the limit", "Send the queries and the gallery of this split alone."),
    "vector-ids": FaultKind("Vectors whose ids are not known", "Give one id for each row, as text or whole numbers."),
    "vector-missing": FaultKind("No vector where one is needed", "Encode every query and every image of the gallery."),
    "vector-repeated": FaultKind("Two vectors of one id", "Keep one vector for each query and each image."),
    # What reading costs
    "needs-memory": FaultKind(
        "The file needs too much memory to read", "Keep to the list length that the protocol asks for."
    ),
    "needs-time": FaultKind("The file takes too long to read", "Keep to the list length that the protocol asks for."),
}
"""Code -> kind, for every fault any reader can report. ``docs/formats.md`` has a heading for each, under test."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where, what was found, what was expected, how to mend it (decision 24)."""

    code: str
    file: str = ""
    place: str = ""
    """``query "130"``, ``line 12``, ``byte 4096``; empty for the file as a whole."""
    found: str = ""
    expected: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.file, self.place) if part)
        detail = "; ".join(
            part
            for part in (
                self.found and f"found {self.found}",
                self.expected and f"expected {self.expected}",
                self.remedy,
            )
            if part
        )
        return f"{self.code}: {where}: {detail}" if where else f"{self.code}: {detail}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class EvaluatorError(Exception):
    """Ours: a broken bundle, an impossible state. Never shown to a participant as their fault."""


class SubmissionError(Exception):
    """The participant's: all faults of a submission, and how many more there are than are listed."""

    def __init__(self, faults: list[Fault] | tuple[Fault, ...], more: int = 0) -> None:
        self.faults = tuple(faults)
        self.more = more
        super().__init__("; ".join(str(fault) for fault in self.faults[:3]))


@dataclass
class FaultList:
    """Collects faults: up to :data:`MAX_FAULTS` of each code, so that a thousand of one kind never hide another."""

    file: str = ""
    faults: list[Fault] = field(default_factory=list)
    more: int = 0
    _seen: Counter[str] = field(default_factory=Counter)

    def add(self, code: str, place: str = "", *, found: str = "", expected: str = "", remedy: str = "") -> None:
        """Note a fault. ``code`` must be registered in :data:`FAULTS`."""
        self._seen[code] += 1
        if self._seen[code] > MAX_FAULTS:
            self.more += 1
            return
        remedy = remedy or FAULTS[code].remedy
        self.faults.append(Fault(code, *map(_short, (self.file, place, found, expected, remedy))))

    def first_of(self, number: int) -> slice:
        """Return which of ``number`` faults found in bulk to look at one by one, and count the others."""
        self.more += max(number - EXAMINED, 0)
        return slice(EXAMINED)

    def raise_if_any(self) -> None:
        """Raise :class:`SubmissionError` if anything was noted, with at most :data:`MAX_FAULTS` listed."""
        if self.faults:
            listed = _fair_share(self.faults)
            raise SubmissionError(listed, self.more + len(self.faults) - len(listed))


def _fair_share(faults: list[Fault]) -> list[Fault]:
    """Return at most :data:`MAX_FAULTS` in their order; no code has a second before each has a first."""
    seen: Counter[str] = Counter()
    turns = []
    for position, fault in enumerate(faults):
        turns.append((seen[fault.code], position))
        seen[fault.code] += 1
    kept = sorted(position for _, position in sorted(turns)[:MAX_FAULTS])
    return [faults[position] for position in kept]


def _short(text: str, limit: int = 300) -> str:
    """What a participant wrote is quoted, never echoed whole: a 10 MB id must not become a 10 MB message."""
    printable = "".join(char if char.isprintable() else "\ufffd" for char in text[: limit + 1])
    return printable if len(printable) <= limit else printable[:limit] + "…"
