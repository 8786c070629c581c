"""Writes a frozen split into the database: the bundle to storage, its content to rows, in one transaction."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from evaluator import bundle
from evaluator import types as ev
from leaderboard import boards
from leaderboard.models import Benchmark, Cluster, Judgment, Query, Split, SplitVersion, Subset

BATCH = 2_000


@transaction.atomic
def ensure_boards() -> None:
    """Make or refresh the rows of every benchmark and board of :mod:`leaderboard.boards`. Idempotent."""
    for position, benchmark in enumerate(boards.BENCHMARKS):
        Benchmark.objects.update_or_create(
            slug=benchmark.slug,
            defaults={
                "name": benchmark.name,
                "summary": benchmark.summary,
                "paper_title": benchmark.paper_title,
                "paper_url": benchmark.paper_url,
                "position": position,
            },
        )
    for position, board in enumerate(boards.BOARDS):
        Split.objects.update_or_create(
            slug=board.slug,
            defaults={
                "benchmark": Benchmark.objects.get(slug=board.benchmark),
                "name": board.name,
                "summary": board.summary,
                "licence": board.licence,
                "source_url": board.source_url,
                "hidden_truth": board.hidden_truth,
                "official_server_url": board.official_server_url,
                "position": position,
            },
        )


def freeze_split(split: ev.Split) -> tuple[SplitVersion, bool]:
    """Store ``split`` as the current version of its board and return it, and whether it is new.

    The same content again is the same version (decision 1); content that was current before becomes current again.
    """
    ensure_boards()
    digest = bundle.digest(split)
    with transaction.atomic():
        board = Split.objects.select_for_update().get(slug=split.name)
        version = SplitVersion.objects.filter(split=board, digest=digest).first()
        created = version is None
        if version is None:
            version = _create_version(board, split, digest)
        _make_current(version)
    return version, created


def _create_version(board: Split, split: ev.Split, digest: str) -> SplitVersion:
    newest = SplitVersion.objects.filter(split=board).order_by("-number").first()
    number = newest.number + 1 if newest else 1
    sizes = [gallery.size for gallery in split.galleries]
    version = SplitVersion.objects.create(
        split=board,
        number=number,
        digest=digest,
        fit_key=bundle.fit_key(split),
        bundle=_store_bundle(split, digest),
        protocol=asdict(split.protocol),
        query_count=len(split),
        gallery_size=None if None in sizes else sum(size for size in sizes if size is not None),
        cluster_name=split.cluster_name,
        cluster_count=int(split.clusters.max()) + 1,
    )
    queries = _create_queries(version, split)
    _create_subsets(version, split, queries)
    if not split.hidden_truth:
        _create_judgments(split, queries)
    return version


def _store_bundle(split: ev.Split, digest: str) -> str:
    name = f"splits/{split.name}-{digest[:16]}.bundle"
    if default_storage.exists(name):
        return name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle"
        bundle.save(split, path)
        with path.open("rb") as opened:
            return default_storage.save(name, File(opened))


def _create_queries(version: SplitVersion, split: ev.Split) -> list[Query]:
    numbers = range(int(split.clusters.max()) + 1)
    clusters = Cluster.objects.bulk_create((Cluster(version=version, number=n) for n in numbers), batch_size=BATCH)
    groups: list[dict[str, list[str]]] = [{} for _ in range(len(split))]
    for dimension, values in split.groups.items():
        for value, mask in values.items():
            for position in mask.nonzero()[0]:
                groups[position].setdefault(dimension, []).append(value)
    return Query.objects.bulk_create(
        (
            Query(
                version=version,
                position=position,
                native_id=name,
                text=split.texts[position],
                references=[split.images[image] for image in split.references[position]],
                groups=groups[position],
                cluster=clusters[split.clusters[position]],
            )
            for position, name in enumerate(split.query_ids)
        ),
        batch_size=BATCH,
    )


def _create_subsets(version: SplitVersion, split: ev.Split, queries: list[Query]) -> None:
    through = Subset.queries.through
    for position, name in enumerate(split.protocol.subsets):
        mask = split.subsets.get(name)
        subset = Subset.objects.create(
            version=version,
            name=name,
            position=position,
            size=None if mask is None else int(mask.sum()),
            absent_reason="" if mask is not None else split.absent.get(name, "The list was not at hand."),
        )
        if mask is not None:
            rows = (through(subset_id=subset.pk, query_id=queries[i].pk) for i in mask.nonzero()[0])
            through.objects.bulk_create(rows, batch_size=BATCH)


def _create_judgments(split: ev.Split, queries: list[Query]) -> None:
    lines = split.judgments
    judged = (lines.positive | lines.negative | lines.target).nonzero()[0]
    Judgment.objects.bulk_create(
        (
            Judgment(
                query=queries[lines.query[i]],
                image=split.images[lines.image[i]],
                positive=bool(lines.positive[i]),
                negative=bool(lines.negative[i]),
                target=bool(lines.target[i]),
            )
            for i in judged
        ),
        batch_size=BATCH,
    )


def _make_current(version: SplitVersion) -> None:
    SplitVersion.objects.filter(split=version.split, current=True).exclude(pk=version.pk).update(current=False)
    SplitVersion.objects.filter(pk=version.pk).update(current=True)
    version.current = True
