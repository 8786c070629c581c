"""``manage.py sweep [--loop]``: takes up what workers and brokers lost. Runs where no worker lives."""

from __future__ import annotations

import itertools
import logging
import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connections

from submissions.services.leftovers import remove_leftovers
from submissions.services.sweep import sweep_all

log = logging.getLogger(__name__)

LEFTOVERS_EVERY = 100
"""Sweeps: what is left over is a day old at least, and looking for it reads folders."""


class Command(BaseCommand):
    help = "Take back expired leases, fail what waited too long, send lost messages again. Safe to run at any time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--loop", action="store_true", help=f"every {settings.SWEEP_SECONDS} s, until stopped")

    def handle(self, *args: Any, loop: bool, **options: Any) -> None:
        if not loop:
            self.stdout.write("\n".join(map(str, sweep_all())))
            remove_leftovers()
            return
        for turn in itertools.count():
            _sweep_and_go_on(leftovers=turn % LEFTOVERS_EVERY == 0)
            time.sleep(settings.SWEEP_SECONDS)


def _sweep_and_go_on(*, leftovers: bool) -> None:
    """Sweep; a database that is away for a while does not end the loop."""
    try:
        sweep_all()
        if leftovers:
            remove_leftovers()
    except DatabaseError:
        log.exception("this sweep broke off")
    finally:
        connections.close_all()
