"""``bin/serve`` says what is wrong in a sentence, and starts what it says."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from _house import ports, serve, site
from _house.places import ROOT, Places, require_space
from _house.problem import Problem
from _house.stamps import Stamps, digest


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        ([], {}, 8000),
        (["--port", "8123"], {}, 8123),
        ([], {"CIRBOARD_PORT": "8124"}, 8124),
        (["--port", "8123"], {"CIRBOARD_PORT": "8124"}, 8123),
    ],
)
def test_the_port_is_the_argument_else_the_variable(
    arguments: list[str], environ: dict[str, str], expected: int
) -> None:
    assert serve.chosen_port(arguments, environ) == expected


@pytest.mark.parametrize("given", ["0", "65536", "-1", "http", "80.5", "٨٠"])
def test_what_is_no_port_is_a_sentence(given: str) -> None:
    with pytest.raises(Problem, match="is not a port: give a whole number from 1 to 65535"):
        serve.chosen_port([f"--port={given}"], {})


def test_a_taken_port_is_a_sentence_that_names_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind((ports.LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Problem, match=rf"Port {port} is taken.*bin/serve --port (\d+)") as caught:
            serve.require_port(port)
    offered = int(str(caught.value).split("--port ")[1].split("`")[0])
    assert ports.is_free(offered)


def test_a_second_site_in_the_same_folder_is_refused_and_the_first_is_named(tmp_path: Path) -> None:
    named = rf"already runs from .* \(process {os.getpid()}\)"
    with serve.only_one(tmp_path), pytest.raises(Problem, match=named), serve.only_one(tmp_path):
        pass
    with serve.only_one(tmp_path):
        assert (tmp_path / "serve.lock").read_text() == str(os.getpid())


def test_a_disk_without_space_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="The disk is nearly full"):
        require_space(tmp_path, 2**62)


def test_every_process_of_the_site_is_one_that_this_python_can_start() -> None:
    commands = serve.commands(Path(sys.executable), 8000)
    assert list(commands) == ["web", "worker", "sweep"]
    for command in commands.values():
        if command[1] == "-m":
            assert (
                subprocess.run([*command[:3], "--version"], capture_output=True, cwd=ROOT, check=False).returncode == 0
            )
        else:
            assert (ROOT / command[1]).is_file()


def test_the_environment_of_the_site_keeps_what_the_person_set(tmp_path: Path) -> None:
    places = Places(ROOT, tmp_path)
    assert serve.site_environment({}, places, 8001)["CIRBOARD_SITE_URL"] == "http://localhost:8001"
    given = {"CIRBOARD_SITE_URL": "https://board.example.org", "CIRBOARD_VAR": "relative"}
    environment = serve.site_environment(given, places, 8001)
    assert environment["CIRBOARD_SITE_URL"] == "https://board.example.org"
    assert environment["CIRBOARD_VAR"] == str(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    impossible = tmp_path / "file" / "var"
    done = subprocess.run(
        [sys.executable, str(ROOT / "bin" / "serve")],
        env={**os.environ, "CIRBOARD_VAR": str(impossible)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.strip() == f"The folder {impossible} cannot be made (Not a directory). Is CIRBOARD_VAR right?"


def test_stamps_remember_content_and_forget_when_told(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("one")
    stamps, first = Stamps(tmp_path / "stamps"), digest([source])
    assert not stamps.has("work", first)
    stamps.set("work", first)
    assert stamps.has("work", first)
    source.write_text("two")
    assert not stamps.has("work", digest([source]))
    assert not stamps.has("work", digest([source], "another fact"))
    stamps.forget()
    assert not stamps.has("work", first)


def test_what_prepares_a_site_depends_on_files_that_exist() -> None:
    for task in (*site.TASKS, site.DEMO_SUBMISSIONS):
        for pattern in task.sources:
            assert list(ROOT.glob(pattern)), f"{task.command[0]} looks for {pattern}, which matches nothing"
