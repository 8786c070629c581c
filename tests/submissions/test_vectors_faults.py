"""What is wrong with vectors is said with the author's file name, the row and the remedy; nothing in them is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sending import WorkerProcess, until, work, worker_environment
from vectors_sent import npz, send_vectors, vectors_of, written

from evaluator.types import Condition, Embeddings
from submissions import selectors
from submissions.models import Evaluation, Submission
from submissions.services import dispatch
from submissions.services.sweep import sweep

pytestmark = pytest.mark.django_db
Vectors = dict[Condition, Embeddings]


@pytest.fixture
def vectors(board: Any) -> Vectors:
    return vectors_of(board.content)


@pytest.fixture
def check(user: Any, board: Any, tmp_path: Path, vectors: Vectors) -> Callable[..., Submission]:
    """Return what sends vectors, some files exchanged, and has them checked."""

    def go(**exchanged: Path) -> Submission:
        files = written(board.content, tmp_path, vectors)
        sent: Submission = send_vectors(user, board, {**files, **exchanged})
        work()
        sent.refresh_from_db()
        return sent

    return go


def test_report_a13_a_row_that_is_not_finite_is_named(
    check: Callable[..., Submission], board: Any, vectors: Vectors, tmp_path: Path
) -> None:
    """Report A13: NaN was once taken for 0, elsewhere for the best of all."""
    gallery = vectors[Condition.MULTIMODAL].gallery.copy()
    gallery[3, 2], gallery[5, 0] = np.nan, np.inf
    sent = check(gallery=npz(gallery, board.content.images, tmp_path / "broken.npz"))
    assert sent.state == "invalid"
    rows = [(fault["code"], fault["condition"], fault["file"], fault["place"].split(" (")[0]) for fault in sent.faults]
    assert rows == [("vector-not-finite", "gallery", "broken.npz", f"row {row}") for row in (3, 5)]
    assert board.content.images[3] in sent.faults[0]["place"]
    assert all(fault["remedy"] for fault in sent.faults)


def test_report_a27_one_image_missing_and_one_too_many_are_named(
    check: Callable[..., Submission], board: Any, vectors: Vectors, tmp_path: Path
) -> None:
    """Report A27: methods were scored over other galleries than they said."""
    gallery, names = vectors[Condition.MULTIMODAL].gallery, list(board.content.images)
    missing = names[4]
    names[4] = "stranger"
    sent = check(gallery=npz(gallery, names, tmp_path / "gallery.npz"))
    found = {fault["code"]: fault for fault in sent.faults}
    assert set(found) == {"vector-missing", "unknown-image"}
    assert missing in found["vector-missing"]["place"]
    assert "stranger" in found["unknown-image"]["found"]


def test_report_a27_a_shuffled_gallery_gives_the_same_scores(
    check: Callable[..., Submission], board: Any, vectors: Vectors, tmp_path: Path
) -> None:
    order = np.random.default_rng(3).permutation(len(board.content.images))
    gallery, names = vectors[Condition.MULTIMODAL].gallery, np.array(board.content.images)
    one, other = check(), check(gallery=npz(gallery[order], names[order], tmp_path / "shuffled.npz"))

    def scores(sent: Submission) -> list[Any]:
        return list(sent.evaluations.get().entry.scores.order_by("pk").values_list("measure", "subset", "value"))

    assert scores(one) == scores(other)


def test_report_a32_queries_of_another_dimension_are_refused(
    check: Callable[..., Submission], board: Any, tmp_path: Path
) -> None:
    queries = np.ones((len(board.content), 7), np.float32)
    sent = check(multimodal=npz(queries, board.content.query_ids, tmp_path / "short.npz"))
    (fault,) = sent.faults
    assert (fault["code"], fault["file"], fault["condition"]) == ("vector-dimension", "short.npz", "multimodal")


@pytest.mark.parametrize("name", ["member.npz", "objects.npy", "weights.pt"])
def test_report_a25_nothing_is_unpickled(
    check: Callable[..., Submission], board: Any, tmp_path: Path, name: str
) -> None:
    """Report A25: object arrays, a pickle inside an archive, a renamed one. The sentinel tells who opened it."""
    import pickle

    sentinel, path = tmp_path / "sentinel", tmp_path / name

    class Touch:
        def __reduce__(self) -> Any:
            return Path.touch, (sentinel,)

    if name == "weights.pt":
        path.write_bytes(pickle.dumps(Touch()))
    else:
        array = np.array([[Touch()]], dtype=object)
        with path.open("wb") as opened:
            np.save(opened, array) if name.endswith("npy") else np.savez(opened, vectors=array, ids=np.array(["a"]))
    sent = check(multimodal=path)
    assert sent.state == "invalid"
    assert {fault["code"] for fault in sent.faults} == {"vector-objects"}
    assert not sentinel.exists()


def test_faults_of_all_files_come_together(
    check: Callable[..., Submission], board: Any, vectors: Vectors, tmp_path: Path
) -> None:
    names = board.content.query_ids
    zero = np.zeros((len(names), 16), np.float32)
    text = npz(vectors[Condition.TEXT_ONLY].queries[1:], names[1:], tmp_path / "text.npz")
    sent = check(**{"text-only": text, "image-only": npz(zero, names, tmp_path / "image.npz")})
    assert {(fault["condition"], fault["code"]) for fault in sent.faults} == {
        ("text-only", "vector-missing"),
        ("image-only", "vector-zero"),
    }
    assert sent.quota_state == "returned" or sent.more_faults == 0


def test_vectors_wait_in_a_queue_of_their_own(user: Any, board: Any, tmp_path: Path, vectors: Vectors) -> None:
    """A worker for rankings must not be told of vectors; the status page says who is missing."""
    send_vectors(user, board, written(board.content, tmp_path, vectors))
    assert dispatch.queue_of("embeddings") == "gpu"
    assert dispatch.queue_of("rankings") == "cpu"
    waiting = {queue.queue: queue.waiting for queue in selectors.status().queues}
    assert waiting == {"cpu": 0, "gpu": 1}
    assert any("gpu" in sentence for sentence in selectors.status().sentences)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_without_gpu_takes_both_and_survives_kill_9_while_it_ranks(
    user: Any, board: Any, tmp_path: Path, vectors: Vectors
) -> None:
    """``kill -9`` in the middle of ranking: another worker takes it up, and the numbers are those of one attempt."""
    from celery import current_app

    current_app.control.purge()
    environment = worker_environment()
    arguments = ("-m", "celery", "-A", "config", "worker", "-Q", "cpu,gpu", "-c", "1", "-l", "INFO")
    worker = WorkerProcess(environment, tmp_path / "worker.log", (*arguments, "--without-gossip", "--without-mingle"))
    sent = send_vectors(user, board, written(board.content, tmp_path, vectors))
    worker.start()
    try:
        dispatch.send_submission(sent.pk)
        until(lambda: Evaluation.objects.filter(state="scoring").exists(), every=0.005)
        worker.kill()
        interrupted = Evaluation.objects.get()
        assert (interrupted.state, interrupted.attempt) == ("scoring", 1), "it must be in the middle of it"
        worker.start()
        until(lambda: sweep() and Evaluation.objects.get().state == "scored", every=0.5)
    finally:
        worker.kill()
        current_app.control.purge()
    evaluation = Evaluation.objects.get()
    assert evaluation.attempt > 1
    assert evaluation.entry.scores.exists()
