"""Makes the virtual environment and installs pinned requirements into it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from _house.places import MEBIBYTE, Places, require_space
from _house.problem import Problem
from _house.stamps import Stamps, digest

INSTALL_BYTES = 1500 * MEBIBYTE
"""What the server, or everything that tests need of it, takes while pip unpacks it."""
TORCH_BYTES = 6000 * MEBIBYTE
"""The same where torch comes with its CUDA libraries."""
COMPLETE = ("server", "dev")
"""Files that name everything, with hashes. Others leave to pip what their packages bring along: with torch, that
differs by platform."""

WRONG_HASH = "THESE PACKAGES DO NOT MATCH THE HASHES"
"""What pip says of a package that is another one, and just as well of one whose transfer broke off."""

COMPLAINTS = (
    (
        ("No space left on device", "Disk quota exceeded"),
        "The disk became full while packages were installed. Free some space and run the command again.",
    ),
    (
        (
            "NewConnectionError",
            "NameResolutionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "ProxyError",
            "Network is unreachable",
        ),
        "pip cannot reach the package index. Check the network, or the proxy or index that pip is set up to use, "
        "and run the command again.",
    ),
    (
        (WRONG_HASH,),
        "A package is not the one that was pinned, twice. Check which index pip uses, and run the command again.",
    ),
    (
        ("No matching distribution found",),
        "The package index has no build for this machine or this Python. Try Python 3.11 to 3.13.",
    ),
)


def ensure(places: Places, requirements: str) -> None:
    """Have a virtual environment with what ``requirements/<requirements>.txt`` names. Does nothing where that is so."""
    file = places.root / "requirements" / f"{requirements}.txt"
    stamps = Stamps(places.venv / "stamps")
    works = _works(places.python)
    wanted = digest([file], sys.version_info[:2])
    if works and stamps.has(requirements, wanted):
        return
    require_space(places.venv.parent, INSTALL_BYTES if requirements in COMPLETE else TORCH_BYTES)
    if not works:
        _make(places)
    _install(places, file)
    stamps.set(requirements, wanted)


def require_venv_module() -> None:
    """Raise a Problem where this Python cannot make virtual environments, as Debian's without python3-venv."""
    if any(importlib.util.find_spec(name) is None for name in ("venv", "ensurepip")):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise Problem(
            f"This Python ({sys.executable}) lacks the module venv or ensurepip. On Debian or Ubuntu: "
            f"`apt install {version}-venv`; elsewhere, install a complete Python."
        )


def complaint(output: str) -> str:
    """Return what to say about a pip that failed with ``output``."""
    for marks, sentence in COMPLAINTS:
        if any(mark in output for mark in marks):
            return sentence
    last = next((line for line in reversed(output.splitlines()) if line.lower().startswith("error")), "no reason given")
    return f"pip failed ({last})."


def _works(python: Path) -> bool:
    """Return whether the environment's Python runs, has pip, and is of this version."""
    if not python.exists():
        return False
    question = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    return subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0


def _make(places: Places) -> None:
    require_venv_module()
    print(f"Making a virtual environment in {places.venv}", flush=True)
    command = [sys.executable, "-m", "venv", "--clear", str(places.venv)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Problem(f"The virtual environment could not be made: {(done.stdout + done.stderr).strip()}")


def _install(places: Places, file: Path) -> None:
    total = sum("==" in line for line in file.read_text().splitlines())
    print(
        f"Installing {total} packages of {file.relative_to(places.root)}; the first time takes a minute or two",
        flush=True,
    )
    log = places.logs / "install.log"
    command = [str(places.python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["-r", str(file)]
    if file.stem in COMPLETE:
        command.append("--no-deps")  # a resolver could only look for what is newer
    failed = _run(command, log, total)
    if failed and WRONG_HASH in log.read_text():
        print("A package did not arrive as it was pinned; fetching it once more", flush=True)
        failed = _run([*command, "--no-cache-dir"], log, total)
    failed = failed or _run([str(places.python), "-m", "pip", "--disable-pip-version-check", "check"], log, total)
    if failed:
        raise Problem(f"{complaint(log.read_text())}\nThe whole output is in {log}.")


def _run(command: list[str], log: Path, total: int) -> int:
    """Run pip with its output in ``log``. Returns its exit status."""
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=_plain(os.environ)
        ) as pip,
    ):
        for line in _counted(pip.stdout or (), total):
            written.write(line)
    return pip.returncode


def _counted(lines: Iterable[str], total: int) -> Iterable[str]:
    """Pass ``lines`` on; on a terminal, say how far pip has come."""
    done = 0
    for line in lines:
        if line.startswith("Collecting "):
            done += 1
            if sys.stdout.isatty():
                print(f"\r  {done} of {total}", end="", flush=True)
        yield line
    if sys.stdout.isatty():
        print("\r" + " " * 40, end="\r", flush=True)


def _plain(environ: os._Environ[str]) -> dict[str, str]:
    """Return the environment without what would turn pip away from the virtual environment."""
    unwanted = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV")
    return {name: value for name, value in environ.items() if name not in unwanted}
