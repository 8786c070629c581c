"""What stops a command for a reason that a person can mend."""

from __future__ import annotations


class Problem(Exception):  # noqa: N818 (it reads as what it is: shown as a sentence, never as a traceback)
    """A sentence that says what is wrong and what to do about it."""
