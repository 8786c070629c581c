"""The tables of an audit's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.audit.labels import Labelling
from evaluator.types import Condition, JudgedRanks, Split


def report(
    split: Split,
    labelling: Labelling,
    judged: Mapping[str, Mapping[Condition, JudgedRanks]],
    planted: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the counts; the other tables are being written."""
    return {"counts": labelling.counts()}
