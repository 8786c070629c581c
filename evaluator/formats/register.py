"""The register of ranking formats, and an empty template of each for the split kit (decision 35)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from evaluator.formats.judged_files import KEY as JUDGED
from evaluator.formats.judged_files import judged_template
from evaluator.types import Split


@dataclass(frozen=True)
class Format:
    """One format a run may be written in; ``key`` is what ``format`` of the run that is read says."""

    key: str
    title: str
    description: str
    suits: Callable[[Split], bool]
    """Whether the split kit should offer it: an official shape belongs to its own benchmark."""
    template: Callable[[Split], Mapping[str, str]]
    """File name -> the file with every query and no image."""


def templates(split: Split) -> dict[str, bytes]:
    """Return file name -> content of an empty template in each format that suits the split."""
    suitable = (form for form in FORMATS.values() if form.suits(split))
    return {name: text.encode() for form in suitable for name, text in form.template(split).items()}


def _queries(split: Split) -> list[str]:
    """Return the spelling that the official files use: an alias where there is one, "00001" for "query_00001"."""
    spelled = dict(enumerate(split.query_ids))
    spelled.update({position: alias for alias, position in split.query_aliases.items()})
    return [spelled[position] for position in range(len(split))]


def _object(entries: Iterable[tuple[str, object]]) -> str:
    lines = (f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value)}" for key, value in entries)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _cirr(split: Split) -> dict[str, str]:
    lists: list[tuple[str, object]] = [(query, []) for query in split.query_ids]
    return {
        f"{split.name}.{metric}.json": _object([("version", "rc2"), ("metric", metric), *lists])
        for metric in ("recall", "recall_subset")
    }


def _pinpoint(split: Split) -> dict[str, str]:
    entries: list[tuple[str, object]] = [(query, {"retrieved_items": []}) for query in _queries(split)]
    return {f"{split.name}.retrieved_items.json": _object(entries)}


def _plain(split: Split) -> dict[str, str]:
    return {f"{split.name}.json": _object((query, []) for query in split.query_ids)}


def _json_lines(split: Split) -> dict[str, str]:
    rows = (json.dumps({"query": query, "images": []}, ensure_ascii=False) for query in split.query_ids)
    return {f"{split.name}.jsonl": "".join(f"{row}\n" for row in rows)}


def _csv(split: Split) -> dict[str, str]:
    return {f"{split.name}.csv": "query,image,rank\n" + "".join(f"{query},,1\n" for query in split.query_ids)}


def _trec(split: Split) -> dict[str, str]:
    return {f"{split.name}.trec": "".join(f"{query} Q0 IMAGE 1 1.0 RUN\n" for query in split.query_ids)}


def _judged(split: Split) -> dict[str, str]:
    return {f"{split.name}.ranks.csv": judged_template(split)}


def _always(split: Split) -> bool:
    return True


FORMATS: dict[str, Format] = {
    form.key: form
    for form in (
        Format(
            "cirr",
            "CIRR server JSON",
            "The CIRR server's two files: pair id -> image names, with version and metric; the subset file beside it",
            lambda split: split.protocol.member_list_length > 0,
            _cirr,
        ),
        Format(
            "circo",
            "CIRCO server JSON",
            "The CIRCO server's file: query number -> 50 COCO image numbers",
            lambda split: split.protocol.key == "circo",
            _plain,
        ),
        Format(
            "pinpoint",
            "PinPoint JSON",
            'PinPoint\'s own file: query id -> {"retrieved_items": [image ids]}',
            lambda split: split.protocol.key == "pinpoint",
            _pinpoint,
        ),
        Format("json", "Plain JSON", "One object: query id -> list of image ids, best first", _always, _plain),
        Format("jsonl", "JSON lines", 'One object a line: {"query": ..., "images": [...]}', _always, _json_lines),
        Format("csv", "CSV", "A header and one image a row: query, image, rank or score", _always, _csv),
        Format("trec", "TREC run", "One image a line: query Q0 image rank score run-name", _always, _trec),
        Format(
            JUDGED,
            "Judged ranks",
            "A header and one judged image a row: query, judged_image, gallery_rank; ranks over the whole gallery",
            lambda split: not split.hidden_truth,
            _judged,
        ),
    )
}
"""Key -> format. ``docs/formats.md`` has a heading with each title, under test."""
