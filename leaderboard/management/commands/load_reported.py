"""``manage.py load_reported``: the numbers of ``leaderboard/reported/*.json`` stand on their boards."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.reported import ReportedFileError, read_reported
from leaderboard.services.reported import load_reported


class Command(BaseCommand):
    help = "Put the committed numbers of papers and releases on their boards, marked as reported. Idempotent."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = load_reported(read_reported())
        except ReportedFileError as error:
            raise CommandError(str(error)) from error
        for words in ("new", "changed", "unchanged", "removed"):
            names = getattr(loaded, words)
            self.stdout.write(f"{words}: {len(names)}")
            if words in ("changed", "removed"):
                self.stdout.writelines(f"  {name}" for name in names)
