"""``manage.py import_circus FOLDER...``: CIRCUS's audited queries and subsets become the four circus boards."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluator.types import Split
from leaderboard.importers.circus import DATASETS, read_circus
from leaderboard.importers.refusal import FileMissing
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = (
        "Import CIRCUS from its release folder or index lists, together with the annotations that it audits. "
        "Data sets whose annotations are in none of the folders are skipped and named."
    )
    folders_help = "CIRCUS's release or index lists and the annotation folders; each file from the first that has it"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--dataset", action="append", choices=DATASETS, help="import this one or fail; may be repeated"
        )

    def read_splits(self, options: dict[str, Any]) -> list[Split]:
        folders = options["folders"]
        if options["dataset"]:
            return [read_circus(dataset, *folders) for dataset in dict.fromkeys(options["dataset"])]
        return self._read_what_is_there(folders)

    def _read_what_is_there(self, folders: list[Path]) -> list[Split]:
        splits, missing = [], []
        for dataset in DATASETS:
            try:
                splits.append(read_circus(dataset, *folders))
            except FileMissing as refusal:
                missing.append(refusal)
                self.stderr.write(f"circus-{dataset}: skipped. {refusal}")
        if not splits:
            raise FileMissing(*(difference for refusal in missing for difference in refusal.differences))
        return splits
