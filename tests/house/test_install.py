"""An installation that fails says why; what is compiled matches pyproject.toml."""

from __future__ import annotations

import errno
import re
import sys
import tomllib
from pathlib import Path

import pytest
from _house import install, pins
from _house.places import ROOT, Places
from _house.problem import INTERRUPTED, Problem, explain, in_words
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FILES = {name: (ROOT / "requirements" / f"{name}.txt").read_text() for name in ("server", "dev")}
FILES["node"] = (ROOT / "requirements.txt").read_text()

FRAGILE_PIP = """#!/bin/sh
# A python whose pip gets a broken package the first {failures} times.
[ "$1" = -c ] && exit 0
case "$*" in *check) exit 0;; esac
echo "$@" >> '{folder}/calls'
[ "$(wc -l < '{folder}/calls')" -gt {failures} ] && exit 0
echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.'
exit 1
"""


def versions(text: str) -> dict[str, str]:
    pairs = (line.split(";")[0].strip().split("==") for line in pins.pinned(text))
    return {canonicalize_name(re.sub(r"\[.*", "", name)): version for name, version in pairs}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk became full"),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: Could not find a version that satisfies the requirement amqp==5.4.2 (from versions: none)\n"
            "ERROR: No matching distribution found for amqp==5.4.2",
            "cannot reach the package index",
        ),
        ("ERROR: No matching distribution found for numpy==2.4.6", "no build for this machine or this Python"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "not the one that was pinned"),
        ("some talk\nERROR: something new\nmore talk", "pip failed (ERROR: something new)"),
    ],
)
def test_a_failed_pip_is_explained(output: str, expected: str) -> None:
    assert expected in install.complaint(output)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(errno.ENOSPC, "The disk is full (/here)"), (errno.EACCES, "cannot be written to (/here)")],
)
def test_an_error_of_the_file_system_is_explained(code: int, expected: str) -> None:
    assert expected in explain(OSError(code, "words", "/here"))


def test_an_error_that_nobody_can_mend_is_not_hidden() -> None:
    with pytest.raises(OSError, match="strange"):
        explain(OSError(errno.EIO, "strange"))


def test_a_problem_is_said_and_fails_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise Problem("Do this instead.")

    def interrupt() -> int:
        raise KeyboardInterrupt

    assert in_words(fail) == 1
    assert capsys.readouterr().err == "\nDo this instead.\n"
    assert in_words(interrupt) == INTERRUPTED


def fragile_places(folder: Path, failures: int) -> Places:
    (folder / "requirements").mkdir()
    (folder / "requirements" / "server.txt").write_text("numpy==2.4.6\n")
    places = Places(folder, folder / "var")
    places.make()
    places.python.parent.mkdir(parents=True)
    places.python.write_text(FRAGILE_PIP.format(folder=folder, failures=failures))
    places.python.chmod(0o755)
    return places


@pytest.mark.parametrize(("failures", "passes"), [(1, True), (2, False)])
def test_a_download_that_broke_off_is_fetched_once_more(tmp_path: Path, failures: int, passes: bool) -> None:
    places = fragile_places(tmp_path, failures)
    if passes:
        install.ensure(places, "server")
    else:
        with pytest.raises(Problem, match="not the one that was pinned, twice"):
            install.ensure(places, "server")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert ["--no-cache-dir" in call for call in calls] == [False, True]


def test_nothing_but_the_pinned_file_is_asked_for(tmp_path: Path) -> None:
    """A resolver asked for coverage[toml], which is pinned as coverage, and broke on the day of its next release."""
    places = fragile_places(tmp_path, failures=0)
    install.ensure(places, "server")
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert "--no-deps" in call


def test_a_python_without_ensurepip_is_told_which_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    install.require_venv_module()
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(Problem, match=r"`apt install python3\.\d+-venv`"):
        install.require_venv_module()


@pytest.mark.parametrize(("file", "extras"), [("server", ("server",)), ("dev", ("server", "dev"))])
def test_compiled_files_satisfy_the_extras(file: str, extras: tuple[str, ...]) -> None:
    pinned = versions(FILES[file])
    for requirement in (Requirement(line) for extra in extras for line in EXTRAS[extra]):
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is not in {file}.txt: run bin/compile-requirements"
        assert requirement.specifier.contains(version), f"{requirement} is not met: run bin/compile-requirements"


def test_the_default_start_has_no_torch_and_every_pin_a_hash() -> None:
    assert not {"torch", "faiss-cpu", "faiss-gpu"} & set(versions(FILES["server"]))
    for text in (FILES["server"], FILES["dev"]):
        assert len(re.findall(r"== *\S+.*\\\n +--hash=sha256:", text)) == len(pins.pinned(text))


def test_the_distribution_holds_the_whole_evaluator() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {file.parent.relative_to(ROOT) for file in (ROOT / "evaluator").rglob("*.py")}
    assert {".".join(folder.parts) for folder in folders} == set(packages)


def test_development_has_the_same_server() -> None:
    server = versions(FILES["server"])
    assert server.items() <= versions(FILES["dev"]).items()


def test_a_full_node_is_the_server_with_torch_and_faiss_for_gpus() -> None:
    assert pins.full_node(ROOT) == FILES["node"], "run bin/compile-requirements"
    wanted = {"django", "djangorestframework", "celery", "redis", "torch", "faiss-gpu", "numpy", "pandas", "plotly"}
    assert wanted <= set(versions(FILES["node"]))
    assert "faiss-cpu" not in versions(FILES["node"])
