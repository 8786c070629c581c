"""docs/audit.md names what the code has: every problem of an encoder, every family."""

from __future__ import annotations

from _house.places import ROOT

from evaluator.encoders.problems import PROBLEMS
from evaluator.encoders.registry import FAMILIES

TEXT = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")


def test_every_problem_has_a_line() -> None:
    assert [code for code in PROBLEMS if f"| `{code}` |" not in TEXT] == []


def test_no_line_is_about_a_problem_that_does_not_exist() -> None:
    section = TEXT[TEXT.index("## When an encoder cannot go on") :]
    codes = {line.split("`")[1] for line in section.splitlines() if line.startswith("| `")}
    assert codes <= set(PROBLEMS)


def test_every_family_has_a_heading() -> None:
    assert [name for name in FAMILIES if f"### `{name}`" not in TEXT] == []
