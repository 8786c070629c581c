"""``manage.py rescore``: scores checked submissions on the current splits and evaluator where that is missing."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.models import Split
from submissions.models import Evaluation, Submission
from submissions.services.evaluations import score_again


class Command(BaseCommand):
    help = "Queue an evaluation for each checked submission that has none on the current splits and evaluator."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--split", help="only submissions made to this board (its slug)")

    def handle(self, *args: Any, split: str | None, **options: Any) -> None:
        rows = Submission.objects.filter(state=Submission.State.VALID, split__hidden_truth=False)
        if split is not None:
            if not Split.objects.filter(slug=split).exists():
                raise CommandError(f"There is no board called {split}.")
            rows = rows.filter(split__slug=split)
        alive = rows.filter(evaluations__state__in=_NOT_CANCELLED).distinct().select_related("split").order_by("pk")
        queued = sum(len(score_again(submission)) for submission in alive.iterator())
        self.stdout.write(f"Evaluations queued: {queued}.")


_NOT_CANCELLED = [state for state in Evaluation.State if state is not Evaluation.State.CANCELLED]
