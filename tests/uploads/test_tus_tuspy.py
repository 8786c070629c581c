"""The independent client tuspy against a real gunicorn, over a line that breaks."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from cutting import CuttingProxy
from tus_client import Server, Tus
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

from evaluator.digests import digest_of_file
from uploads.models import Upload
from uploads.services import fetch, whole

pytestmark = pytest.mark.django_db(transaction=True)
MB = 10**6


@pytest.fixture
def gallery(tmp_path: Path) -> Path:
    path = tmp_path / "gallery.npz"
    path.write_bytes(os.urandom(30 * MB))
    return path


def client(port: int, token: str) -> TusClient:
    return TusClient(f"http://127.0.0.1:{port}/api/v1/uploads/", headers={"Authorization": f"Bearer {token}"})


def is_here(path: Path, folder: Path) -> bool:
    upload = Upload.objects.get()
    ready = whole(upload.team, upload.public_id)
    stored = fetch(ready.stored, folder)
    return stored.read_bytes() == path.read_bytes() and ready.digest == digest_of_file(path)


def test_a_file_arrives_whole_with_its_name_and_digest(server: Server, tus: Tus, gallery: Path, tmp_path: Path) -> None:
    metadata = {"filename": gallery.name, "digest": digest_of_file(gallery)}
    client(server.port, tus.token).uploader(str(gallery), metadata=metadata, chunk_size=8 * 2**20).upload()
    assert is_here(gallery, tmp_path)
    assert Upload.objects.get().name == "gallery.npz"


def test_checksums_of_the_client_are_taken(server: Server, tus: Tus, gallery: Path, tmp_path: Path) -> None:
    uploading = client(server.port, tus.token).uploader(
        str(gallery), metadata={"filename": gallery.name}, chunk_size=4 * 2**20, upload_checksum=True
    )
    uploading.upload()
    assert is_here(gallery, tmp_path)


def test_report_a15_three_cuts_send_what_is_missing_and_no_more(
    server: Server, tus: Tus, gallery: Path, tmp_path: Path
) -> None:
    """Report A15: a large upload died at 19 % and began anew. Here it goes on where the server says that it stands."""
    with CuttingProxy(server.port, after=9 * MB, times=3) as line:
        uploading = client(line.port, tus.token).uploader(
            str(gallery), metadata={"filename": gallery.name}, chunk_size=5 * MB
        )
        for _ in range(20):
            try:
                uploading.upload()
                break
            except (TusCommunicationError, OSError):
                tus.settled(str(uploading.url))
                time.sleep(0.05)
                uploading.offset = uploading.get_offset()  # what a person does who runs the program again
        assert line.cuts == 3
        assert line.sent < gallery.stat().st_size + 3 * 5 * MB + MB
    assert is_here(gallery, tmp_path)
