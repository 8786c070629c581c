"""``bin/test`` runs what it says."""

from __future__ import annotations

from _house import suite
from _house.suite import Outcome, Step


def test_everything_is_checked_and_the_tests_come_last() -> None:
    names = [step.name for step in suite.plan(fast=False, for_pytest=())]
    assert names[0] == "ruff"
    assert {"mypy", "import contracts", "templates", "migrations", "deployment check", "API schema"} <= set(names)
    assert names[-1] == "tests"


def test_arguments_go_to_pytest_alone() -> None:
    (only,) = suite.plan(fast=False, for_pytest=["tests/web", "-k", "board"])
    assert only.arguments == ("-m", "pytest", "tests/web", "-k", "board")


def test_fast_leaves_out_what_is_slow() -> None:
    *_, tests = suite.plan(fast=True, for_pytest=())
    assert "not slow and not browser" in tests.arguments


def test_the_report_ends_with_pytests_own_summary(capsys) -> None:
    checked = Outcome(Step("mypy", ()), passed=False, seconds=3.0)
    tested = Outcome(Step("tests", ()), passed=True, seconds=61.0, last_line="==== 12 passed in 60.01s ====")
    suite._report([checked, tested])
    lines = capsys.readouterr().out.splitlines()
    assert "     3.0 s  mypy  FAILED" in lines
    assert lines[-1] == "==== 12 passed in 60.01s ===="
