"""Writes a ranking in every format, as the field's own tools do, and wraps it; and reads it back for a test."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence

from evaluator.errors import Fault, SubmissionError
from evaluator.formats import DEFAULT, Limits, SourceFile, read_run
from evaluator.types import Ranking, Split

Lists = Mapping[str, Sequence[str]]


def cirr(lists: Lists, metric: str = "recall") -> bytes:
    return json.dumps({**lists, "version": "rc2", "metric": metric}, sort_keys=True).encode()


def circo(lists: Lists) -> bytes:
    return json.dumps({query: [int(image) for image in images] for query, images in lists.items()}).encode()


def pinpoint(lists: Lists) -> bytes:
    return json.dumps({query: {"retrieved_items": images} for query, images in lists.items()}).encode()


def plain(lists: Lists) -> bytes:
    return json.dumps(dict(lists), indent=1, ensure_ascii=False).encode()


def json_lines(lists: Lists) -> bytes:
    rows = (json.dumps({"images": images, "query": query}, ensure_ascii=False) for query, images in lists.items())
    return "\n".join(rows).encode()


def csv_ranks(lists: Lists) -> bytes:
    rows = [(query, image, rank) for query, images in lists.items() for rank, image in enumerate(images, start=1)]
    return _csv(("query", "image", "rank"), rows[::-1])


def csv_scores(lists: Lists) -> bytes:
    rows = [(-rank / 7, image, query) for query, images in lists.items() for rank, image in enumerate(images)]
    return _csv(("score", "image_id", "query_id"), rows[::-1])


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode()


def trec(lists: Lists) -> bytes:
    rows = [
        f"{query} Q0 {image} {rank} {100 - rank / 3} run\n"
        for query, images in lists.items()
        for rank, image in enumerate(images, start=1)
    ]
    return "".join(rows).encode()


WRITERS: dict[str, Callable[[Lists], bytes]] = {
    "cirr": cirr,
    "circo": circo,
    "pinpoint": pinpoint,
    "json": plain,
    "jsonl": json_lines,
    "csv": csv_ranks,
    "csv-scores": csv_scores,
    "trec": trec,
}


def zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


WRAPPERS: dict[str, Callable[[bytes], bytes]] = {
    "bare": lambda content: content,
    "gz": lambda content: gzip.compress(content, 1),
    "zip": lambda content: zipped({"run/ranks.txt": content, "__MACOSX/run/._ranks.txt": b"\0", ".DS_Store": b"\0"}),
}


def read(split: Split, *contents: bytes, limits: Limits = DEFAULT) -> Ranking:
    """Read files under names that say nothing."""
    run = read_run([SourceFile(f"file{i}", content) for i, content in enumerate(contents)], split, limits=limits)
    assert isinstance(run, Ranking)
    return run


def faults(split: Split, *contents: bytes, limits: Limits = DEFAULT) -> list[Fault]:
    """Return the faults of files that must be invalid."""
    try:
        read(split, *contents, limits=limits)
    except SubmissionError as error:
        return list(error.faults)
    raise AssertionError("the file was taken as valid")


def codes(split: Split, *contents: bytes, limits: Limits = DEFAULT) -> list[str]:
    """Return the codes of the faults, each once, in their order."""
    return list(dict.fromkeys(fault.code for fault in faults(split, *contents, limits=limits)))


def lists_of(ranking: Ranking, split: Split) -> dict[str, list[str]]:
    """Return a ranking as query id -> image ids."""
    names = (*split.images, *ranking.unknown)
    return {
        query: [names[image] for image in row[:length]]
        for query, row, length in zip(split.query_ids, ranking.images.tolist(), ranking.length.tolist(), strict=True)
    }
