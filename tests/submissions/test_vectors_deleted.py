"""Vectors are deleted some time after scoring, and never while somebody needs them (decision 26)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from sending import work
from vectors_sent import send_vectors, vectors_of, written

from submissions.models import Evaluation, SentFile, Submission
from submissions.services import leftovers
from submissions.services.deletion import delete_old_vectors, due
from submissions.services.package import Package
from submissions.services.receipt import receive
from uploads.services import exists

pytestmark = pytest.mark.django_db


@pytest.fixture
def scored(user: Any, board: Any, tmp_path: Path) -> Submission:
    return scored_now(user, board, tmp_path)


def scored_now(user: Any, board: Any, folder: Path, seed: int = 0, **changes: Any) -> Submission:
    files = written(board.content, folder, vectors_of(board.content, seed))
    submission: Submission = send_vectors(user, board, files, **changes)
    work()
    submission.refresh_from_db()
    return submission


def pass_days(days: float) -> None:
    """Let everything have happened so many days earlier."""
    for model in (Submission, Evaluation):
        for row in model.objects.exclude(finished_at=None):
            row.finished_at -= timedelta(days=days)
            row.save(update_fields=["finished_at"])


def kept(submission: Submission) -> list[bool]:
    return [exists(file.stored) for file in submission.files.all()]


def deleted(django_capture_on_commit_callbacks: Any) -> int:
    with django_capture_on_commit_callbacks(execute=True):
        return delete_old_vectors()


def test_after_the_days_they_go_and_the_ranks_stay(scored: Submission, django_capture_on_commit_callbacks: Any) -> None:
    pass_days(29.9)
    assert deleted(django_capture_on_commit_callbacks) == 0
    pass_days(0.2)
    assert deleted(django_capture_on_commit_callbacks) == 4
    assert kept(scored) == [False] * 4
    assert not scored.files.filter(removed_at=None).exists()
    assert scored.files.get(role="gallery").name == "my gallery.npz", "what was sent is still told"
    entry = scored.evaluations.get().entry
    assert all(map(exists, entry.ranks_files.values()))
    assert all(map(exists, scored.runs.values_list("arrays", flat=True)))
    assert deleted(django_capture_on_commit_callbacks) == 0


@pytest.mark.parametrize("state", ["invalid", "failed", "cancelled"])
def test_those_that_came_to_nothing_go_too(
    user: Any, board: Any, tmp_path: Path, state: str, django_capture_on_commit_callbacks: Any
) -> None:
    submission = send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content)))
    facts = {"faults": [{"code": "vector-zero"}], "reference": "E-1"}
    Submission.objects.update(state=state, finished_at=timezone.now() - timedelta(days=31), **facts)
    assert deleted(django_capture_on_commit_callbacks) == 4
    assert kept(submission) == [False] * 4


def test_what_waits_keeps_its_vectors(user: Any, board: Any, tmp_path: Path) -> None:
    """A queue of a month loses nothing; nor does a submission that is scored again after a month."""
    waiting = send_vectors(user, board, written(board.content, tmp_path, vectors_of(board.content)))
    Submission.objects.update(received_at=timezone.now() - timedelta(days=90))
    assert not due().exists()
    work()
    pass_days(90)
    evaluation = waiting.evaluations.get()
    evaluation.pk = None
    evaluation.state, evaluation.finished_at, evaluation.entry = "queued", None, None
    evaluation.evaluator_version = "another"
    evaluation.save()
    assert not due().exists()


def test_a_gallery_that_is_used_again_goes_with_its_last_user(
    scored: Submission, user: Any, board: Any, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    gallery = scored.files.get(role="gallery")
    pass_days(20)
    queries = written(board.content, tmp_path, vectors_of(board.content))["multimodal"]
    shared = {name: getattr(gallery, name) for name in ("name", "stored", "size", "digest")}
    later = send_vectors(user, board, {"gallery": shared, "multimodal": queries}, method_name="Another")
    work()
    pass_days(15)
    assert deleted(django_capture_on_commit_callbacks) == 3
    assert exists(gallery.stored)
    assert kept(later) == [True, True]
    gallery.refresh_from_db()
    assert gallery.removed_at is not None
    pass_days(20)
    assert deleted(django_capture_on_commit_callbacks) == 2
    assert not exists(gallery.stored)


def test_rankings_are_never_deleted(send: Any, django_capture_on_commit_callbacks: Any) -> None:
    submission = send().submission
    work()
    pass_days(1000)
    assert deleted(django_capture_on_commit_callbacks) == 0
    assert kept(submission) == [True]


def test_the_sweep_deletes(scored: Submission, settings: Any, django_capture_on_commit_callbacks: Any) -> None:
    settings.VECTORS_KEEP_DAYS = 0
    with django_capture_on_commit_callbacks(execute=True):
        call_command("sweep")
    assert kept(scored) == [False] * 4


def test_bytes_that_could_not_be_deleted_are_left_over_later(
    scored: Submission, settings: Any, monkeypatch: Any, django_capture_on_commit_callbacks: Any, caplog: Any
) -> None:
    """A store that is away for a moment must not keep vectors for good."""
    from submissions.services import deletion

    def away(stored: str) -> None:
        raise OSError("the store is away")

    settings.VECTORS_KEEP_DAYS = 0
    with monkeypatch.context() as patched:
        patched.setattr(deletion.uploads, "discard", away)
        deleted(django_capture_on_commit_callbacks)
    assert "could not be deleted now" in caplog.text
    assert kept(scored) == [True] * 4
    monkeypatch.setattr(leftovers, "DAY", -1)
    leftovers.remove_leftovers()
    assert kept(scored) == [False] * 4


def test_the_page_says_when_they_were_deleted(scored: Submission, user: Any, client: Any) -> None:
    SentFile.objects.update(removed_at=timezone.now())
    client.force_login(user)
    shown = client.get(f"/submissions/{scored.public_id}/").content.decode()
    assert f"deleted {timezone.now():%Y-%m-%d}" in shown


@pytest.mark.django_db(transaction=True)
def test_using_a_gallery_again_while_it_is_deleted_keeps_it_or_says_so(
    user: Any, board: Any, tmp_path: Path, settings: Any
) -> None:
    """Ten receipts and ten sweeps at once: whoever got the gallery can be scored."""
    from concurrent.futures import ThreadPoolExecutor

    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.db import connection
    from sending import DECLARED

    from submissions.services.refusals import UploadRefused

    settings.VECTORS_KEEP_DAYS = 0
    settings.QUOTA_PER_DAY = 100
    first = scored_now(user, board, tmp_path)
    digest = first.files.get(role="gallery").digest
    content = written(board.content, tmp_path, vectors_of(board.content))["multimodal"].read_bytes()

    def use(number: int) -> None:
        package = Package(
            kind="embeddings",
            similarity="cosine",
            files={"multimodal": SimpleUploadedFile("q.npz", content)},
            gallery_digest=digest,
        )
        said = {"user": user, "split": board.split, "method_name": f"m{number}", "declared": DECLARED}
        try:
            receive(package=package, **said)
        except UploadRefused:
            pass
        finally:
            connection.close()

    def sweep(_: int) -> None:
        try:
            delete_old_vectors()
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as pool:
        jobs = [pool.submit(work_, number) for number in range(10) for work_ in (use, sweep)]
        for job in jobs:
            job.result()
    for file in SentFile.objects.filter(removed_at=None):
        assert exists(file.stored)
