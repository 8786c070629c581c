"""``manage.py import_circus_pool DATASET FOLDER...``: CIRCUS's released best ranks become the frozen CIRCUS pool."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.services.frozen import Imported, PoolRefused, import_pool
from evaluator.audit.labels import KINDS, LABELS
from leaderboard.importers.circus import DATASETS
from leaderboard.importers.refusal import ImportRefused


class Command(BaseCommand):
    help = (
        "Import what CIRCUS's pool of retrievers said of every query of one data set: best ranks, supports, best "
        "models. Labels must follow from the ranks, and counts must be the published ones. The split itself is "
        "imported before, by import_circus."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", choices=DATASETS)
        parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="CIRCUS's release")
        parser.add_argument("--dry-run", action="store_true", help="read and check everything, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            imported = import_pool(options["dataset"], options["folders"], dry_run=options["dry_run"])
        except ImportRefused as refusal:
            lines = "\n".join(f"  - {difference}" for difference in refusal.differences)
            raise CommandError(f"Nothing was imported. These differ from what was published:\n{lines}") from refusal
        except PoolRefused as refusal:
            raise CommandError(f"Nothing was imported. {refusal}") from refusal
        self.stdout.write(describe(imported))
        self.stdout.write(_outcome(imported, dry_run=options["dry_run"]))


def describe(imported: Imported) -> str:
    """Return what the pool says of the split, in a few lines."""
    labelling = imported.labelling
    counts = labelling.counts()
    labels = ", ".join(f"{label} {counts[str(label)]:,}" for label in LABELS)
    kinds = ", ".join(f"{kind} {counts[str(kind)]:,}" for kind in KINDS)
    return "\n".join(
        [
            f"{imported.version.split.slug}: {len(labelling):,} queries, {labelling.models} models, K = {labelling.k}",
            f"  labels: {labels}",
            f"  shortcuts from: {kinds}",
        ]
    )


def _outcome(imported: Imported, *, dry_run: bool) -> str:
    if dry_run:
        return f"  dry run: {'would be new' if imported.created else 'is there already'}"
    return f"  {imported.encoder.name}: {'new' if imported.created else 'unchanged'}"
