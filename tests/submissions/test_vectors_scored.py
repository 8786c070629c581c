"""Vectors from their rows to scores: what is ranked, kept, told and used again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.utils import timezone
from sending import work
from vectors.vector_writers import bfloat16
from vectors_sent import npz, send_vectors, vectors_of, written

from demo import circus_split
from evaluator import scoring
from evaluator.search import judged_ranks, top_k
from evaluator.store import load_run
from evaluator.types import Condition, Ranking
from submissions.models import Evaluation
from submissions.services import failures, ranking, states, validation
from submissions.services.evaluations import score_again

pytestmark = pytest.mark.django_db


def done(submission: Any) -> Any:
    work()
    submission.refresh_from_db()
    return submission


@pytest.mark.parametrize("kind", ["circo", "cirr", "fashioniq", "pinpoint", "circus-single"])
def test_three_conditions_are_scored_with_the_ranks_of_the_search(
    user: Any, make_board: Any, tmp_path: Path, kind: str
) -> None:
    """Every number of the entry is the one that the command line gives for the same vectors."""
    board = make_board(kind)
    content, vectors = board.content, vectors_of(board.content)
    submission = done(send_vectors(user, board, written(content, tmp_path, vectors)))
    assert (submission.state, submission.faults, submission.reason) == ("valid", [], "")
    assert {run.format for run in submission.runs.all()} == {"npz vectors"}
    evaluation = submission.evaluations.get(version__split=board.split)
    assert (evaluation.state, evaluation.percent, evaluation.reason) == ("scored", 100, "")
    ranks = {condition: judged_ranks(each, content, device="numpy") for condition, each in vectors.items()}
    card = scoring.score(content, ranks)
    stored = {(row.measure, row.subset, row.condition, row.group): row.value for row in evaluation.entry.scores.all()}
    assert stored == {(s.measure, s.subset, s.condition or "", s.group): s.value for s in card.scores}
    assert (evaluation.entry.similarity, evaluation.entry.ranks_by_author) == ("cosine", False)
    for condition, name in evaluation.entry.ranks_files.items():
        kept: Any = load_run(Path(default_storage.path(name)))
        assert np.array_equal(kept.rank, ranks[Condition(condition)].rank)


def test_the_nearest_fifty_are_kept_as_a_ranking(user: Any, make_board: Any, tmp_path: Path) -> None:
    """Public report A31: a gallery smaller than what is asked for leaves no -1 among the images."""
    for kind in ("circo", "fashioniq", "cirr"):
        board = make_board(kind)
        content, vectors = board.content, vectors_of(board.content)
        submission = done(send_vectors(user, board, written(content, tmp_path, vectors), method_name=kind))
        run = submission.runs.get(condition="multimodal")
        kept = load_run(Path(default_storage.path(run.arrays)))
        assert isinstance(kept, Ranking)
        mine = vectors[Condition.MULTIMODAL]
        for query, row in enumerate(kept.images):
            gallery = content.galleries[content.gallery_of[query]].images
            near = top_k(replace(mine, queries=mine.queries[[query]], gallery=mine.gallery[gallery]), len(gallery))
            wanted = gallery[near.images[0]].tolist()
            if content.protocol.remove_reference:
                wanted = [at for at in wanted if at not in content.references[query]]
            assert row[: kept.length[query]].tolist() == wanted[:50]
            assert kept.length[query] == min(50, len(wanted))


def test_two_boards_are_ranked_once(user: Any, make_board: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """Decision 3: what one upload is scored on twice need not be multiplied twice, where the same images are judged."""
    board = make_board("circo")
    twin = make_board(content=replace(board.content, name="tiny-circo-twin"))
    ranked: list[int] = []
    before = ranking._rank
    monkeypatch.setattr(ranking, "_rank", lambda *facts: ranked.append(1) or before(*facts))
    submission = done(send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content))))
    found = {each.version.split.slug: each.entry for each in submission.evaluations.all()}
    assert set(found) == {board.split.slug, twin.split.slug}
    assert len(ranked) == 1
    assert None not in found.values()


def test_scoring_again_after_the_vectors_are_gone(user: Any, make_board: Any, tmp_path: Path) -> None:
    """Decision 26: kept ranks serve another version that judges no more; else the evaluation says what to do."""
    board = make_board("circo")
    content = board.content
    submission = done(send_vectors(user, board, written(content, tmp_path, vectors_of(content))))
    for file in submission.files.all():
        default_storage.delete(file.stored)
    submission.files.update(removed_at=timezone.now())
    fewer = np.arange(len(content.judgments)) != 0
    judgments = replace(
        content.judgments,
        **{
            name: getattr(content.judgments, name)[fewer]
            for name in ("query", "image", "positive", "negative", "target", "member")
        },
    )
    make_board(content=replace(content, judgments=judgments, version=2))
    submission.refresh_from_db()
    (again,) = score_again(submission)
    work()
    again.refresh_from_db()
    assert (again.state, again.reason) == ("scored", "")


def test_ranks_that_do_not_cover_a_version_end_in_words(user: Any, make_board: Any, tmp_path: Path) -> None:
    board = make_board("circo")
    content = board.content
    submission = done(send_vectors(user, board, written(content, tmp_path, vectors_of(content))))
    submission.files.update(removed_at=timezone.now())
    for evaluation in submission.evaluations.all():
        default_storage.delete(ranking.ranks_file(evaluation, Condition.MULTIMODAL))
    other = make_board("circo", content=replace(content, name="another"))
    (again,) = score_again(submission)
    work()
    again.refresh_from_db()
    assert again.version.split == other.split
    assert again.state == "cancelled"
    assert "The vectors were deleted on" in again.reason
    assert "Send the vectors again" in again.reason
    assert again.reference == ""


def test_a_child_that_runs_out_of_memory_tries_once_more_with_smaller_blocks(
    user: Any, make_board: Any, tmp_path: Path, monkeypatch: Any, caplog: Any
) -> None:
    board = make_board("circo")
    submission = send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content)))
    validation.validate(submission.pk)
    before = ranking.rank_all

    def first_runs_out(sent: Any, split: Any, folder: Path, times_smaller: int = 0) -> Any:
        if not times_smaller:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return before(sent, split, folder, times_smaller)

    monkeypatch.setattr(ranking, "rank_all", first_runs_out)
    work()
    assert submission.evaluations.get().state == "scored"
    assert caplog.text.count("memory did not suffice to rank with a block") == 1


@pytest.mark.parametrize("how", ["says so", "is killed"])
def test_memory_that_never_suffices_is_our_fault(
    user: Any, make_board: Any, tmp_path: Path, monkeypatch: Any, caplog: Any, how: str
) -> None:
    import os
    import signal

    def runs_out(*facts: Any) -> Any:
        if how == "says so":
            raise MemoryError
        os.kill(os.getpid(), signal.SIGKILL)

    board = make_board("circo")
    submission = send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content)))
    validation.validate(submission.pk)
    monkeypatch.setattr(ranking, "rank_all", runs_out)
    work()
    evaluation = submission.evaluations.get()
    assert (evaluation.state, evaluation.attempt) == ("failed", 1)
    assert evaluation.reference in evaluation.reason
    assert caplog.text.count("memory did not suffice to rank with a block") == 2


def test_the_row_says_how_far_the_ranking_is(user: Any, make_board: Any, tmp_path: Path, monkeypatch: Any) -> None:
    """The percentage is read by pages while the child works, and stays below what scoring then adds."""
    board = make_board("circo")
    submission = send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content)))
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    monkeypatch.setattr(failures, "_TOLD_SECONDS", 0)
    claim = states.claim_evaluation(evaluation.pk)
    assert claim is not None
    folder = tmp_path / "child"
    folder.mkdir()
    tick = ranking._Tick(folder, failures.LeaseKeeper(claim, (0, 90)))
    seen = []
    tick()
    for number in range(2):
        tell = ranking._teller(folder, number, 2)
        for done_ in (0, 50, 100):
            tell(done_, 100)
            tick()
            seen.append(Evaluation.objects.get(pk=evaluation.pk).percent)
    assert seen == [0, 22, 45, 45, 67, 90]


def test_the_child_that_looks_at_vectors_is_bounded(user: Any, make_board: Any, tmp_path: Path, settings: Any) -> None:
    """Compressed vectors unpack into memory: beyond the limit it is the author's to save them otherwise."""
    board = make_board("circo")
    content = board.content
    files = written(content, tmp_path, vectors_of(content))
    large = np.zeros((1500, 16_000))  # what a process has free already must not serve
    with files["gallery"].open("wb") as opened:
        np.savez_compressed(opened, vectors=large, ids=np.array(content.images))
    settings.READ_MEMORY_BYTES = 2**20
    submission = done(send_vectors(user, board, files))
    assert (submission.state, [fault["code"] for fault in submission.faults]) == ("invalid", ["needs-memory"])
    assert "numpy.savez" in submission.faults[0]["remedy"]


def test_bfloat16_in_any_order_is_no_fault(user: Any, make_board: Any, tmp_path: Path, settings: Any) -> None:
    """Widened, then put into the split's order: five times the file. A gallery of a gigabyte was refused for that."""
    board = make_board(content=circus_split())
    content, vectors = board.content, vectors_of(board.content, width=16_000)
    order = np.random.default_rng(1).permutation(len(content.images))
    mine = vectors[Condition.MULTIMODAL]
    gallery = tmp_path / "gallery.safetensors"
    bfloat16(gallery, mine.gallery[order], [content.images[at] for at in order])
    files = {"gallery": gallery, "multimodal": npz(mine.queries, content.query_ids, tmp_path / "queries.npz")}
    settings.READ_MEMORY_BYTES = 2**20
    submission = done(send_vectors(user, board, files))
    assert (submission.state, submission.faults) == ("valid", [])
    assert submission.evaluations.get().state == "scored"
