"""``bin/test``: everything that must hold, in one command."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from _house import install, services
from _house.places import Places
from _house.problem import Problem, in_words

DESCRIPTION = """
Runs everything that must hold: formatting, linters, types, import contracts, templates, migrations, Django's checks,
the API's schema, and all tests; those of submissions and uploads again on PostgreSQL and Redis, which it starts itself.
Arguments are handed to pytest, which then runs alone: `bin/test tests/web -k board`.
"""
OTHER_STACK = ("tests/submissions", "tests/uploads")
QUICK = ("-m", "not slow and not browser")
PRODUCTION = {
    "CIRBOARD_MODE": "production",
    "CIRBOARD_SECRET_KEY": "only-checked-here-" + "".join(f"{number:02}" for number in range(40)),
    "CIRBOARD_ALLOWED_HOSTS": "board.example.org",
}


@dataclass(frozen=True)
class Step:
    """One thing to run in the virtual environment: ``python ARGUMENTS``."""

    name: str
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a step went. ``last_line`` is pytest's summary."""

    step: Step
    passed: bool
    seconds: float
    last_line: str = ""


CHECKS = (
    Step("ruff", ("-m", "ruff", "check", ".")),
    Step("ruff format", ("-m", "ruff", "format", "--check", ".")),
    Step(
        "mypy",
        (
            "-m",
            "mypy",
        ),
    ),
    Step("import contracts", ("-c", "from importlinter.cli import lint_imports_command as run; run()")),
    Step("templates", ("-m", "djlint", "--lint", "--quiet", ".")),
    Step("migrations", ("manage.py", "makemigrations", "--check", "--dry-run")),
    Step("django check", ("manage.py", "check", "--fail-level", "WARNING")),
    Step("deployment check", ("manage.py", "check", "--deploy", "--fail-level", "WARNING"), PRODUCTION),
    Step("API schema", ("manage.py", "spectacular", "--validate", "--fail-on-warn", "--file", os.devnull)),
)


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns its exit status."""
    parser = argparse.ArgumentParser("bin/test", description=DESCRIPTION, allow_abbrev=False)
    told = "leave out slow and browser tests and the second stack, and do without torch where it is not installed"
    parser.add_argument("--fast", action="store_true", help=told)
    options, for_pytest = parser.parse_known_args(arguments)
    return in_words(lambda: _run_all(Places.here(), fast=options.fast, for_pytest=for_pytest))


def plan(*, fast: bool, for_pytest: Sequence[str]) -> list[Step]:
    """Return the steps to run on the embedded stack, in order; the last one is the tests."""
    if for_pytest:
        return [Step("tests", ("-m", "pytest", *(QUICK if fast else ()), *for_pytest))]
    spread = ("-n", "auto", "--dist", "loadfile")
    return [*CHECKS, Step("tests", ("-m", "pytest", *spread, *(QUICK if fast else ())))]


def _run_all(places: Places, *, fast: bool, for_pytest: Sequence[str]) -> int:
    places.make()
    install.ensure(places, "dev")
    if not fast:
        install.ensure(places, "encoders")
    *checks, tests = plan(fast=fast, for_pytest=for_pytest)
    with tempfile.TemporaryDirectory(prefix="cirboard-checks-") as state:
        outcomes = [_run(places, step, {"CIRBOARD_VAR": state}) for step in checks]
    if not fast and not for_pytest:
        outcomes += _on_the_other_stack(places)
    outcomes.append(_run(places, tests, {}))
    _report(outcomes)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _on_the_other_stack(places: Places) -> list[Outcome]:
    """Run the tests of submissions on a PostgreSQL and a Redis of our own, where the machine has them."""
    if not (services.redis_server() and services.postgres_binaries()):
        if os.environ.get("CI"):
            raise Problem("redis-server or PostgreSQL's binaries were not found, and CI needs both.")
        print(
            "\n-- SKIPPED: tests on PostgreSQL and Redis (install redis-server and postgresql to run them)", flush=True
        )
        return []
    with ExitStack() as stack:
        urls = {
            "CIRBOARD_TEST_DATABASE_URL": stack.enter_context(services.postgres()),
            "CIRBOARD_TEST_BROKER_URL": stack.enter_context(services.redis()),
        }
        arguments = ("-m", "pytest", "-n", "auto", "--dist", "loadfile", *OTHER_STACK)
        return [_run(places, Step("tests on PostgreSQL and Redis", arguments, urls), {})]


def _run(places: Places, step: Step, environment: dict[str, str]) -> Outcome:
    """Run one step, passing its output on while it comes."""
    print(f"\n-- {step.name}", flush=True)
    started = time.monotonic()
    command = [str(places.python), *_coloured(step.arguments)]
    variables = {**os.environ, **environment, **step.environment, "PYTHONUNBUFFERED": "1"}
    last_line = ""
    with subprocess.Popen(
        command, cwd=places.root, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            last_line = line.rstrip() or last_line
    outcome = Outcome(step, process.returncode == 0, time.monotonic() - started, last_line)
    print(f"-- {step.name}: {_verdict(outcome)}", flush=True)
    return outcome


def _coloured(arguments: Sequence[str]) -> list[str]:
    """Ask pytest for colours on a terminal: it sees a pipe."""
    wanted = sys.stdout.isatty() and "pytest" in arguments
    return [*arguments, *(["--color=yes"] if wanted else [])]


def _report(outcomes: Iterable[Outcome]) -> None:
    """Print what took how long, and pytest's own summary last."""
    outcomes = list(outcomes)
    print("\n-- In all")
    for outcome in outcomes:
        print(f"{outcome.seconds:8.1f} s  {outcome.step.name}{'' if outcome.passed else '  FAILED'}")
    print(f"{sum(outcome.seconds for outcome in outcomes):8.1f} s")
    print(outcomes[-1].last_line, flush=True)


def _verdict(outcome: Outcome) -> str:
    return f"{'ok' if outcome.passed else 'FAILED'}, {outcome.seconds:.1f} s"
