"""A tiny CIRCUS split as a board, for the tests of the audit."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def version(db: None) -> Any:
    """The current version of ``tiny-circus-single``: 12 queries, Full ⊇ SF (9) ⊇ V (6)."""
    from demo import tiny_split
    from leaderboard.models import Benchmark, Split
    from leaderboard.services.splits import freeze_split

    benchmark, _ = Benchmark.objects.get_or_create(slug="tiny", defaults={"name": "Tiny"})
    content = tiny_split("circus-single")
    Split.objects.update_or_create(slug=content.name, defaults={"name": content.name, "benchmark": benchmark})
    return freeze_split(content)[0]


@pytest.fixture
def maintainer(db: None) -> Any:
    """Somebody who may do everything in the admin."""
    from accounts.models import User

    return User.objects.create_superuser("mia@example.org", "a long enough password")
