"""A Python that is too old finds a newer one, or says what to install."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from _house import oldest

BIN = Path(oldest.__file__).parent.parent
COMMANDS = ("serve", "test", "compile-requirements")
READ_BEFORE_THE_CHECK = (
    *(BIN / command for command in COMMANDS),
    Path(oldest.__file__),
    BIN / "_house" / "__init__.py",
)


def make_python(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o755)
    return made


@pytest.mark.parametrize("file", READ_BEFORE_THE_CHECK, ids=lambda file: file.name)
def test_an_old_python_can_read_what_runs_before_the_check(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 4))
    newer = (ast.AnnAssign, ast.JoinedStr, ast.NamedExpr, ast.Match)
    assert not [node for node in ast.walk(tree) if isinstance(node, newer)]
    assert not any(isinstance(node, ast.FunctionDef) and node.returns for node in ast.walk(tree))


def test_the_newest_that_runs_is_found_and_a_shim_that_starts_nothing_is_passed_over(tmp_path: Path) -> None:
    make_python(tmp_path / "shims", "python3.13", "echo 'command not found' >&2; exit 127")
    expected = make_python(tmp_path / "real one", "python3.12", f"exec '{sys.executable}' \"$@\"")
    make_python(tmp_path / "real one", "python3.11", f"exec '{sys.executable}' \"$@\"")
    path = os.pathsep.join([str(tmp_path / "nowhere"), str(tmp_path / "shims"), str(tmp_path / "real one")])
    assert oldest.find_newer(path) == str(expected)


def test_one_that_is_too_old_is_not_found(tmp_path: Path) -> None:
    make_python(tmp_path, "python3.11", "exit 1")
    assert oldest.find_newer(str(tmp_path)) is None


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_newer_one_there_is_a_sentence_and_no_traceback(command: str, tmp_path: Path) -> None:
    lie = "import sys; sys.version_info = (3, 6, 15); sys.argv = sys.argv[1:]; exec(open(sys.argv[0]).read())"
    lie = f"import sys; __file__ = sys.argv[1]; {lie}"
    done = subprocess.run(
        [sys.executable, "-c", lie, str(BIN / command)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs Python 3.11 or newer. This is Python 3.6" in done.stderr
    assert "python3.11-venv" in done.stderr
    assert "Traceback" not in done.stderr
