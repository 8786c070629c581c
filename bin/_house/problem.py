"""What stops a command for a reason that a person can mend: a sentence, never a traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable

INTERRUPTED = 130


class Problem(Exception):  # noqa: N818 (it reads as what it is)
    """A sentence that says what is wrong and what to do about it."""


def in_words(work: Callable[[], int]) -> int:
    """Run ``work`` and return its exit status; say a :class:`Problem`, or an error of the file system, in words."""
    try:
        return work()
    except Problem as problem:
        complain(str(problem))
    except OSError as error:
        complain(explain(error))
    except KeyboardInterrupt:
        complain("Stopped.")
        return INTERRUPTED
    return 1


def complain(sentence: str) -> None:
    """Say something on standard error."""
    print(f"\n{sentence}", file=sys.stderr, flush=True)


def explain(error: OSError) -> str:
    """Return what to do about an error of the file system. One that nobody can mend from here is raised again."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full{where}. Free some space and run the command again."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"This folder cannot be written to{where}. Change its owner or rights, or use a copy elsewhere."
    raise error
