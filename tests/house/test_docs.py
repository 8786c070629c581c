"""README and docs are true: commands exist, links resolve, and nothing names somebody's machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlparse

import pytest
from _house.places import ROOT

TRACKED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
FILES = [ROOT / name for name in TRACKED.split("\0") if name and (ROOT / name).is_file()]
PAGES = sorted(file for file in FILES if file.suffix == ".md")
PROSE = "\n".join(page.read_text() for page in PAGES)

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|Users|work)/\w+")
REGISTRY = re.compile(
    r"https?://[^\s/\"')]*(?:pypi|pythonhosted|npmjs|mirror|index|simple)[^\s\"')]*|--(?:extra-)?index-url \S+"
)


def texts() -> dict[str, str]:
    """Return the text of every tracked file that is text."""
    found = {}
    for file in FILES:
        try:
            found[str(file.relative_to(ROOT))] = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        place, _, heading = target.partition("#")
        if urlparse(target).scheme:
            continue
        linked = (page.parent / place).resolve() if place else page
        assert linked.exists(), f"{target} does not exist"
        assert not heading or heading in anchors(linked), f"{target}: no such heading"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_commands_in_the_docs_exist() -> None:
    for command in set(re.findall(r"(?<![\w/.])((?:bin|\.ci)/[a-z-]+)\b(?!/)", PROSE)):
        assert (ROOT / command).is_file(), f"{command} does not exist"
        assert (ROOT / command).stat().st_mode & 0o111, f"{command} cannot be run"


def test_management_commands_in_the_docs_exist() -> None:
    from django.core.management import get_commands

    mentioned = set(re.findall(r"manage\.py ([a-z_]+)", PROSE))
    assert mentioned <= set(get_commands())


def test_evaluator_commands_in_the_docs_exist() -> None:
    for command in sorted(set(re.findall(r"python -m evaluator ([a-z]+)", PROSE))):
        done = subprocess.run(
            [sys.executable, "-m", "evaluator", command, "--help"], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode == 0, f"python -m evaluator {command}"


def test_paths_in_tables_exist() -> None:
    for path in set(re.findall(r"^\| `([a-z_.]*/[a-z_./]*)` \|", PROSE, re.MULTILINE)):
        assert (ROOT / path).exists(), f"{path} does not exist"


def test_decisions_are_numbered_without_a_gap_and_code_cites_existing_ones() -> None:
    numbers = [
        int(number) for number in re.findall(r"^(\d+)\. ", (ROOT / "docs/decisions.md").read_text(), re.MULTILINE)
    ]
    assert numbers == list(range(1, len(numbers) + 1))
    cited = {int(n) for text in texts().values() for n in re.findall(r"\(decisions? (\d+)", text)}
    assert cited <= set(numbers)


def test_no_file_names_a_machine_path_or_a_registry() -> None:
    for name, text in texts().items():
        if name == "tests/house/test_docs.py":
            continue
        assert not (found := MACHINE_PATH.search(text)), f"{name}: {found and found[0]}"
        assert not (found := REGISTRY.search(text)), f"{name}: {found and found[0]}"


def test_the_licence_is_the_one_that_pyproject_names() -> None:
    assert 'license = "MIT"' in (ROOT / "pyproject.toml").read_text()
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
