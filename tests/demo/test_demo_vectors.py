"""The demo's method that is sent as vectors: its files, and its Composition Gap as docs/measures.md reckons it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sending import ROOT, work

import demo
from evaluator import bundle, scoring
from evaluator.search import judged_ranks
from evaluator.types import Condition, Embeddings, Split, Subset
from evaluator.vectors import VectorFile, read_embeddings

HEADING = "## A Composition Gap by hand"
Row = tuple[str, tuple[tuple[int, ...], ...], tuple[float, ...]]


def page() -> str:
    """Return the calculation as the page prints it."""
    return (ROOT / "docs" / "measures.md").read_text().split(HEADING)[1]


def rows() -> Iterator[Row]:
    """Yield query, ranks under each condition, nDCG under each condition."""
    for line in page().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| circus-"):
            ranks = tuple(tuple(map(int, cell.split(", "))) for cell in cells[1:4])
            yield cells[0], ranks, tuple(map(float, cells[4:]))


def gain(ranks: tuple[int, ...]) -> float:
    best = math.fsum(1 / math.log2(1 + rank) for rank in range(1, len(ranks) + 1))
    return math.fsum(1 / math.log2(1 + rank) for rank in ranks) / best


def gap_by_hand() -> float:
    """Return the gap of the ranks on the page, in plain arithmetic."""
    means = [math.fsum(gain(ranks[at]) for _, ranks, _ in rows()) / len(list(rows())) for at in range(3)]
    return 1 - max(means[1:]) / means[0]


@pytest.fixture(scope="module")
def split(demo_folder: Path) -> Split:
    manifest = demo.read_manifest(demo_folder)
    assert manifest is not None
    return bundle.load(demo_folder / manifest.bundles["demo-circus"])


@pytest.fixture(scope="module")
def vectors(demo_folder: Path, split: Split) -> dict[Condition, Embeddings]:
    """The files, read as a server reads them."""
    files = files_of(demo_folder)
    queries = {
        Condition.MULTIMODAL: VectorFile(files["multimodal"]),
        Condition.TEXT_ONLY: VectorFile(files["text_only"], files["text_only_ids"]),
        Condition.IMAGE_ONLY: VectorFile(files["image_only"]),
    }
    return read_embeddings(VectorFile(files["gallery"]), queries, split)


def files_of(folder: Path) -> dict[str, Path]:
    manifest = demo.read_manifest(folder)
    assert manifest is not None
    return {vectors.field: folder / vectors.file for vectors in manifest.vectors}


def test_the_arithmetic_of_the_page_is_right() -> None:
    found = list(rows())
    assert len(found) == 59
    for _, ranks, gains in found:
        assert [round(gain(each), 4) for each in ranks] == list(gains)
    sums = [math.fsum(gain(ranks[at]) for _, ranks, _ in found) for at in range(3)]
    assert " | ".join(f"{total:.4f}" for total in sums) in page()
    assert " | ".join(f"{total / 59:.6f}" for total in sums) in page()
    assert f"**{gap_by_hand():.4f}**" in page()


def test_the_ranks_of_the_page_are_those_of_the_vectors(split: Split, vectors: dict[Condition, Embeddings]) -> None:
    """By sorting plain cosines in float64: no search, no bound, no block."""
    told = {query: dict(zip(Condition, ranks, strict=True)) for query, ranks, _ in rows()}
    judgments = split.judgments
    for condition, embeddings in vectors.items():
        gallery = embeddings.gallery.astype(np.float64)
        gallery /= np.linalg.norm(gallery, axis=1, keepdims=True)
        for name, ranks in told.items():
            query = split.query_index[name]
            scores = gallery @ embeddings.queries[query].astype(np.float64)
            place = np.empty(len(scores), dtype=int)
            place[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
            right = judgments.image[(judgments.query == query) & judgments.positive]
            assert tuple(sorted(place[right].tolist())) == ranks[condition], (name, condition)


def test_the_evaluator_finds_the_gap_of_the_page(split: Split, vectors: dict[Condition, Embeddings]) -> None:
    ranks = {condition: judged_ranks(each, split) for condition, each in vectors.items()}
    card = scoring.score(split, ranks)
    (value,) = (s.value for s in card.scores if (s.measure, s.subset) == ("CompositionGap", Subset.V))
    assert value == pytest.approx(gap_by_hand(), abs=1e-12)


def test_vectors_and_judged_ranks_give_the_same_at_home(demo_folder: Path, tmp_path: Path) -> None:
    """``score --gallery``, and ``ranks`` followed by ``score``: one number, whichever way vectors are used."""
    manifest = demo.read_manifest(demo_folder)
    assert manifest is not None
    files, split = files_of(demo_folder), demo_folder / manifest.bundles["demo-circus"]

    def run(*arguments: object) -> str:
        command = [sys.executable, "-m", "evaluator", *map(str, arguments), "--split", str(split)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    queries = ("--image-only", files["image_only"], "--gallery", files["gallery"])
    direct = json.loads(run("score", files["multimodal"], *queries, "--json"))
    run("ranks", "--multimodal", files["multimodal"], *queries, "--out", tmp_path)
    one, two = (next(tmp_path.glob(f"*.{condition}.ranks.csv")) for condition in ("multimodal", "image-only"))
    assert json.loads(run("score", one, "--image-only", two, "--json"))["scores"] == direct["scores"]


@pytest.mark.django_db
def test_the_site_shows_the_gap_of_the_page(client: Any) -> None:
    from django.core.management import call_command

    from leaderboard.models import Entry
    from submissions.models import Submission
    from submissions.services.publication import publish

    call_command("load_demo", verbosity=0)
    call_command("submit_demo", verbosity=0)
    work()
    submission = Submission.objects.get(kind="embeddings")
    publish(submission)
    entry = Entry.objects.get(evaluation__submission=submission)
    score = entry.scores.get(measure="CompositionGap", subset="V", group="")
    assert score.value == pytest.approx(gap_by_hand(), abs=1e-12)
    shown = re.sub(r"\s+", " ", client.get(f"/entries/{entry.public_id}/").content.decode())
    assert f"{gap_by_hand():.3f}" in shown
