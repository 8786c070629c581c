"""The store in S3-compatible storage, against moto's server: the same promises as on disk."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from moto.server import ThreadedMotoServer

from evaluator.digests import BLOCK, BlockDigest
from uploads import services, stores
from uploads.models import Upload
from uploads.refusals import ConnectionBroke
from uploads.services.creation import create
from uploads.services.finishing import end
from uploads.services.receiving import receive

pytestmark = pytest.mark.django_db


@pytest.fixture
def bucket(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty bucket that the settings name; yields a client of it."""
    import boto3

    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    settings.UPLOAD_STORE, settings.UPLOAD_ENDPOINT = "s3://vectors/site", f"http://{host}:{port}"
    client = boto3.client("s3", endpoint_url=settings.UPLOAD_ENDPOINT)
    client.create_bucket(Bucket="vectors")
    for key in keys(client):  # all servers of a process share one memory
        client.delete_object(Bucket="vectors", Key=key)
    yield client
    stores._store.cache_clear()
    server.stop()


@pytest.fixture
def user() -> Any:
    from accounts.models import User

    return User.objects.create_user("ada@example.org", "a long enough password")


def keys(client: Any) -> list[str]:
    return [found["Key"] for found in client.list_objects_v2(Bucket="vectors").get("Contents", ())]


def broken(body: bytes) -> Iterator[bytes]:
    yield body
    raise ConnectionBroke


def send(upload: Upload, offset: int, body: bytes) -> None:
    receive(upload, offset, io.BytesIO(body), len(body))


def test_parts_of_any_size_become_one_file(bucket: Any, user: Any, tmp_path: Path) -> None:
    """Parts of S3 have at least 5 MiB; those of people have not. What does not fill a block waits in an object."""
    body = os.urandom(2 * BLOCK + 12_345)
    made = create(user, len(body), name="gallery.npz")
    for start, stop in ((0, 10), (10, BLOCK + 99), (BLOCK + 99, BLOCK + 100), (BLOCK + 100, len(body))):
        send(Upload.objects.get(), start, body[start:stop])
    digest = BlockDigest()
    digest.update(body)
    ready = services.whole(made.team, made.public_id)
    assert ready.digest == digest.hexdigest()
    assert keys(bucket) == [f"site/{made.stored}"], "no rest is left"
    assert services.exists(made.stored)
    assert services.head(made.stored, 100) == body[:100]
    assert services.fetch(made.stored, tmp_path).read_bytes() == body
    services.take(ready)
    services.discard(made.stored)
    assert not services.exists(made.stored)
    assert keys(bucket) == []


def test_a_broken_connection_keeps_what_came(bucket: Any, user: Any, tmp_path: Path) -> None:
    body = os.urandom(BLOCK + 1_000_000)
    made = create(user, len(body))
    with pytest.raises(ConnectionBroke):
        receive(made, 0, broken(body[: BLOCK + 500_000]), len(body))
    again = Upload.objects.get()
    assert again.offset == BLOCK + 500_000
    send(again, again.offset, body[again.offset :])
    assert services.fetch(services.whole(made.team, made.public_id).stored, tmp_path).read_bytes() == body


def test_ending_an_upload_leaves_nothing(bucket: Any, user: Any, django_capture_on_commit_callbacks: Any) -> None:
    made = create(user, 2 * BLOCK)
    send(made, 0, os.urandom(BLOCK + 77))
    with django_capture_on_commit_callbacks(execute=True):
        end(Upload.objects.get())
    assert keys(bucket) == []
    assert bucket.list_multipart_uploads(Bucket="vectors").get("Uploads", []) == []


def test_the_sweep_takes_what_expired_and_what_nobody_needs(bucket: Any, user: Any) -> None:
    expired, taken, lost = (create(user, 10, name=name) for name in ("expired", "taken", "lost"))
    for upload in (taken, lost):
        send(upload, 0, b"0123456789")
        services.take(services.whole(upload.team, upload.public_id))
    Upload.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    from uploads.services import sweeping

    before = sweeping.LEFT_OVER
    sweeping.LEFT_OVER = timedelta(seconds=-5)
    try:
        assert services.sweep_expired(lambda stored: stored == taken.stored) == 2
    finally:
        sweeping.LEFT_OVER = before
    assert keys(bucket) == [f"site/{taken.stored}"]
    assert bucket.list_multipart_uploads(Bucket="vectors").get("Uploads", []) == []


def test_a_store_that_is_away_is_our_fault(bucket: Any, user: Any, settings: Any) -> None:
    """A reference for the person, nothing lost: the row says what was settled before."""
    made = create(user, BLOCK)
    settings.UPLOAD_ENDPOINT = "http://127.0.0.1:9"
    with pytest.raises(services.NotStored) as failure:
        send(made, 0, os.urandom(BLOCK))
    assert failure.value.reference.startswith("E-")
    assert Upload.objects.get().offset == 0
