"""``manage.py audit``: register a model, run its probes, add it to a pool, label, compare, freeze."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.models import AuditVersion, Encoder, Job, Pool
from audit.services import encoders, jobs, pools, running, versions
from audit.services.encoders import EncoderRefused
from audit.services.freezing import freeze
from audit.services.jobs import JobRefused
from audit.services.probes import ProbesMissing
from audit.services.versions import AuditRefused
from evaluator.audit.changes import flow, moves
from evaluator.audit.labels import K
from evaluator.cli.progress import ProgressBar
from evaluator.encoders import EncoderError, Spec
from leaderboard.models import SplitVersion

_REFUSALS = (AuditRefused, EncoderError, EncoderRefused, JobRefused, ProbesMissing)


class Command(BaseCommand):
    help = "Audit a split: which queries a single modality solves, by a pool of models that grows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        register = actions.add_parser("register", help="register an encoder from its JSON file")
        register.add_argument("spec", type=Path, metavar="SPEC.json")
        register.add_argument("--source-url", default="", help="where the weights are described")
        run = actions.add_parser("run", help="run an encoder over a split under all three conditions")
        run.add_argument("encoder")
        run.add_argument("split")
        run.add_argument("--queue", action="store_true", help="let a worker of the queue gpu do it")
        run.add_argument("--dtype", default="float32", help="lower precision is used only where ranks do not change")
        run.add_argument("--batch", type=int, default=0, help="inputs at a time; 0 for what suits model and device")
        pool = actions.add_parser("pool", help="make a pool, or add encoders to it")
        pool.add_argument("pool")
        pool.add_argument("--add", nargs="+", default=[], metavar="ENCODER")
        pool.add_argument("--remove", nargs="+", default=[], metavar="ENCODER")
        label = actions.add_parser("label", help="label a split by a pool's probes: a new audit version")
        label.add_argument("pool")
        label.add_argument("split")
        label.add_argument("--k", type=int, default=K, help=f"how far down a query counts as solved (default {K})")
        label.add_argument("--note", default="")
        compare = actions.add_parser("compare", help="say which queries moved between two audits, and why")
        compare.add_argument("split")
        compare.add_argument("before", type=int)
        compare.add_argument("after", type=int)
        frozen = actions.add_parser("freeze", help="make an audit's SF′ and V′ subsets of its split")
        frozen.add_argument("split")
        frozen.add_argument("number", type=int)
        actions.add_parser("list", help="list encoders, pools, audits and jobs")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            _ACTIONS[action](self, options)
        except _REFUSALS as refusal:
            raise CommandError(str(refusal)) from refusal

    def register(self, options: Mapping[str, Any]) -> None:
        """Register an encoder."""
        encoder, created = encoders.register(Spec.read(options["spec"]), source_url=options["source_url"])
        self.stdout.write(f"{encoder.slug}: {'registered' if created else 'known already'}.")

    def run_probes(self, options: Mapping[str, Any]) -> None:
        """Run an encoder here, with progress, or let a worker do it."""
        encoder, version = _encoder(options["encoder"]), _version(options["split"])
        send = bool(options["queue"])
        job, created = jobs.enqueue(encoder, version, dtype=options["dtype"], batch=options["batch"], send=send)
        if send or job.state == Job.State.RUNNING:
            self.stdout.write(f"Job {job.pk}: {job.get_state_display()}{'' if created else ', under way already'}.")
            return
        with ProgressBar(sys.stderr, encoder.name) as bar:
            running.run(job.pk, lambda word: _draw(bar, word))
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise CommandError(f"Job {job.pk} {job.get_state_display()}: {job.reason or 'a worker may try it again.'}")
        recalls = ", ".join(f"{probe.condition} {100 * probe.recall:.1f} %" for probe in job.probes.all())
        self.stdout.write(f"Job {job.pk}: done. Recall@10 on Full: {recalls}.")

    def pool(self, options: Mapping[str, Any]) -> None:
        """Make a pool, add and remove members."""
        known = Pool.objects.filter(slug=options["pool"]).first()
        pool, created = (known, False) if known else pools.ensure(options["pool"])
        added = [slug for slug in options["add"] if pools.add(pool, _encoder(slug))]
        removed = [slug for slug in options["remove"] if pools.remove(pool, _encoder(slug))]
        names = ", ".join(encoder.name for encoder in pools.encoders_of(pool)) or "nobody"
        done = f"{'made, ' if created else ''}{len(added)} added, {len(removed)} removed"
        self.stdout.write(f"{pool.slug}: {done}. Members: {names}.")

    def label(self, options: Mapping[str, Any]) -> None:
        """Make an audit version."""
        pool = Pool.objects.filter(slug=options["pool"]).first()
        if pool is None:
            raise CommandError(f"There is no pool called {options['pool']}.")
        audit, created = versions.make_version(pool, _version(options["split"]), k=options["k"], note=options["note"])
        counts = versions.labelling_of(audit).counts()
        words = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        self.stdout.write(f"{audit}: {'new' if created else 'unchanged'}. {words}.")

    def compare(self, options: Mapping[str, Any]) -> None:
        """Print what moved between two audits."""
        before, after = (_audit(options["split"], options[name]) for name in ("before", "after"))
        if before.ranks_key != after.ranks_key:
            raise CommandError("These two audits label other queries: they cannot be compared.")
        moved = moves(versions.labelling_of(before), versions.labelling_of(after))
        for (old, new), count in sorted(flow(moved).items(), key=lambda row: -row[1]):
            self.stdout.write(f"{count:6,}  {old} -> {new}")
        because = sorted({name for move in moved for name in move.because})
        self.stdout.write(f"{len(moved):,} queries moved{', because of ' if because else ''}{', '.join(because)}.")

    def freeze(self, options: Mapping[str, Any]) -> None:
        """Make SF′ and V′ subsets of the split."""
        audit = _audit(options["split"], options["number"])
        version, created = freeze(audit)
        sizes = ", ".join(
            f"{subset.name} {'absent' if subset.size is None else f'{subset.size:,}'}"
            for subset in version.subsets.all()
        )
        self.stdout.write(f"{version}: {'new' if created else 'unchanged'}. {sizes}.")
        if created:
            self.stdout.write("Run `manage.py rescore` to score the board's submissions on it.")

    def list(self, options: Mapping[str, Any]) -> None:
        """Print what there is."""
        for encoder in Encoder.objects.all():
            self.stdout.write(f"encoder  {encoder.slug}: {encoder.family}, {encoder.model} at {encoder.revision[:16]}")
        for pool in Pool.objects.all():
            names = ", ".join(encoder.slug for encoder in pools.encoders_of(pool))
            self.stdout.write(f"pool     {pool.slug}: {names}")
        for audit in AuditVersion.objects.select_related("split", "pool"):
            frozen = f", frozen as version {audit.frozen.number}" if audit.frozen else ""
            self.stdout.write(f"audit    {audit}: {audit.pool.slug}, K = {audit.k}, {audit.created_at:%F}{frozen}")
        for job in Job.objects.select_related("encoder", "version__split")[:20]:
            self.stdout.write(f"job      {job.pk}: {job}, {job.state}, {job.done:,} of {job.total:,} {job.reason}")


_ACTIONS: dict[str, Callable[[Command, Mapping[str, Any]], None]] = {
    "register": Command.register,
    "run": Command.run_probes,
    "pool": Command.pool,
    "label": Command.label,
    "compare": Command.compare,
    "freeze": Command.freeze,
    "list": Command.list,
}


def _draw(bar: ProgressBar, word: Mapping[str, Any]) -> None:
    if word.get("total"):
        bar(int(word["done"]), int(word["total"]))


def _encoder(slug: str) -> Encoder:
    found = Encoder.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no encoder called {slug}; `manage.py audit list` names them.")
    return found


def _version(slug: str) -> SplitVersion:
    found = SplitVersion.objects.filter(split__slug=slug, current=True).select_related("split").first()
    if found is None:
        raise CommandError(f"There is no board called {slug} whose split was imported here.")
    return found


def _audit(slug: str, number: int) -> AuditVersion:
    found = AuditVersion.objects.filter(split__slug=slug, number=number).select_related("split", "version").first()
    if found is None:
        raise CommandError(f"{slug} has no audit {number}; `manage.py audit list` names them.")
    return found
