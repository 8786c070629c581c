"""What an audit found, as tables for a terminal, as JSON, and as ``labels.csv`` and ``labels.json``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluator.audit.influence import leave_one_out
from evaluator.audit.labels import KINDS, LABELS, Kind, Label, Labelling, solved
from evaluator.bundle import digest
from evaluator.errors import EvaluatorError
from evaluator.probing.session import Outcome
from evaluator.types import Condition, Split

_NO_KIND = ""
Row = Sequence[str]


@dataclass(frozen=True, eq=False)
class Report:
    """The labels of a split by a pool of encoders."""

    split: Split
    labelling: Labelling
    outcomes: Sequence[Outcome]

    def tables(self) -> str:
        """Return counts of labels as CIRCUS has them, Recall of every encoder, and what each one decides."""
        whole, split = self.labelling, self.split
        models = f"{whole.models} model{'s' * (whole.models > 1)}"
        head = f"{split.name}, version {split.version}: {len(split):,} queries, {models}, K = {whole.k}"
        lines = [head, "", *_aligned(self._counts()), "", *_aligned(self._recall())]
        if influence := leave_one_out(whole):
            rows: list[Row] = [("without", "other label", "shortcut no more", "unresolved", "SF")]
            rows += [
                (one.name, *(f"{n:,}" for n in (one.changed, one.freed, one.unresolved, one.shortcut_free)))
                for one in influence
            ]
            lines += ["", *_aligned(rows)]
        return "\n".join(lines)

    def json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.as_dict(), indent=1, allow_nan=False)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, each query's label among it."""
        whole = self.labelling
        return {
            "split": {"name": self.split.name, "version": self.split.version, "digest": digest(self.split)},
            "k": whole.k,
            "encoders": [_encoder(outcome) for outcome in self.outcomes],
            "counts": whole.counts(),
            "recall": [{"encoder": name, **shares} for name, shares in self._shares()],
            "leave_one_out": [asdict(one) for one in leave_one_out(whole)],
            "labels": list(self._labels()),
        }

    def csv(self) -> str:
        """Return a line for each query."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        fields = [f"{what}:{condition}" for condition in Condition for what in ("rank", "best", "support")]
        writer.writerow(["query", "label", "kind", *fields])
        for row in self._labels():
            cells = [row[what][str(condition)] for condition in Condition for what in ("rank", "best", "support")]
            writer.writerow([row["query"], row["label"], row["kind"] or _NO_KIND, *cells])
        return written.getvalue()

    def write(self, folder: Path) -> None:
        """Write ``labels.csv`` and ``labels.json``. Raises EvaluatorError where the disk does not take them."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "labels.csv").write_text(self.csv(), encoding="utf-8", newline="\n")
            (folder / "labels.json").write_text(self.json() + "\n", encoding="utf-8", newline="\n")
        except OSError as error:
            raise EvaluatorError(f"cannot write {error.filename or folder}: {error.strerror}") from error

    def _labels(self) -> Iterator[dict[str, Any]]:
        whole = self.labelling
        for query, name in enumerate(self.split.query_ids):
            yield {
                "query": name,
                "label": str(LABELS[whole.label[query]]),
                "kind": str(KINDS[whole.kind[query]]) if whole.kind[query] >= 0 else None,
                "rank": {str(condition): int(whole.rank[condition][query]) for condition in Condition},
                "best": {str(condition): whole.best_name(condition, query) for condition in Condition},
                "support": {str(condition): int(whole.support[condition][query]) for condition in Condition},
            }

    def _counts(self) -> Iterator[Row]:
        counts, total = self.labelling.counts(), max(len(self.split), 1)
        yield "label", "queries", "%"
        for name, words in (
            (Label.SHORTCUT, "shortcut"),
            (Kind.TEXT, "  text alone"),
            (Kind.IMAGE, "  image alone"),
            (Kind.BOTH, "  either alone"),
            (Label.COMPOSITION_REQUIRED, "composition-required"),
            (Label.UNRESOLVED, "unresolved"),
        ):
            yield words, f"{counts[str(name)]:,}", f"{100 * counts[str(name)] / total:.2f}"

    def _recall(self) -> Iterator[Row]:
        yield f"Recall@{self.labelling.k}, %", *map(str, Condition)
        for name, shares in self._shares():
            yield name, *(f"{100 * share:.2f}" for share in shares.values())

    def _shares(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield each encoder with the share of queries it solves under each condition."""
        for member in self.labelling.members:
            shares = {
                str(condition): float(solved(member.ranks[condition], self.labelling.k).mean())
                for condition in Condition
            }
            yield member.name, shares


def probes(outcomes: Sequence[Outcome], *, as_json: bool) -> str:
    """Return where the ranks of each encoder lie."""
    if as_json:
        return json.dumps({"encoders": [_encoder(outcome) for outcome in outcomes]}, indent=1)
    return "\n".join(
        f"{outcome.job.spec.name}, {condition}: {outcome.job.ranks_path(condition)}"
        for outcome in outcomes
        for condition in Condition
    )


def _encoder(outcome: Outcome) -> dict[str, Any]:
    job, record = outcome.job, outcome.record
    kept = {name: record.get(name) for name in ("card", "spec", "device", "dtype", "precision", "seconds")}
    paths = {str(condition): str(job.ranks_path(condition)) for condition in Condition}
    return {"name": job.spec.name, **kept, "instruction": job.instruction, "ranks": paths}


def _aligned(rows: Iterator[Row] | Sequence[Row]) -> Iterator[str]:
    """Yield rows under each other, numbers to the right."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *cells in table:
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([name.ljust(widths[0]), *numbers]).rstrip()
