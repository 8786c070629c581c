"""What CIRCUS printed of its own audit, beside ours, with what must be known to read it (protocols.md 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluator.types import Condition, Subset
from leaderboard.reported import ReportedEntry, read_reported, reported_average

FILE = Path(__file__).parent.parent / "reported" / "circus.json"
PREFIX = "circus-"
"""Boards of CIRCUS's own splits."""

NOTES = (
    "CIRCUS names eleven retrievers. Its supports reach twelve, and some best ranks have no model beside them: a "
    "twelfth, unnamed and almost image-only model seems to be in the minimum. Taking the eleven together again could "
    "give another SF, so the published lists are kept as they are and never derived again.",
    "The release holds two more readings of the Composition Gap: a difference of Recall@10 (its README), and an nDCG "
    "that reads 1-based ranks as 0-based (its evaluation script), in which a perfect list on CIRCO scores up to 1.585. "
    "Here it is 1 − max(I, T) / MM of mean full-gallery nDCG. Which one made the printed 0.137 and 0.361 cannot be "
    "tested: no ranks of single retrievers were published.",
    "V / SF is no rate: on CIRR and CIRCO people looked at all of SF, on FashionIQ and LaSCo at a sample of 1,000 "
    "composition-required and 1,000 unresolved queries each.",
    "Eight of the 44 printed V cells are no whole number of queries at one decimal, so V cannot be matched exactly.",
)
_SIZES = (
    ("shortcut_solvable", "Shortcut"),
    ("composition_required", "Composition-required"),
    ("unresolved", "Unresolved"),
    ("shortcut_free", "SF"),
    ("validated", "V"),
    ("total", "Full"),
)
_RECALL = (
    (Subset.FULL, Condition.MULTIMODAL, "Recall@10"),
    (Subset.FULL, Condition.TEXT_ONLY, "Recall@10"),
    (Subset.FULL, Condition.IMAGE_ONLY, "Recall@10"),
    (Subset.FULL, None, "ShortcutLeak@10"),
    (Subset.SF, Condition.MULTIMODAL, "Recall@10"),
    (Subset.V, Condition.MULTIMODAL, "Recall@10"),
)


@dataclass(frozen=True)
class Published:
    """What was printed of one split."""

    source: str
    url: str
    sizes: tuple[tuple[str, int, float], ...]
    """(label, queries, share of Full in percent)"""
    support: tuple[tuple[int, ...], ...]
    """(models, multimodal, text-only, image-only); empty where none was released."""
    gap: tuple[tuple[str, str], ...]
    """(subset, Composition Gap as printed), the mean over retrievers."""
    gap_over: str
    recall: tuple[tuple[str, tuple[str, ...]], ...]
    """(retriever, Recall@10 on Full in three conditions and either one, on SF, on V, as printed)"""


@lru_cache(maxsize=8)
def published(board: str) -> Published | None:
    """Return what was printed of a board's audit; None where nothing was."""
    facts = _facts()
    found = facts["boards"].get(board)
    if found is None:
        return None
    sizes = found["sizes"]
    support = found.get("support", {})
    columns = [support[str(condition)] for condition in Condition] if support else []
    average = reported_average(board, "CompositionGap")
    return Published(
        source=facts["source"],
        url=facts["url"],
        sizes=tuple((words, sizes[key], 100 * sizes[key] / sizes["total"]) for key, words in _SIZES),
        support=tuple((number, *counts) for number, counts in enumerate(zip(*columns, strict=True)) if number),
        gap=tuple(average[1].shown.items()) if average else (),
        gap_over=average[1].over if average else "",
        recall=tuple((entry.method, _recall(entry)) for entry in _entries(board)),
    )


def notes(board: str, members: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what a reader must know where CIRCUS's split or its frozen pool is audited."""
    frozen = any(member.get("models", 1) > 1 for member in members)
    return NOTES if board.startswith(PREFIX) or frozen else ()


@lru_cache(maxsize=1)
def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return facts


def _entries(board: str) -> list[ReportedEntry]:
    return [entry for file in read_reported() for part in file.boards if part.board == board for entry in part.entries]


def _recall(entry: ReportedEntry) -> tuple[str, ...]:
    shown = {(score.subset, score.condition, score.measure): score.shown for score in entry.scores}
    multi = {key[:2]: text for key, text in shown.items() if key[2] in ("Recall@10", "Recall_any@10")}
    return tuple(
        shown.get((subset, condition, name), "") if condition is None else multi.get((subset, condition), "")
        for subset, condition, name in _RECALL
    )
