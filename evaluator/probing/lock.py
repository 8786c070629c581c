"""One process at a time in one state folder. The lock goes with the process, however it ends."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from evaluator.encoders.problems import EncoderError

_NAME = "lock"


@contextmanager
def held(state: Path) -> Iterator[None]:
    """Hold ``state``, which is made where it is missing. Raises EncoderError that says who holds it instead.

    The file stays when the lock is gone: to remove it would let two processes lock two files of one name.
    """
    import fcntl  # noqa: PLC0415 POSIX alone has it, and who checks a ranking elsewhere needs no lock

    with writing(state):
        state.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(state / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise EncoderError("state-in-use", f"{state}: {_holder(descriptor)}") from error
        with writing(state):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(_me()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn an OSError of what is written at ``place`` into an EncoderError that says what to do."""
    try:
        yield
    except OSError as error:
        raise EncoderError("state-unwritable", f"{place}: {error.strerror or error}") from error


def _me() -> dict[str, object]:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return {"process": os.getpid(), "machine": socket.gethostname(), "since": now}


def _holder(descriptor: int) -> str:
    """Return who holds the lock, as it wrote down itself; it may not have come to that yet."""
    try:
        row = json.loads(os.pread(descriptor, 4096, 0))
        return f"process {row['process']} on {row['machine']} since {row['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process that has just begun"
