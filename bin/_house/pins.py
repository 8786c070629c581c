"""``bin/compile-requirements``: the files in ``requirements/`` from the extras in ``pyproject.toml``."""

from __future__ import annotations

import argparse
import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

from _house import install
from _house.places import Places
from _house.problem import Problem, in_words

DESCRIPTION = """
Compiles requirements/server.txt and requirements/dev.txt with pip-tools, pinned and with the hashes of every build that
the index has, so that they hold on Linux and on macOS; and writes requirements.txt (a full node: server, torch, faiss)
without hashes, since builds of torch differ by platform. Pins stay as they are unless --upgrade is given. Run it with
the oldest Python 3.11 at hand: only that one sees the packages that newer ones have on board.
"""
COMPILE = [
    *("--quiet", "--generate-hashes", "--strip-extras", "--allow-unsafe", "--no-header", "--no-annotate"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host"),
]
HEADER = "# {words}\n# Written by bin/compile-requirements from pyproject.toml: change that, not this.\n"
SERVER = "What the default start needs. No torch."
STORAGE = ("boto3", "botocore", "jmespath", "s3transfer", "urllib3")
"""The extra ``s3`` with what it brings along; tests use it too, so its pins are those of dev.txt."""
DEV = "The server and what bin/test needs."
NODE = "A full node: server, torch, faiss. No hashes: builds of torch differ by platform. Never faiss-cpu beside this."


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns its exit status."""
    parser = argparse.ArgumentParser("bin/compile-requirements", description=DESCRIPTION)
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that pyproject.toml allows")
    options = parser.parse_args(arguments)
    return in_words(lambda: _compile_all(Places.here(), upgrade=options.upgrade))


def _compile_all(places: Places, *, upgrade: bool) -> int:
    places.make()
    install.ensure(places, "dev")
    folder = places.root / "requirements"
    _compile(places, ("server",), folder / "server.txt", SERVER, upgrade=upgrade)
    constraint = ("--constraint", str(folder / "server.txt"))
    _compile(places, ("server", "dev"), folder / "dev.txt", DEV, constraint, upgrade=upgrade)
    (places.root / "requirements.txt").write_text(full_node(places.root))
    return 0


def full_node(root: Path) -> str:
    """Return the text of ``requirements.txt``: server, extra ``gpu``, and what ``s3`` needs."""
    pins = pinned((root / "requirements" / "server.txt").read_text())
    tested = pinned((root / "requirements" / "dev.txt").read_text())
    storage = [pin for pin in tested if pin.partition("==")[0] in STORAGE]
    extra = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]["gpu"]
    return "\n".join([HEADER.format(words=NODE).rstrip("\n"), *sorted([*pins, *extra, *storage], key=str.lower)]) + "\n"


def pinned(text: str) -> list[str]:
    """Return the lines ``name==version`` of a compiled file, without hashes; a marker is kept."""
    return [match[1].strip() for match in re.finditer(r"^([A-Za-z0-9][^\s=]*==[^\\\n#]+)", text, re.MULTILINE)]


def _compile(
    places: Places, extras: tuple[str, ...], file: Path, words: str, more: tuple[str, ...] = (), *, upgrade: bool
) -> None:
    command = [str(places.python), "-m", "piptools", "compile", *COMPILE, *more, "--output-file", str(file)]
    command += [part for extra in extras for part in ("--extra", extra)]
    command += ["--upgrade"] if upgrade else []
    done = subprocess.run([*command, "pyproject.toml"], cwd=places.root, check=False)
    if done.returncode:
        raise Problem(f"pip-tools could not compile {file.name}; its words are above.")
    file.write_text(HEADER.format(words=words) + "\n".join(_without_header(file.read_text())) + "\n")


def _without_header(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]
