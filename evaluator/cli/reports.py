"""Verdicts and scores as strict JSON: full precision, measures in [0, 1], nothing that is not finite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluator.errors import SubmissionError
from evaluator.types import Ranking, Run, Scorecard, Split


def valid(run: Run, split: Split) -> str:
    """Return what a valid file is."""
    facts = _of_ranking(run) if isinstance(run, Ranking) else {"judged_images": len(run.rank), "complete": run.complete}
    return _dumped({"valid": True, **_named(split), "format": run.format, "queries": len(split), **facts})


def _of_ranking(ranking: Ranking) -> dict[str, Any]:
    return {
        "images": {"fewest": int(ranking.length.min()), "most": int(ranking.length.max())},
        "unchecked_ids": len(ranking.unknown),
        "subset_file": ranking.members is not None,
    }


def invalid(error: SubmissionError, split: Split) -> str:
    """Return every fault that is listed, and how many more there are."""
    faults = [fault.as_dict() for fault in error.faults]
    return _dumped({"valid": False, **_named(split), "faults": faults, "more": error.more})


def scores(card: Scorecard, split: Split) -> str:
    """Return every score of the protocol, empty ones with their reason."""
    listed = [asdict(score) for score in card.scores]
    return _dumped({"valid": True, **_named(split), "evaluator": card.evaluator_version, "scores": listed})


def written(paths: Sequence[Path], split: Split) -> str:
    """Return which judged-ranks files were written."""
    return _dumped({"valid": True, **_named(split), "files": [str(path) for path in paths]})


def _named(split: Split) -> dict[str, Any]:
    return {"split": split.name, "version": split.version}


def _dumped(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=1, allow_nan=False)  # in ASCII: valid whatever the output's encoding
