"""Every line of a worker says which submission, evaluation and split it is about."""

from __future__ import annotations

import logging

from leaderboard.subject import current_subject


class SubjectFilter(logging.Filter):
    """Adds ``subject`` to a record: what the running task works on, or "-"."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.subject = current_subject()
        return True
