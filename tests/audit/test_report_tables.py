"""The tables of a report against hand-made cases, and against the same counted once more in plain Python.

A table that is wrong is believed: nobody counts six thousand queries again.
"""

from __future__ import annotations

import json
from dataclasses import replace
from math import log2
from typing import Any

import numpy as np
import pytest
from audits_made import judged_of

from demo import circus_split, planted_labels
from demo.tiny import KINDS, tiny_split
from evaluator.audit.labels import FrozenPool, Labelling, Member, best_ranks, label
from evaluator.audit.report import report
from evaluator.audit.report_models import ONLY_BEST
from evaluator.errors import EvaluatorError
from evaluator.types import Condition, Subset

MULTI, TEXT, IMAGE = Condition
HAND = {
    # the first twelve queries' best ranks: two shortcuts of each kind, three to compose, three unresolved
    MULTI: (1, 50, 3, 1, 90, 12, 10, 1, 4, 11, 60, 0),
    TEXT: (10, 2, 11, 40, 1, 9, 11, 30, 0, 12, 55, 70),
    IMAGE: (11, 0, 10, 1, 10, 3, 11, 60, 20, 11, 0, 99),
}


def hand_made(kind: str = "circus-single") -> tuple[Any, Labelling, dict[str, Any]]:
    """Return a tiny split, and one model with the ranks by hand."""
    split = tiny_split(kind)
    judged = {condition: judged_of(split, ranks) for condition, ranks in HAND.items()}
    members = [Member("hand", {condition: best_ranks(found, split) for condition, found in judged.items()})]
    return split, label(members), {"hand": judged}


def by_chance(split: Any, models: int, seed: int = 0) -> dict[str, Any]:
    """Return models that rank by chance: name -> condition -> judged ranks."""
    generator = np.random.default_rng(seed)
    return {
        f"model {number}": {
            condition: judged_of(split, np.exp(generator.random(len(split)) * 5).astype(int).tolist())
            for condition in Condition
        }
        for number in range(models)
    }


def labelled(split: Any, judged: dict[str, Any], k: int = 10) -> Labelling:
    return label(
        [Member(name, {c: best_ranks(found, split) for c, found in runs.items()}) for name, runs in judged.items()], k
    )


def rows_of(made: dict[str, Any], key: str) -> list[list[Any]]:
    return next(table for table in made["tables"] if table["key"] == key)["rows"]


def test_counts_are_those_made_by_hand() -> None:
    made = report(*hand_made())
    counts = {row[0]: row[1] for row in rows_of(made, "counts")}
    assert counts == {
        "Shortcut, from the text alone": 2,
        "Shortcut, from the image alone": 2,
        "Shortcut, from either alone": 2,
        "Shortcut": 6,
        "Composition-required": 3,
        "Unresolved": 3,
        "SF by this audit": 6,
        "V, validated by people": 6,
        "Full": 12,
    }
    assert made["counts"]["composition-required"] == 3
    shares = {row[0]: row[2] for row in rows_of(made, "counts")}
    assert shares["Unresolved"] == 0.25


def test_supports_gap_and_recall_of_the_hand_made_model() -> None:
    split, labelling, judged = hand_made()
    made = report(split, labelling, judged)
    # solved by none and by the one model: multimodal, text-only, image-only, either
    assert rows_of(made, "support") == [[0, 6, 8, 8, 6], [1, 6, 4, 4, 6]]
    full = next(row for row in rows_of(made, "recall") if row[:2] == ["hand", "Full"])
    assert full[2:] == [0.5, 4 / 12, 4 / 12, 0.5]
    means = [sum(1 / log2(1 + rank) for rank in HAND[condition] if rank) / 12 for condition in Condition]
    gap = next(row for row in rows_of(made, "gap") if row[:2] == ["hand", "Full"])
    assert gap[2:] == pytest.approx([1 - max(means[1:]) / means[0], *means])


def test_ranks_fall_into_the_bins_that_hold_them() -> None:
    made = report(*hand_made())
    table = next(table for table in made["tables"] if table["key"] == "ranks")
    heads = [column["title"] for column in table["columns"]][1:]
    cells = {(row[0], head): count for row in table["rows"] for head, count in zip(heads, row[1:], strict=True)}
    assert cells["6–10", "11–50"] == 1, "query 0: 10 from the text, 11 from the image"
    assert cells["1", "6–10"] == 1
    assert cells["2–5", "not ranked"] == 1
    assert cells["not ranked", "11–50"] == 1
    assert sum(cells.values()) == 12


@pytest.mark.parametrize("k", [1, 10, 25])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_protocol_counts_as_plain_python_does(kind: str, k: int) -> None:
    split = tiny_split(kind)
    judged = by_chance(split, 4, seed=k)
    labelling = labelled(split, judged, k)
    made = report(split, labelling, judged)
    assert json.loads(json.dumps(made, allow_nan=False)) == made, "nothing but JSON, and no NaN"
    ranks = {
        (name, condition): [_best(split, runs[condition].rank, query) for query in range(len(split))]
        for name, runs in judged.items()
        for condition in Condition
    }
    for models, *counts in rows_of(made, "support"):
        for condition, count in zip(Condition, counts, strict=False):
            solved = [sum(0 < ranks[name, condition][q] <= k for name in judged) for q in range(len(split))]
            assert solved.count(models) == count
    for name, subset, *cells in rows_of(made, "recall"):
        if name not in judged:
            continue
        chosen = np.flatnonzero(split.subsets[Subset(subset)]).tolist()
        chosen = [query for query in chosen if split.judgments.positives_released[query]]
        for condition, cell in zip(Condition, cells, strict=False):
            assert cell == pytest.approx(sum(0 < ranks[name, condition][q] <= 10 for q in chosen) / len(chosen))
    for count, sizes in ((row[0], row[1:5]) for row in rows_of(made, "by-k")):
        again = labelled(split, judged, count).counts()
        free = again["composition-required"] + again["unresolved"]
        assert sizes == [again["shortcut"], again["composition-required"], again["unresolved"], free]


def _best(split: Any, judged: Any, query: int) -> int:
    lines = [
        int(rank)
        for rank, of, positive in zip(judged, split.judgments.query, split.judgments.positive, strict=True)
        if of == query and positive and rank > 0
    ]
    return min(lines, default=0)


def test_leak_and_rolled_lists_agree() -> None:
    """What a single model leaks of SF leaves SF′: with one model the two must be the same number."""
    split, labelling, judged = hand_made()
    made = report(split, labelling, judged)
    leak = {row[1]: row[2] for row in rows_of(made, "leak")}
    removed = {row[0]: row[3] for row in rows_of(made, "rolled")}
    assert leak["SF"] * split.subsets[Subset.SF].sum() == pytest.approx(removed["SF → SF′"])
    assert leak["V"] * split.subsets[Subset.V].sum() == pytest.approx(removed["V → V′"])


def test_a_frozen_pool_says_that_single_ranks_are_missing() -> None:
    split, labelling, judged = hand_made()
    n = len(split)
    nobody = {condition: np.zeros(n, dtype=np.int32) for condition in Condition}
    pool = FrozenPool(12, 10, nobody, np.zeros(n, dtype=np.int32), dict.fromkeys(Condition, ("",) * n))
    both = label([Member("CIRCUS pool", nobody, pool), *labelling.members])
    made = report(split, both, judged)
    for key in ("recall", "gap", "leak"):
        frozen = [row for row in rows_of(made, key) if row[0] == "CIRCUS pool"]
        assert frozen
        assert all(cell == ONLY_BEST for row in frozen for cell in row[2:])
    assert made["models"] == 13
    assert len(rows_of(made, "by-models")) == 13
    assert [row[:2] for row in rows_of(made, "leave-one-out")] == [["CIRCUS pool", 12], ["hand", 1]]
    other = report(split, label(both.members, 5), judged)
    assert "CIRCUS pool" in next(table for table in other["tables"] if table["key"] == "support")["note"]


def test_an_undefined_gap_has_its_reason() -> None:
    """A model that never ranks a target with both has 0 to divide by."""
    split = tiny_split("circus-single")
    judged = {"blind": {c: judged_of(split, [0 if c is MULTI else 1] * len(split)) for c in Condition}}
    gap = rows_of(report(split, labelled(split, judged), judged), "gap")
    assert gap[0][2] == "undefined: the multimodal nDCG is 0"
    lost = next(row for row in gap if row[1] == "SF′")
    assert lost[2] == "not available: no query is in this subset"


def test_planted_labels_are_counted_and_shared() -> None:
    split = circus_split()
    planted = {query: str(name) for query, name in planted_labels().items()}
    solves = {
        MULTI: ("text", "image", "both", "composition-required"),
        TEXT: ("text", "both"),
        IMAGE: ("image", "both", "text"),  # a text shortcut that the image gives away as well is still found
    }
    judged = {
        "knows": {
            condition: judged_of(split, [1 if planted[query] in known else 60 for query in split.query_ids])
            for condition, known in solves.items()
        }
    }
    rows = {row[0]: row for row in rows_of(report(split, labelled(split, judged), judged, planted), "planted")}
    assert {name: row[-1] for name, row in rows.items()} == dict.fromkeys(rows, 1.0)
    assert rows["text"][2:5] == [0, 0, rows["text"][1]], "found as both"
    assert sum(row[1] for row in rows.values()) == len(split)


def test_points_are_left_out_of_large_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    from evaluator.audit import report_labels

    split, labelling, judged = hand_made()
    points = rows_of(report(split, labelling, judged), "points")
    assert points[1] == [split.query_ids[1], "text", 50, 2, 0]
    monkeypatch.setattr(report_labels, "MAX_POINTS", 11)
    assert "points" not in [table["key"] for table in report(split, labelling, judged)["tables"]]


def test_hidden_truth_and_labels_of_another_split_are_refused() -> None:
    split, labelling, judged = hand_made()
    with pytest.raises(EvaluatorError, match="hidden"):
        report(replace(split, hidden_truth=True), labelling, judged)
    with pytest.raises(EvaluatorError, match="150 queries, the labels are of 12"):
        report(circus_split(), labelling, judged)
