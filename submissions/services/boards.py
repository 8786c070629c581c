"""Whether a board takes submissions."""

from __future__ import annotations

from leaderboard.models import Split, SplitVersion
from submissions.services.refusals import SplitClosed


def open_version(split: Split) -> SplitVersion:
    """Return the version that submissions are checked against now. Raises SplitClosed."""
    version = SplitVersion.objects.select_related("split").filter(split=split, current=True).first()
    if version is None:
        raise SplitClosed(f"{split.name} shows reported numbers only: there are no queries to rank here.")
    if not split.open:
        raise SplitClosed(f"{split.name} takes no submissions at the moment.")
    return version
