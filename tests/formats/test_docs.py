"""``docs/formats.md`` has a heading for every format and every fault code, and none that means nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluator.errors import FAULTS
from evaluator.formats import FORMATS
from evaluator.formats.csv_files import COLUMNS
from evaluator.formats.json_lines import IMAGE_KEYS, QUERY_KEYS

TEXT = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### (.+)$", TEXT, re.MULTILINE)


def test_every_format_and_every_fault_has_its_heading() -> None:
    assert sorted(HEADINGS) == sorted([*(form.title for form in FORMATS.values()), *FAULTS])


@pytest.mark.parametrize("code", FAULTS)
def test_every_fault_is_explained(code: str) -> None:
    section = TEXT.split(f"\n### {code}\n")[1].split("\n#")[0]
    assert len(section.split()) >= 5


def test_every_name_of_a_key_or_column_is_told() -> None:
    names = {*QUERY_KEYS, *IMAGE_KEYS, *(name for names in COLUMNS.values() for name in names)}
    assert {name for name in names if f"`{name}`" not in TEXT} == set()


def test_codes_are_used() -> None:
    """A code that nothing reports would be a promise that nobody keeps."""
    root = Path(__file__).parents[2]
    paths = [path for part in ("evaluator", "submissions") for path in (root / part).rglob("*.py")]
    sources = "".join(path.read_text() for path in paths if path.name != "errors.py")
    assert {code for code in FAULTS if f'"{code}"' not in sources} == set()
