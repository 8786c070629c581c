"""Encoders as their pages show them, and jobs while they run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from audit.models import Encoder, Job, Probe
from audit.selectors.report import jobs_shown
from evaluator.audit.report_tables import TITLES
from leaderboard.models import SplitVersion

_SENTENCES = {
    Job.State.QUEUED: "Waiting for a worker of the queue gpu.",
    Job.State.RUNNING: "Running.",
    Job.State.DONE: "Done: its ranks are stored and can be labelled.",
    Job.State.FAILED: "Failed.",
    Job.State.CANCELLED: "Cancelled.",
}
_MARKS = {Job.State.RUNNING: "scoring", Job.State.DONE: "scored"}


@dataclass(frozen=True)
class ProbedSplit:
    """An encoder's probes on one split: Recall@10 in [0, 1] by condition, None where it was not run."""

    version: SplitVersion
    recalls: tuple[float | None, ...]

    @property
    def shown(self) -> tuple[str, ...]:
        """The same in percent."""
        return tuple("–" if recall is None else f"{100 * recall:.2f}" for recall in self.recalls)


@dataclass(frozen=True)
class EncoderPage:
    """The card of an encoder."""

    encoder: Encoder
    conditions: tuple[tuple[str, str], ...]
    """(condition in words, how it is built); empty before it first ran."""
    probed: tuple[ProbedSplit, ...]
    jobs: tuple[Job, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(TITLES.values())


@dataclass(frozen=True)
class JobStanding:
    """A job as its page shows it, and as the live script compares it."""

    job: Job

    @property
    def final(self) -> bool:
        return self.job.state not in Job.WAITING

    @property
    def mark(self) -> str:
        """The class of the mark, one that the style sheet has."""
        return _MARKS.get(Job.State(self.job.state), self.job.state)

    @property
    def sentence(self) -> str:
        return _SENTENCES[Job.State(self.job.state)]

    @property
    def percent(self) -> int:
        return min(100, int(100 * self.job.done / self.job.total)) if self.job.total else 0

    @property
    def progress(self) -> str:
        """Where it is, in words: ``text-only: 1,200 of 4,512 inputs, 35.1 a second, about 2 min left``."""
        job = self.job
        if not job.total:
            return ""
        parts = [f"{job.done:,} of {job.total:,} inputs"]
        if not self.final and job.rate:
            parts.append(f"{job.rate:,.1f} a second")
        if not self.final and job.seconds_left is not None:
            parts.append(f"about {_duration(job.seconds_left)} left")
        return (f"{job.phase}: " if job.phase and not self.final else "") + ", ".join(parts)

    @property
    def fingerprint(self) -> str:
        """Changes when the page must be loaded anew; progress alone is written into it by the script."""
        told = f"{self.job.pk} {self.job.state} {self.job.attempt} {self.job.reason}"
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def state(self) -> Mapping[str, object]:
        """Return what the live script asks for."""
        return {
            "fingerprint": self.fingerprint,
            "state": self.job.state,
            "ahead": None,
            "sentence": self.sentence,
            "progress": self.progress,
            "percent": self.percent,
        }


def encoder_page(slug: str) -> EncoderPage:
    """Return an encoder's card in a fixed number of queries. Raises Encoder.DoesNotExist."""
    encoder = Encoder.objects.get(slug=slug)
    rows = Probe.objects.filter(encoder=encoder, version__split__hidden_truth=False)
    probed: dict[int, dict[str, float]] = {}
    versions: dict[int, SplitVersion] = {}
    for probe in rows.select_related("version__split").order_by("version__split__position", "version_id"):
        versions[probe.version_id] = probe.version
        probed.setdefault(probe.version_id, {})[probe.condition] = probe.recall
    return EncoderPage(
        encoder=encoder,
        conditions=tuple(
            (words, encoder.conditions[str(name)]) for name, words in TITLES.items() if str(name) in encoder.conditions
        ),
        probed=tuple(
            ProbedSplit(versions[pk], tuple(recalls.get(str(name)) for name in TITLES))
            for pk, recalls in probed.items()
        ),
        jobs=tuple(jobs_shown().filter(encoder=encoder)[:50]),
    )


def job_standing(pk: int) -> JobStanding:
    """Return a job as its page shows it. Raises Job.DoesNotExist."""
    return JobStanding(jobs_shown().get(pk=pk))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 0):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
