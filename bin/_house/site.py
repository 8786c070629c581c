"""What a site needs before it can start: tables, static files, the demo, the reported boards. Each once per content."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from _house.places import Places
from _house.problem import Problem
from _house.stamps import Stamps, digest

DATABASE = "cirboard.sqlite3"


@dataclass(frozen=True)
class Task:
    """One management command, and the files whose change calls for running it again."""

    command: tuple[str, ...]
    words: str
    sources: tuple[str, ...]


TASKS = (
    Task(("migrate", "--no-input"), "Making the tables", ("*/migrations/*.py", "requirements/server.txt")),
    Task(
        ("collectstatic", "--no-input", "--clear"),
        "Collecting static files",
        ("*/static/**/*", "requirements/server.txt", "config/settings.py"),
    ),
    Task(
        ("load_demo",), "Drawing and freezing the demo splits", ("demo/*.py", "leaderboard/**/*.py", "evaluator/*.py")
    ),
    Task(("load_reported",), "Loading the reported boards", ("leaderboard/**/*.py", "leaderboard/reported/*.json")),
)


DEMO_SUBMISSIONS = Task(("submit_demo",), "Sending the demo submissions", ("demo/*.py", "evaluator/__init__.py"))
"""Not prepared beforehand: it needs the running worker."""


def prepare(places: Places, environment: Mapping[str, str]) -> None:
    """Run every task that was not yet run for its content in this state folder and database."""
    if _uses_own_database(environment) and not (places.var / DATABASE).exists():
        _stamps(places).forget()
    for task in TASKS:
        if not is_done(places, environment, task):
            _run(places, environment, task)
            mark_done(places, environment, task)


def is_done(places: Places, environment: Mapping[str, str], task: Task) -> bool:
    """Return whether a task was run for its present content on the present database."""
    return _stamps(places).has(task.command[0], _digest(places, environment, task))


def mark_done(places: Places, environment: Mapping[str, str], task: Task) -> None:
    """Remember that it was."""
    _stamps(places).set(task.command[0], _digest(places, environment, task))


def _stamps(places: Places) -> Stamps:
    return Stamps(places.var / "stamps")


def _digest(places: Places, environment: Mapping[str, str], task: Task) -> str:
    return digest(_sources(places.root, task), task, environment.get("CIRBOARD_DATABASE_URL", ""))


def _uses_own_database(environment: Mapping[str, str]) -> bool:
    return not environment.get("CIRBOARD_DATABASE_URL")


def _sources(root: Path, task: Task) -> list[Path]:
    found = {file for pattern in task.sources for file in root.glob(pattern) if file.is_file()}
    return [file for file in found if "var" not in file.relative_to(root).parts]


def _run(places: Places, environment: Mapping[str, str], task: Task) -> None:
    print(f"{task.words} ...", end=" ", flush=True)
    started = time.monotonic()
    done = subprocess.run(
        [str(places.python), "manage.py", *task.command],
        cwd=places.root,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Problem(_failure(places, task, done.stdout + done.stderr))
    print(f"{time.monotonic() - started:.1f} s", flush=True)


def _failure(places: Places, task: Task, output: str) -> str:
    """Return what to say; the whole output goes to a log."""
    log = places.logs / f"{task.command[0]}.log"
    log.write_text(output)
    if "No space left on device" in output or "disk is full" in output:
        return "The disk is full. Free some space and run the command again."
    last = output.strip().splitlines()[-1:] or ["no output"]
    return f"`manage.py {' '.join(task.command)}` failed: {last[0]}\nThe whole output is in {log}."
