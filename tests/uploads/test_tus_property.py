"""Whatever way the parts come, the file is what was sent or nothing: no byte twice, none missing, none by chance."""

from __future__ import annotations

import errno
import hashlib
import io
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.digests import BLOCK, BlockDigest
from uploads import services, stores
from uploads.models import Upload
from uploads.refusals import ChecksumDiffers, ConnectionBroke, WrongOffset
from uploads.services import sweeping
from uploads.services.creation import create
from uploads.services.receiving import Checksum, receive

pytestmark = pytest.mark.django_db
BODY = hashlib.shake_128(b"gallery").digest(BLOCK + 3 * 2**20)


@pytest.fixture
def user(db: None) -> Any:
    from accounts.models import User

    return User.objects.create_user("ada@example.org", "a long enough password")


def part(body: bytes, breaks: bool) -> Iterator[bytes]:
    for start in range(0, len(body), 2**18):
        yield body[start : start + 2**18]
    if breaks:
        raise ConnectionBroke


STEPS = st.lists(
    st.tuples(st.integers(1, 5 * 2**20), st.sampled_from(["plain", "breaks", "checksum", "damaged", "elsewhere"])),
    max_size=12,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_way_of_sending_ends_with_the_same_bytes(user: Any, tmp_path: Path, steps: list[tuple[int, str]]) -> None:
    made = create(user, len(BODY))
    for length, how in [*steps, (len(BODY), "plain")]:
        upload = Upload.objects.get(pk=made.pk)
        before = upload.offset
        sent = BODY[before : before + length]
        right = Checksum("sha256", hashlib.sha256(sent).digest()) if how in ("checksum", "damaged") else None
        body = bytes([sent[0] ^ 1]) + sent[1:] if sent and how == "damaged" else sent
        try:
            at = before + 1 if how == "elsewhere" else before
            receive(upload, at, part(body, how == "breaks"), len(sent), right)
        except (ConnectionBroke, ChecksumDiffers, WrongOffset):
            pass
        after = Upload.objects.get(pk=made.pk).offset
        kept = 0 if how in ("damaged", "elsewhere") else len(sent)
        assert after == before + kept
    ready = services.whole(made.team, made.public_id)
    whole = BlockDigest()
    whole.update(BODY)
    assert ready.digest == whole.hexdigest()
    assert services.fetch(ready.stored, tmp_path).read_bytes() == BODY
    services.take(ready)
    services.discard(ready.stored)


def test_a_full_disk_is_our_fault_and_loses_nothing(user: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    made = create(user, 100)
    receive(made, 0, io.BytesIO(b"x" * 40), 40)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(type(stores.current()), "write", full)
        with pytest.raises(services.NotStored) as failure:
            receive(Upload.objects.get(), 40, io.BytesIO(b"y" * 60), 60)
    assert failure.value.full
    assert failure.value.reference in caplog.text
    assert Upload.objects.get().offset == 40
    receive(Upload.objects.get(), 40, io.BytesIO(b"y" * 60), 60)
    assert services.head(services.whole(made.team, made.public_id).stored, 100) == b"x" * 40 + b"y" * 60


def test_what_expired_or_is_left_over_is_swept(user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expired, taken, lost, begun = (create(user, 10) for _ in range(4))
    for upload in (taken, lost):
        receive(upload, 0, io.BytesIO(b"0123456789"), 10)
        services.take(services.whole(upload.team, upload.public_id))
    Upload.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    monkeypatch.setattr(sweeping, "LEFT_OVER", timedelta(seconds=-5))
    assert services.sweep_expired(lambda stored: stored == taken.stored) >= 2
    assert services.exists(taken.stored)
    assert not services.exists(lost.stored)
    assert list(Upload.objects.all()) == [begun]
    services.discard(taken.stored)


def test_a_browser_needs_the_token_of_its_form(user: Any) -> None:
    """Else any page that somebody visits while signed in could fill the disk in their name."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "10"}
    assert client.post("/api/v1/uploads/", headers=headers).status_code == 403
    client.get("/submit/")
    token = client.get("/account/email/").cookies.get("csrftoken") or client.cookies.get("csrftoken")
    assert token is not None
    answer = client.post("/api/v1/uploads/", headers={**headers, "X-CSRFToken": token.value})
    assert answer.status_code == 201
