"""Single queries of an entry: where their first right image stands, and which single modality solves them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.core.files.storage import default_storage
from django.core.paginator import Page, Paginator

from evaluator.rank_counts import SOLVED_BY, best_ranks, can_be_solved, is_solved, solved_by
from evaluator.ranks import as_judged_ranks
from evaluator.store import load_run
from evaluator.types import Condition
from leaderboard import bundles
from leaderboard.exports import tame
from leaderboard.models import Entry
from leaderboard.selectors.ranks import SOLVED, TITLES

ROWS = 100


@dataclass(frozen=True)
class QueryRow:
    """One query: ranks in the order of the heads, None where no right image is listed."""

    query: str
    text: str
    subsets: tuple[str, ...]
    ranks: tuple[int | None, ...]
    solved: str
    """One of :data:`evaluator.rank_counts.SOLVED_BY`; empty where a single modality is missing."""

    @property
    def solved_words(self) -> str:
        return SOLVED.get(self.solved, "")


@dataclass(frozen=True)
class QueryList:
    """The queries of an entry that were asked for."""

    conditions: tuple[str, ...]
    subsets: tuple[str, ...]
    rows: tuple[QueryRow, ...]
    subset: str
    solved: str

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(TITLES[condition] for condition in self.conditions)

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        """What to filter by: name and words."""
        return tuple((name, SOLVED[name]) for name in SOLVED_BY)

    def page(self, number: str) -> Page[QueryRow]:
        """Return one page; a number that makes no sense is the nearest that does."""
        return Paginator(self.rows, ROWS).get_page(number)

    def csv(self) -> str:
        """Return all rows, with nothing in a cell that a spreadsheet would run."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(["query", "text", "subsets", *(f"rank_{name}" for name in self.conditions), "solved_by"])
        for row in self.rows:
            ranks = ["" if rank is None else rank for rank in row.ranks]
            writer.writerow([tame(row.query), tame(row.text), " ".join(row.subsets), *ranks, row.solved])
        return written.getvalue()


def has_queries(entry: Entry) -> bool:
    """Whether single queries may be shown: they were ranked here, and the truth is public."""
    return bool(entry.ranks_files) and entry.version is not None and not entry.split.hidden_truth


def query_list(entry: Entry, subset: str = "", solved: str = "") -> QueryList:
    """Return an entry's queries in the order of the split, of one subset and one class where they are asked for.

    Raises Entry.DoesNotExist where single queries may not be shown, EvaluatorError where a file of ranks is damaged.
    """
    if not has_queries(entry) or entry.version is None:
        raise Entry.DoesNotExist
    split = bundles.load(entry.version)
    files = {Condition(name): stored for name, stored in entry.ranks_files.items()}
    runs = {
        condition: as_judged_ranks(split, load_run(Path(default_storage.path(files[condition]))))
        for condition in Condition
        if condition in files
    }
    best = {condition: best_ranks(split, run).tolist() for condition, run in runs.items()}
    classes = [""] * len(split)
    if can_be_solved(split, runs):
        singles = (is_solved(best_ranks(split, runs[single])) for single in (Condition.TEXT_ONLY, Condition.IMAGE_ONLY))
        classes = [SOLVED_BY[place] for place in solved_by(*singles).tolist()]
    members = {str(name): mask.tolist() for name, mask in split.subsets.items()}

    def rows() -> Iterator[QueryRow]:
        for at, query in enumerate(split.query_ids):
            inside = tuple(name for name, mask in members.items() if mask[at])
            if (subset and subset not in inside) or (solved and solved != classes[at]):
                continue
            yield QueryRow(query, split.texts[at], inside, tuple(b[at] or None for b in best.values()), classes[at])

    return QueryList(tuple(map(str, runs)), tuple(members), tuple(rows()), subset, solved)
