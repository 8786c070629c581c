"""What every import command does: read, say what was read, freeze unless it is a dry run, refuse in plain words."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from evaluator import bundle
from evaluator.types import Split
from leaderboard.importers.refusal import ImportRefused
from leaderboard.models import SplitVersion
from leaderboard.services.splits import freeze_split

Reader = Callable[..., Split]
"""Folders in, split out. Raises ImportRefused."""


class ImportCommand(BaseCommand):
    """Freezes the splits of :attr:`readers` from official files. Idempotent: the same content is one version."""

    readers: ClassVar[Sequence[Reader]] = ()
    folders_help: ClassVar[str] = ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help=self.folders_help)
        parser.add_argument("--dry-run", action="store_true", help="read and check everything, write nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import every split. All are read before the first is written, so a refusal leaves nothing half done."""
        try:
            splits = self.read_splits(options)
        except ImportRefused as refusal:
            lines = "\n".join(f"  - {difference}" for difference in refusal.differences)
            raise CommandError(f"Nothing was imported. These differ from what was published:\n{lines}") from refusal
        for split in splits:
            self.stdout.write(describe(split))
            self.stdout.write(self._checked(split) if options["dry_run"] else self._frozen(split))

    def read_splits(self, options: dict[str, Any]) -> list[Split]:
        """Return what :attr:`readers` make of the folders. Raises ImportRefused."""
        return [reader(*options["folders"]) for reader in self.readers]

    def _checked(self, split: Split) -> str:
        known = SplitVersion.objects.filter(split__slug=split.name, digest=bundle.digest(split)).first()
        return f"  dry run: {f'is version {known.number} already' if known else 'would be a new version'}"

    def _frozen(self, split: Split) -> str:
        version, created = freeze_split(split)
        return f"  version {version.number}: {'new' if created else 'unchanged'}, digest {version.digest[:16]}"


def describe(split: Split) -> str:
    """Return what was read, in a few lines: queries, galleries, judgments, subsets, what is absent and why."""
    subsets = ", ".join(f"{subset} {int(mask.sum()):,}" for subset, mask in split.subsets.items())
    lines = [
        f"{split.name}: {len(split):,} queries, {int(split.clusters.max()) + 1:,} clusters ({split.cluster_name})",
        f"  galleries: {', '.join(_gallery(split, position) for position in range(len(split.galleries)))}",
        f"  judgments: {'hidden truth' if split.hidden_truth else f'{len(split.judgments):,} lines'}",
        f"  subsets: {subsets}",
        *(f"  without {subset}: {reason}" for subset, reason in split.absent.items()),
    ]
    return "\n".join(lines)


def _gallery(split: Split, position: int) -> str:
    gallery = split.galleries[position]
    size = "open, its list is not at hand" if gallery.size is None else f"{gallery.size:,} images"
    return f"{gallery.name} ({size})"
