"""``manage.py load_demo``: draws the demo benchmark into the state folder and freezes its two splits. Idempotent."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

import demo
from leaderboard.services.splits import freeze_split


class Command(BaseCommand):
    help = "Draw the demo benchmark and freeze its two splits. What is there already is left alone."

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = demo.write(settings.VAR / "demo")
        self.stdout.write(f"{len(manifest.images)} pictures and {len(manifest.rankings)} rankings are in VAR/demo.")
        for kind in demo.BUILDERS:
            version, created = freeze_split(demo.build(kind))
            self.stdout.write(f"{version}: {'new' if created else 'unchanged'}, {version.query_count} queries.")
