"""``manage.py audit_demo``: trains the small encoder, runs it over the demo's splits, labels them. Idempotent.

``bin/audit-demo`` installs what this needs and calls it.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from audit.models import AuditVersion, Encoder, Job
from audit.services import encoders, jobs, pools, probes, running, versions
from audit.services.encoders import EncoderRefused
from audit.services.jobs import JobRefused
from demo import emoji, training
from demo.training import Prepared
from evaluator import bundle
from evaluator.cli.progress import ProgressBar
from evaluator.encoders import EncoderError, Spec
from leaderboard.models import SplitVersion
from leaderboard.services.splits import freeze_split

PREPARED: Mapping[str, Callable[..., Prepared]] = {"demo-circus": training.prepare, "demo-emoji": emoji.prepare}
"""Board -> what takes its pictures and trains its encoder."""


class Command(BaseCommand):
    help = "Audit the demo's splits with a small real encoder. What is done is not done again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "splits", nargs="*", metavar="SPLIT", help=f"{', '.join(PREPARED)}; all where none is named"
        )

    def handle(self, *args: Any, splits: list[str], **options: Any) -> None:
        unknown = [slug for slug in splits if slug not in PREPARED]
        if unknown:
            raise CommandError(f"No demo split is called {unknown[0]}: choose from {', '.join(PREPARED)}.")
        try:
            for slug in splits or PREPARED:
                self._audit(slug)
        except (EncoderError, JobRefused, emoji.SourceError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or 'A file'}: {error.strerror or error}") from error

    def _audit(self, slug: str) -> None:
        started = time.monotonic()
        self.stdout.write(f"{slug}: taking pictures and training heads ...")
        prepared = _prepare(slug)
        trained = time.monotonic()
        version, _ = freeze_split(bundle.load(prepared.bundle))
        encoder = _registered(Spec.read(prepared.spec))
        self.stdout.write(f"{slug}: {encoder.name} is ready after {trained - started:.0f} s; encoding and ranking ...")
        _run(encoder, version)
        audit = _labelled(encoder, version)
        counts = versions.labelling_of(audit).counts()
        words = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        self.stdout.write(f"{audit}: {words} ({time.monotonic() - started:.0f} s in all).")


def _prepare(slug: str) -> Prepared:
    with ProgressBar(sys.stderr, slug) as bar:
        return PREPARED[slug](Path(settings.VAR), lambda _what, done, total: bar(done, total))


def _registered(spec: Spec) -> Encoder:
    """Return the encoder; heads that were trained otherwise are another one, so they get another name."""
    try:
        return encoders.register(spec)[0]
    except EncoderRefused:
        return encoders.register(replace(spec, name=f"{spec.name} {spec.revision[:8]}"))[0]


def _run(encoder: Encoder, version: SplitVersion) -> None:
    if probes.is_complete(encoder, version):
        return
    job, created = jobs.enqueue(encoder, version, send=False)
    if not created:
        raise CommandError(f"{encoder} is run over {version.split} already: job {job.pk} is {job.state}.")
    with ProgressBar(sys.stderr, encoder.name) as bar:
        running.run(job.pk, lambda word: bar(word["done"], word["total"]) if word.get("total") else None)
    job.refresh_from_db()
    if job.state != Job.State.DONE:
        raise CommandError(f"{encoder} on {version.split}: {job.reason or job.state}")


def _labelled(encoder: Encoder, version: SplitVersion) -> AuditVersion:
    """Label by the encoder alone: the demo's pool has the newest small encoder of each split, and whom others add."""
    pool, _ = pools.ensure(version.split.slug, "The small encoder of this split.")
    for other in pools.encoders_of(pool):
        if other.family == encoder.family and other != encoder:
            pools.remove(pool, other)
    pools.add(pool, encoder)
    return versions.make_version(pool, version)[0]
