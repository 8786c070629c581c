"""The boundary to the store: its errors become a reference for the person and a traceback in the log."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from accounts import references
from uploads.refusals import NotStored

log = logging.getLogger(__name__)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def storing() -> Iterator[None]:
    """Turn an error of the store into NotStored."""
    try:
        yield
    except OSError as error:
        reference = references.new()
        log.exception("%s: a file was not stored", reference)
        raise NotStored(reference, full=error.errno in FULL) from error
