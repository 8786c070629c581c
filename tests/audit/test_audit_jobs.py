"""A job runs the evaluator's command in a child; whatever happens, its row says how it ended."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sending import WorkerProcess, until, worker_environment

pytestmark = pytest.mark.django_db(transaction=True)
WIDTH = 6


@pytest.fixture
def board(db: None) -> Any:
    """``tiny-circus-single`` over 60 pictures of one colour each, in the folder of pictures."""
    from demo import tiny_split
    from leaderboard.models import Benchmark, Split
    from leaderboard.services.splits import freeze_split

    benchmark, _ = Benchmark.objects.get_or_create(slug="tiny", defaults={"name": "Tiny"})
    content = tiny_split("circus-single")
    Split.objects.update_or_create(slug=content.name, defaults={"name": content.name, "benchmark": benchmark})
    return freeze_split(content)[0]


@pytest.fixture
def pictures(board: Any) -> Path:
    from django.conf import settings
    from PIL import Image

    from leaderboard import bundles

    folder = Path(settings.IMAGES) / board.split.slug
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(bundles.load(board).images):
        Image.new("RGB", (4, 4), (number, 0, 255)).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def vectors(board: Any) -> Any:
    """An encoder of family ``files``, whose vectors are at hand."""
    from audit.services.encoders import register
    from audit.services.running import specs_folder
    from evaluator.encoders import Spec
    from leaderboard import bundles

    split = bundles.load(board)
    chance = np.random.default_rng(5)
    folder = specs_folder() / "vectors"
    folder.mkdir(parents=True, exist_ok=True)
    for name, ids in (("gallery", split.images), *((each, split.query_ids) for each in CONDITIONS)):
        rows = chance.standard_normal((len(ids), WIDTH)).astype(np.float32)
        np.savez(folder / f"{name}.npz", ids=np.array(ids), vectors=rows)
    options = {"gallery": "vectors/gallery.npz", "queries": {name: f"vectors/{name}.npz" for name in CONDITIONS}}
    return register(Spec("Vectors", "files", "a model elsewhere", "release 1", options=options))[0]


CONDITIONS = ("multimodal", "text-only", "image-only")


class SlowApi(ThreadingHTTPServer):
    """Answers each input with a vector of its own after a pause, and counts the inputs; ``status`` is what it says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.pause, self.status, self.inputs = 0.02, 200, 0


class _Answer(BaseHTTPRequestHandler):
    server: SlowApi

    def do_POST(self) -> None:
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["inputs"]
        time.sleep(self.server.pause * len(rows))
        self.server.inputs += len(rows)
        found = [
            np.random.default_rng(abs(hash(json.dumps(row))) % 2**32).standard_normal(WIDTH).tolist() for row in rows
        ]
        content = json.dumps({"vectors": found}).encode()
        try:
            self.send_response(self.server.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # who asked was killed

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def api() -> Iterator[SlowApi]:
    server = SlowApi()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def remote(api: SlowApi, pictures: Path) -> Any:
    from audit.services.encoders import register
    from evaluator.encoders import Spec

    shape = {
        "url": f"http://127.0.0.1:{api.server_address[1]}/embed",
        "body": {"inputs": "{inputs}"},
        "input": {"parts": "{parts}", "role": "{role}"},
        "text": {"text": "{text}"},
        "picture": {"picture": "{base64}"},
        "vectors": "vectors.*",
        "query_role": "query",
        "gallery_role": "document",
        "together": 4,
    }
    options = {"api": shape, "tries": 2, "first_wait_seconds": 0.01}
    return register(Spec("Slow", "remote", "slow-1", "today", options=options))[0]


def enqueue(encoder: Any, version: Any, **more: Any) -> Any:
    from audit.services.jobs import enqueue

    return enqueue(encoder, version, send=False, **more)[0]


def run(job: Any) -> Any:
    from audit.services import running

    running.run(job.pk)
    job.refresh_from_db()
    return job


def test_a_job_leaves_three_probes_and_what_the_encoder_says_of_itself(vectors: Any, board: Any) -> None:
    from audit.services import probes
    from evaluator.search import judged_ranks
    from evaluator.types import Condition, Embeddings
    from leaderboard import bundles

    job = run(enqueue(vectors, board))
    assert (job.state, job.reason, job.dtype) == ("done", "", "float32")
    assert (job.done, job.total) == (60 + 3 * 12, 60 + 3 * 12)
    split = bundles.load(board)
    folder = probes.Path(worker_environment()["CIRBOARD_VAR"]) / "encoders" / "vectors"
    found = probes.judged(vectors, board)
    for condition in Condition:
        rows = [np.load(folder / f"{name}.npz")["vectors"] for name in (condition, "gallery")]
        assert (found[condition].rank == judged_ranks(Embeddings(*rows), split).rank).all()
    vectors.refresh_from_db()
    assert vectors.dimension == WIDTH
    assert set(vectors.conditions) == set(CONDITIONS)


def test_one_that_was_run_is_not_run_again_and_one_under_way_is_begun_once(vectors: Any, board: Any) -> None:
    from audit.services.jobs import JobRefused, enqueue

    job, created = enqueue(vectors, board, send=False)
    assert created
    assert enqueue(vectors, board, send=False) == (job, False)
    run(job)
    with pytest.raises(JobRefused, match="run over tiny-circus-single already"):
        enqueue(vectors, board, send=False)


def test_what_is_wrong_with_the_encoder_is_said_in_its_own_words_and_not_tried_again(
    board: Any, pictures: Path
) -> None:
    from audit.services.encoders import register
    from evaluator.encoders import Spec

    options = {"gallery": "nowhere.npz", "queries": dict.fromkeys(CONDITIONS, "nowhere.npz")}
    encoder, _ = register(Spec("Broken", "files", "x", "1", options=options))
    job = run(enqueue(encoder, board))
    assert (job.state, job.attempt) == ("failed", 1)
    assert "nowhere.npz" in job.reason
    assert "Traceback" not in job.reason


def test_a_missing_picture_is_named(remote: Any, board: Any, pictures: Path) -> None:
    name = sorted(pictures.glob("*.png"))[7]
    name.unlink()
    job = run(enqueue(remote, board))
    assert job.state == "failed"
    assert name.stem in job.reason


def test_an_api_that_keeps_failing_is_tried_again_and_costs_no_finished_shard(
    remote: Any, board: Any, api: SlowApi
) -> None:
    job = enqueue(remote, board)
    api.status = 503
    assert run(job).state == "queued"
    assert job.attempt == 1
    api.status = 200
    assert run(job).state == "done"


def test_a_cancelled_job_stops_its_child_and_keeps_what_is_done(remote: Any, board: Any, api: SlowApi) -> None:
    from audit.models import Job
    from audit.services import jobs, running

    api.pause = 0.1
    job = enqueue(remote, board)
    worker = threading.Thread(target=running.run, args=(job.pk,))
    worker.start()
    until(lambda: Job.objects.get(pk=job.pk).done > 4)
    assert jobs.cancel(job)
    worker.join(30)
    assert not worker.is_alive()
    told = api.inputs
    time.sleep(0.6)
    assert api.inputs <= told + 4, "the child goes on"
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_killed_worker_is_taken_back_by_the_sweep_and_another_goes_on(
    remote: Any, board: Any, api: SlowApi, tmp_path: Path
) -> None:
    """``kill -9`` of worker and children: the next attempt encodes no finished shard again."""
    from celery import current_app

    from audit.models import Job
    from audit.services.jobs import enqueue

    current_app.control.purge()
    queue = ("-m", "celery", "-A", "config", "worker", "-Q", "gpu", "-c", "1", "--without-gossip", "--without-mingle")
    worker = WorkerProcess(worker_environment(), tmp_path / "worker.log", queue)
    sweeper = WorkerProcess(
        {**worker_environment(), "CIRBOARD_SWEEP_SECONDS": "1"},
        tmp_path / "sweep.log",
        ("manage.py", "sweep", "--loop"),
    )
    api.pause = 0.05
    try:
        worker.start()
        sweeper.start()
        job, _ = enqueue(remote, board)
        until(lambda: Job.objects.get(pk=job.pk).done > 64)  # the gallery, 60, is one finished shard
        worker.kill()
        before = api.inputs
        worker.start()
        until(lambda: Job.objects.get(pk=job.pk).state == "done")
        job.refresh_from_db()
        assert job.attempt == 2
        assert api.inputs - before <= 3 * 12 + 4, "the gallery was encoded again"
    finally:
        worker.kill()
        sweeper.kill()
        current_app.control.purge()


def test_the_sweep_gives_up_after_three_workers_were_lost(vectors: Any, board: Any) -> None:
    from datetime import timedelta

    from django.utils import timezone

    from audit.models import Job
    from audit.services import jobs, sweep

    job = enqueue(vectors, board)
    for _ in range(3):
        assert jobs.claim(job.pk) is not None
        Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        sweep.sweep()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "3 times" in job.reason


def test_splits_that_cannot_be_run_say_why(vectors: Any, board: Any) -> None:
    from audit.services.encoders import register
    from audit.services.jobs import JobRefused, require_runnable
    from evaluator.encoders import Spec
    from leaderboard.models import SplitVersion

    blind, _ = register(Spec("Looks", "dual", "a/b", "1"))
    SplitVersion.objects.filter(pk=board.pk).update(gallery_size=None)
    board.refresh_from_db()
    with pytest.raises(JobRefused, match="is open"):
        require_runnable(vectors, board)
    SplitVersion.objects.filter(pk=board.pk).update(gallery_size=60)
    board.refresh_from_db()
    board.split.hidden_truth = True
    with pytest.raises(JobRefused, match="hidden"):
        require_runnable(vectors, board)
    board.split.hidden_truth = False
    board.split.slug = "no-pictures"
    with pytest.raises(JobRefused, match="no pictures"):
        require_runnable(blind, board)
