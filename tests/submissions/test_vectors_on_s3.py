"""Vectors whose bytes lie in S3-compatible storage: the children that read and rank them fetch them there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer
from sending import work
from vectors_sent import vectors_of, written

from submissions.models import Submission
from submissions.services.package import Package
from uploads import services as resumable
from uploads import stores
from uploads.models import Upload
from uploads.services.creation import create
from uploads.services.receiving import receive

pytestmark = pytest.mark.django_db
FIELDS = {"gallery": "gallery", "multimodal": "multimodal", "text-only": "text_only", "image-only": "image_only"}


@pytest.fixture
def bucket(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import boto3

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    settings.UPLOAD_STORE, settings.UPLOAD_ENDPOINT = "s3://sent", f"http://{host}:{port}"
    boto3.client("s3", endpoint_url=settings.UPLOAD_ENDPOINT).create_bucket(Bucket="sent")
    yield
    stores._store.cache_clear()
    server.stop()


def test_vectors_in_a_bucket_are_checked_ranked_and_deleted(
    bucket: None, user: Any, board: Any, send: Callable[..., Any], tmp_path: Path, settings: Any
) -> None:
    """The worker has spoken to the storage before it forks: the child must not go on with its parent's connections."""
    named = {}
    for key, path in written(board.content, tmp_path, vectors_of(board.content)).items():
        content = path.read_bytes()
        made = create(user, len(content), name=path.name)
        receive(made, 0, io.BytesIO(content), len(content))
        named[FIELDS[key]] = str(made.public_id)
    submission: Submission = send(package=Package("embeddings", "cosine", uploads=named)).submission
    assert not Upload.objects.exists()
    work()
    submission.refresh_from_db()
    assert (submission.state, submission.faults) == ("valid", [])
    assert submission.evaluations.get().state == "scored"
    stored = list(submission.files.values_list("stored", flat=True))
    assert all(map(resumable.exists, stored))
    for name in stored:
        resumable.discard(name)
    assert not any(map(resumable.exists, stored))
