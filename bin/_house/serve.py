"""``bin/serve``: from a fresh clone to a running site, in one command."""

from __future__ import annotations

import argparse
import fcntl
import http.client
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from _house import install, ports, site
from _house.children import TICK, Supervisor
from _house.places import MEBIBYTE, Places, require_space
from _house.problem import Problem, in_words

DESCRIPTION = """
Starts the whole site on this machine: makes a virtual environment in var/venv, installs what the server needs, loads
the demo and the reported boards, sends the demo's baselines through the real queue, and keeps web, worker and sweep
alive until Ctrl-C. All state is in var/ (CIRBOARD_VAR moves it); logs are in var/log/. The second start takes seconds.
"""
DEFAULT_PORT = 8000
HIGHEST_PORT = 65_535
RUNNING_BYTES = 200 * MEBIBYTE
WEB_SECONDS = 60
DEMO_SECONDS = 300


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns its exit status: 0 after Ctrl-C on a running site."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    return in_words(lambda: _serve(arguments))


def chosen_port(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Return the port from ``--port``, else ``CIRBOARD_PORT``, else 8000."""
    parser = argparse.ArgumentParser("bin/serve", description=DESCRIPTION)
    parser.add_argument("--port", help=f"port to listen on, on this machine only (CIRBOARD_PORT or {DEFAULT_PORT})")
    given = parser.parse_args(arguments).port or environ.get("CIRBOARD_PORT") or str(DEFAULT_PORT)
    if not (given.isascii() and given.isdigit() and 1 <= int(given) <= HIGHEST_PORT):
        raise Problem(f"{given!r} is not a port: give a whole number from 1 to {HIGHEST_PORT}, or leave it out.")
    return int(given)


def require_port(port: int) -> None:
    """Raise a Problem where the port is taken."""
    if not ports.is_free(port):
        raise Problem(
            f"Port {port} is taken by another program, or not allowed. Stop that program, or choose another port: "
            f"`bin/serve --port {ports.free_port()}` would work."
        )


@contextmanager
def only_one(var: Path) -> Iterator[None]:
    """Hold the state folder: a second site in it would share queue and database by accident."""
    with (var / "serve.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Problem(
                f"A site already runs from {var} (process {lock.read().strip()}). Stop it with Ctrl-C where it was "
                "started, or set CIRBOARD_VAR to another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def commands(python: Path, port: int) -> dict[str, list[str]]:
    """Return the command line of every process of the site."""
    run = [str(python), "-m"]
    web = ["gunicorn", "config.wsgi:application", "--bind", f"{ports.LOOPBACK}:{port}", "--worker-class", "gthread"]
    web += ["--workers", "2", "--threads", "4", "--graceful-timeout", "5", "--access-logfile", "-"]
    web += ["--no-control-socket"]  # it would lie in the home folder
    worker = ["celery", "--app", "config", "worker", "--queues", "cpu,gpu", "--concurrency", "1", "--loglevel", "INFO"]
    return {
        "web": [*run, *web],
        "worker": [*run, *worker],
        "sweep": [str(python), "manage.py", "sweep", "--loop"],
    }


def _serve(arguments: Sequence[str]) -> int:
    started = time.monotonic()
    port = chosen_port(arguments, os.environ)
    places = Places.here()
    places.make()
    with only_one(places.var):
        require_port(port)
        install.ensure(places, "server")
        require_space(places.var, RUNNING_BYTES)
        environment = site_environment(os.environ, places, port)
        site.prepare(places, environment)
        _run(places, environment, port, started)
    return 0


def site_environment(environ: Mapping[str, str], places: Places, port: int) -> dict[str, str]:
    """Return the environment of the site's processes."""
    return {
        "CIRBOARD_SITE_URL": f"http://localhost:{port}",
        **environ,
        "CIRBOARD_VAR": str(places.var),
        "PYTHONUNBUFFERED": "1",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS else ends forked children of the worker
    }


def _run(places: Places, environment: dict[str, str], port: int, started: float) -> None:
    supervisor = Supervisor(places.root, environment, _say)
    try:
        for name, command in commands(places.python, port).items():
            supervisor.add(name, command, places.logs / f"{name}.log")
        _await_web(supervisor, port, places.logs / "web.log")
        _send_demo(supervisor, places, environment)
        _say(_greeting(places, environment, time.monotonic() - started))
        supervisor.watch()
    except KeyboardInterrupt:
        _say("\nStopping ...")
    finally:
        supervisor.stop()
    _say("Stopped.")


def _await_web(supervisor: Supervisor, port: int, log: Path) -> None:
    deadline = time.monotonic() + WEB_SECONDS
    supervisor.watch(until=lambda: start_page(port) is not None or time.monotonic() > deadline)
    status = start_page(port)
    if status is None:
        raise Problem(f"The site does not answer after {WEB_SECONDS} s; why stands in {log}.")
    if status >= http.client.INTERNAL_SERVER_ERROR:
        raise Problem(f"The start page fails with status {status}; why stands at the end of {log}.")


def start_page(port: int) -> int | None:
    """Return the HTTP status of the start page, None where nobody answers."""
    connection = http.client.HTTPConnection(ports.LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _send_demo(supervisor: Supervisor, places: Places, environment: dict[str, str]) -> None:
    """Send the demo submissions, once, and wait for their scores, while the site is looked after."""
    if site.is_done(places, environment, site.DEMO_SUBMISSIONS):
        return
    command = [str(places.python), "manage.py", "submit_demo", "--wait", str(DEMO_SECONDS)]
    quiet = {**environment, "CIRBOARD_LOG_LEVEL": "ERROR"}  # its lines are for the person who started this
    with subprocess.Popen(command, cwd=places.root, env=quiet) as sender:
        while sender.poll() is None:
            supervisor.look()
            time.sleep(TICK)
    if sender.returncode == 0:
        site.mark_done(places, environment, site.DEMO_SUBMISSIONS)
    else:
        _say(f"The demo submissions were not scored; the site runs without them. See {places.logs / 'worker.log'}")


def _greeting(places: Places, environment: Mapping[str, str], seconds: float) -> str:
    login = places.var / "demo-login.txt"
    return "\n".join(
        (
            "",
            f"cirboard runs at {environment['CIRBOARD_SITE_URL']} (ready after {seconds:.0f} s)",
            f"Log in with    {' / '.join(login.read_text().split()) if login.is_file() else 'an account of your own'}",
            f"State and logs {places.var}",
            "Stop it with   Ctrl-C",
        )
    )


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, flush=True)
