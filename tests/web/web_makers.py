"""Boards and entries made row by row, so that a test says every number it reads back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import Team, User
from accounts.services import personal_team
from demo.tiny import tiny_split
from evaluator import __version__
from evaluator.measures import cells
from leaderboard.models import Entry, Method, Score, SplitVersion
from leaderboard.services.splits import freeze_split

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
PASSWORD = "correct horse battery"
DECLARED = {
    "supervision": "zero-shot",
    "training_overlap": ["none"],
    "query_text": "as-released",
    "system": "single",
    "weights": "open",
    "backbone": "CLIP ViT-L/14",
}

Values = Mapping[tuple[str, str], float | None]
"""(measure, subset) -> value of the multimodal run; None: empty, with a reason."""


def frozen(slug: str, kind: str, **changes: Any) -> SplitVersion:
    """Freeze the tiny split of a kind under a board's name."""
    version, _ = freeze_split(replace(tiny_split(kind), name=slug, **changes))
    return version


def user(email: str, team: str = "", **fields: Any) -> User:
    """Make a person with a team of one."""
    made = User.objects.create_user(email, PASSWORD, **fields)
    own = personal_team(made)
    if team:
        Team.objects.filter(pk=own.pk).update(name=team)
    return made


def entry(version: SplitVersion, name: str, values: Values, **fields: Any) -> Entry:
    """Make a scored, published entry. ``day``: when it was published; ``team`` and ``method`` go to its method."""
    day = fields.pop("day", Entry.objects.count())
    team, method = fields.pop("team", None), fields.pop("method", {})
    reported = fields.get("trust") == Entry.Trust.REPORTED
    defaults = {
        "trust": Entry.Trust.FILE_SCORED,
        "version": None if reported else version,
        "evaluator_version": "" if reported else __version__,
        "declared": DECLARED,
        "published_at": FIRST_DAY + timedelta(days=day),
    }
    slug = f"method-{Method.objects.count()}"
    made = Entry.objects.create(
        split=version.split,
        method=Method.objects.create(name=name, slug=slug, team=team, **method),
        **{**defaults, **fields},
    )
    add_scores(made, values)
    return made


def add_scores(made: Entry, values: Values, condition: str = "multimodal", group: str = "") -> None:
    """Give an entry scores; those in [0, 1] that are there get an interval around them unless it is reported."""
    reported = made.trust == Entry.Trust.REPORTED
    for (measure, subset), value in values.items():
        low, high = (None, None) if value is None or reported else (value - 0.01, value + 0.01)
        Score.objects.create(
            entry=made,
            subset=subset,
            condition=condition,
            group=group,
            measure=measure,
            value=value,
            low=low,
            high=high,
            n=12,
            reason="" if value is not None else "not available: needs more",
            shown="" if value is None else cells.cell(measure, value),
            shown_interval=cells.interval(measure, low, high),
        )
