"""Why something a person asked for is not done, in their words. Only :class:`NotStored` is a failure of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime


class UploadRefused(Exception):  # noqa: N818 (a verdict)
    """The upload's shape is wrong. ``messages``: field -> what is wrong with it; form and API use the same fields."""

    def __init__(self, messages: Mapping[str, Sequence[str]]) -> None:
        self.messages = {field: list(lines) for field, lines in messages.items()}
        super().__init__("; ".join(f"{field}: {' '.join(lines)}" for field, lines in self.messages.items()))


class NotStored(Exception):  # noqa: N818 (a verdict)
    """There was no place for the files, for example on a full disk. The log has the error under ``reference``."""

    def __init__(self, reference: str) -> None:
        self.reference = reference
        super().__init__(
            "The files could not be stored. This is our fault; nothing was kept and no quota was used. Try again "
            f"later, or tell the maintainers this reference: {reference}."
        )


class SplitClosed(Exception):  # noqa: N818 (a verdict)
    """The board takes no submissions."""


class QuotaExceeded(Exception):  # noqa: N818 (a verdict)
    """The team used up its submissions of this UTC day (decision 28)."""

    def __init__(self, resets_at: datetime, limit: int) -> None:
        self.resets_at = resets_at
        self.limit = limit
        super().__init__(
            f"Your team has used its {limit} submissions of today on this board. "
            f"The next one can be sent from {resets_at:%Y-%m-%d %H:%M} UTC."
        )


class TooManyFree(Exception):  # noqa: N818 (a verdict)
    """The team sent too many files within an hour that cost no quota (decision 25)."""

    def __init__(self, retry_at: datetime) -> None:
        self.retry_at = retry_at
        super().__init__(
            "Your team sent too many files within an hour that were not scored. Check the next one at home with "
            f"`python -m evaluator check`, and send it from {retry_at:%H:%M} UTC on."
        )


class IllegalMove(Exception):  # noqa: N818 (a verdict)
    """What was asked does not fit the state that the submission is in; nothing was changed."""
