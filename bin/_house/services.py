"""A Redis and a PostgreSQL of our own for tests: free ports, temporary folders, gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _house.ports import LOOPBACK, answers, free_port
from _house.problem import Problem

START_SECONDS = 30
POSTGRES_FOLDERS = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin")


def redis_server() -> str | None:
    """Return the path of ``redis-server``, or None."""
    return shutil.which("redis-server")


def postgres_binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL's ``initdb`` and ``postgres``, or None.

    Debian keeps them off the PATH, and what stands there may be a wrapper.
    """
    folders = [folder for pattern in POSTGRES_FOLDERS for folder in Path("/").glob(pattern.lstrip("/"))]
    if on_path := shutil.which("initdb"):
        folders.append(Path(on_path).resolve().parent)
    complete = [folder for folder in folders if (folder / "initdb").is_file() and (folder / "postgres").is_file()]
    return max(complete, key=_version, default=None)


@contextmanager
def redis() -> Iterator[str]:
    """Run a Redis that keeps nothing; yields its URL."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="cirboard-redis-") as folder:
        command = [redis_server() or "redis-server", "--port", str(port), "--bind", LOOPBACK, "--dir", folder]
        command += ["--save", "", "--appendonly", "no"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_for(port, process)
            yield f"redis://{LOOPBACK}:{port}/0"
        finally:
            process.terminate()
            process.wait()


@contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL that trusts this machine and syncs nothing; yields the URL of its database ``postgres``."""
    binaries = postgres_binaries()
    if binaries is None:
        raise Problem("PostgreSQL's binaries were not found: install the package postgresql.")
    port = free_port()
    # Not the usual temporary folder: its name may be too long for a Unix socket, and root's may be closed to postgres.
    with tempfile.TemporaryDirectory(prefix="cirboard-pg-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        if owner := user():
            shutil.chown(folder, owner)
        _initialize(binaries, folder)
        process = _start(binaries, folder, port)
        try:
            _wait_for(port, process)
            yield f"postgres://postgres@{LOOPBACK}:{port}/postgres"
        finally:
            process.send_signal(signal.SIGINT)  # "fast": end sessions, lose nothing
            process.wait()


def user() -> str | None:
    """Return as whom to run PostgreSQL, which refuses root; None where we are somebody else already."""
    return "postgres" if os.geteuid() == 0 else None


def _initialize(binaries: Path, folder: str) -> None:
    command = [str(binaries / "initdb"), "-D", f"{folder}/data", "-U", "postgres", "--auth=trust", "-E", "UTF8"]
    done = subprocess.run(
        [*command, "--no-sync"], cwd=folder, user=user(), group=user(), check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise Problem(f"PostgreSQL's initdb failed: {done.stderr.strip()}")


def _start(binaries: Path, folder: str, port: int) -> subprocess.Popen[bytes]:
    settings = {
        "port": port,
        "listen_addresses": LOOPBACK,
        "unix_socket_directories": folder,
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
    }
    command = [str(binaries / "postgres"), "-D", f"{folder}/data"]
    command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, user=user(), group=user(), stdout=nowhere, stderr=nowhere)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Problem(f"{process.args[0] if isinstance(process.args, list) else 'A server'} did not start.")
        time.sleep(0.05)


def _version(folder: Path) -> tuple[int, ...]:
    digits = "".join(character if character.isdigit() else " " for character in str(folder.parent.name)).split()
    return tuple(int(part) for part in digits)
