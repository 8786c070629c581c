"""The tables of an audit's page, as data that goes into JSON: made once when a pool labels a split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluator.audit import report_labels, report_models
from evaluator.audit.influence import rolled
from evaluator.audit.labels import Labelling
from evaluator.errors import EvaluatorError
from evaluator.types import Condition, JudgedRanks, Split

FORMAT = 1


def report(
    split: Split,
    labelling: Labelling,
    judged: Mapping[str, Mapping[Condition, JudgedRanks]],
    planted: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return ``format``, ``k``, ``queries``, ``models``, ``counts`` and ``tables`` (:class:`~report_tables.Table`).

    ``judged``: the rank of every positive, by the name of a member and condition; frozen pools have none, and their
    rows say so. ``planted``: query id -> what the query was built to be (``text``, ``image``, ``both``,
    ``composition-required``, ``unresolved``), where it was built. Shares are in [0, 1].

    Raises EvaluatorError where the truth is hidden or the labels are those of another split.
    """
    if split.hidden_truth:
        raise EvaluatorError(f"the truth of {split.name} is hidden: no label of it may be told")
    if len(labelling) != len(split):
        raise EvaluatorError(f"{split.name} has {len(split)} queries, the labels are of {len(labelling)}")
    whole = replace(split, subsets={**split.subsets, **rolled(split, labelling)})
    tables = [
        report_labels.counts(split, labelling),
        report_labels.rolled_sizes(split, labelling),
        *([report_labels.planted_found(split, labelling, planted)] if planted else []),
        report_models.recall(whole, labelling, judged),
        report_labels.support(labelling),
        report_labels.ranks_against(labelling),
        *report_labels.points(split, labelling),
        report_models.gap(whole, labelling, judged),
        report_models.leak(whole, labelling, judged),
        report_labels.by_k(labelling),
        report_labels.by_models(labelling),
        report_labels.left_out(labelling),
    ]
    return {
        "format": FORMAT,
        "k": labelling.k,
        "queries": len(split),
        "models": labelling.models,
        "counts": labelling.counts(),
        "tables": [table.as_dict() for table in tables],
    }
