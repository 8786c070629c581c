"""How vectors are received: which files, what is refused before anything is read, what is used again (decision 26)."""

from __future__ import annotations

import io
import pickle
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from sending import DECLARED, ranking, upload, work
from vectors_sent import vectors_of, written

from accounts.services import make_token
from evaluator.types import Condition
from submissions.models import SentFile, Submission
from submissions.services.package import Package
from submissions.services.refusals import UploadRefused
from uploads import services as resumable
from uploads.models import Upload
from uploads.services import creation, receiving

pytestmark = pytest.mark.django_db
FIELDS = {"gallery": "gallery", "multimodal": "multimodal", "text-only": "text_only", "image-only": "image_only"}


@pytest.fixture
def files(board: Any, tmp_path: Path) -> dict[str, bytes]:
    """The bytes of good vectors under three conditions, by field."""
    paths = written(board.content, tmp_path, vectors_of(board.content))
    return {FIELDS[key]: path.read_bytes() for key, path in paths.items()}


def package(files: Mapping[str, bytes], **changes: Any) -> Package:
    opened = {name: SimpleUploadedFile(f"{name}.npz", content) for name, content in files.items()}
    return Package(**{"kind": "embeddings", "similarity": "cosine", "files": opened, **changes})


def refused(send: Callable[..., Any], what: Package, **changes: Any) -> dict[str, list[str]]:
    """Send what must be refused; return the messages by field."""
    with pytest.raises(UploadRefused) as refusal:
        send(package=what, **changes)
    assert not Submission.objects.exists()
    return refusal.value.messages


def npy(matrix: Any) -> bytes:
    written_to = io.BytesIO()
    np.save(written_to, matrix)
    return written_to.getvalue()


def whole_upload(user: Any, content: bytes, name: str = "gallery.npz") -> Upload:
    """Return a finished resumable upload."""
    made = creation.create(user, len(content), name=name)
    receiving.receive(made, 0, io.BytesIO(content), len(content))
    return Upload.objects.get(pk=made.pk)


def test_vectors_in_the_request_are_kept_by_field_and_scored(send: Callable[..., Any], files: dict[str, bytes]) -> None:
    submission = send(package=package(files, similarity="inner product")).submission
    assert (submission.kind, submission.similarity) == ("embeddings", "inner product")
    rows = {(file.run and file.run.condition, file.role) for file in submission.files.select_related("run")}
    assert rows == {(None, "gallery"), *((str(condition), "queries") for condition in Condition)}
    work()
    assert submission.evaluations.get().entry.similarity == "inner product"


@pytest.mark.parametrize(
    ("field", "content", "words"),
    [
        ("gallery", b"", "empty"),
        ("gallery", b"%PDF-1.7 ...", "This is a PDF"),
        ("multimodal", pickle.dumps([1.0]), "never opened"),
        ("multimodal", b'{"0": ["a"]}', "Not a file of vectors"),
        ("text_only", npy(np.ones((2, 2))), "list of ids beside it"),
        ("gallery_ids", npy(np.ones(3)), "as text"),
        ("image_only", b"PK\x03\x04" + b"x" * 400_000, "at most"),
    ],
)
def test_what_cannot_be_vectors_is_said_at_once(
    send: Callable[..., Any], files: dict[str, bytes], settings: Any, field: str, content: bytes, words: str
) -> None:
    settings.VECTORS_MAX_BYTES = 300_000
    messages = refused(send, package({**files, field: content}))
    assert list(messages) == [field]
    assert words in messages[field][0]


def test_everything_that_is_missing_is_said_together(send: Callable[..., Any], files: dict[str, bytes]) -> None:
    messages = refused(send, package({"text_only_ids": b"a\nb", "multimodal_subset": b"{}"}))
    assert set(messages) == {"gallery", "multimodal", "text_only", "multimodal_subset"}


@pytest.mark.parametrize(
    ("what", "field"),
    [
        ({"kind": "pictures"}, "kind"),
        ({"similarity": "euclidean"}, "similarity"),
        ({"similarity": ""}, "similarity"),
        ({"kind": "rankings"}, "similarity"),
        ({"kind": "rankings", "similarity": ""}, "gallery"),
        ({"gallery_digest": "0" * 64}, "gallery_digest"),
        ({"uploads": {"gallery": str(uuid.uuid4())}}, "gallery"),
    ],
)
def test_what_does_not_go_together_is_named(
    send: Callable[..., Any], files: dict[str, bytes], what: dict[str, Any], field: str
) -> None:
    assert field in refused(send, package(files, **what))


def test_vectors_need_a_truth_and_a_whole_gallery(
    send: Callable[..., Any], make_board: Any, files: dict[str, bytes]
) -> None:
    """Which images are judged is not known where the truth is hidden; an open gallery has no last rank."""
    hidden = make_board("circo", hidden_truth=True)
    assert "hidden" in refused(send, package(files), to=hidden)["kind"][0]
    opened = make_board("cirr")
    opened.split.versions.update(gallery_size=None)
    assert "open" in refused(send, package(files), to=opened)["kind"][0]


def test_a_gallery_is_sent_once(send: Callable[..., Any], files: dict[str, bytes]) -> None:
    """The second submission names the digest: the same bytes serve both, and deleting one leaves the other."""
    first = send(package=package(files)).submission
    gallery = first.files.get(role="gallery")
    queries = {name: content for name, content in files.items() if name != "gallery"}
    del queries["text_only"]
    second = send(package=package(queries, gallery_digest=gallery.digest)).submission
    assert second != first
    again = second.files.get(role="gallery")
    assert (again.stored, again.name, again.digest) == (gallery.stored, gallery.name, gallery.digest)
    work()
    assert second.evaluations.get().state == "scored"


def test_a_gallery_is_used_again_with_its_ids(send: Callable[..., Any], board: Any, files: dict[str, bytes]) -> None:
    vectors = vectors_of(board.content)[Condition.MULTIMODAL].gallery
    plain = {**files, "gallery": npy(vectors), "gallery_ids": "\n".join(board.content.images).encode()}
    first = send(package=package(plain)).submission
    digest = first.files.get(role="gallery").digest
    queries = {"multimodal": files["multimodal"]}
    second = send(package=package(queries, gallery_digest=digest)).submission
    assert second.files.get(role="gallery ids").stored == first.files.get(role="gallery ids").stored
    work()
    assert second.evaluations.get().state == "scored"


def test_nobody_uses_anothers_gallery(
    send: Callable[..., Any], make_user: Any, files: dict[str, bytes], board: Any
) -> None:
    digest = send(package=package(files)).submission.files.get(role="gallery").digest
    with pytest.raises(UploadRefused) as refusal:
        send(package=package({"multimodal": files["multimodal"]}, gallery_digest=digest), user=make_user("grace"))
    assert "no such gallery" in refusal.value.messages["gallery_digest"][0]


def test_deleted_vectors_are_not_used_again(send: Callable[..., Any], files: dict[str, bytes]) -> None:
    digest = send(package=package(files)).submission.files.get(role="gallery").digest
    SentFile.objects.update(removed_at=timezone.now())
    with pytest.raises(UploadRefused) as refusal:
        send(package=package({"multimodal": files["multimodal"]}, gallery_digest=digest))
    assert "Send the file" in refusal.value.messages["gallery_digest"][0]


def test_a_finished_upload_becomes_the_file(send: Callable[..., Any], user: Any, files: dict[str, bytes]) -> None:
    made = whole_upload(user, files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    address = f"http://testserver/api/v1/uploads/{made.public_id}/"
    submission = send(package=package(others, uploads={"gallery": address})).submission
    assert submission.files.get(role="gallery").stored == made.stored
    assert not Upload.objects.exists()
    assert resumable.exists(made.stored)
    work()
    assert submission.evaluations.get().state == "scored"


def test_a_repeated_request_names_uploads_that_were_taken(
    send: Callable[..., Any], user: Any, files: dict[str, bytes]
) -> None:
    """The answer to the first one was lost on the way: the retry must find its submission, not a missing upload."""
    made = whole_upload(user, files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    named = {"gallery": str(made.public_id)}
    first = send(package=package(others, uploads=named))
    retry = send(package=package(others, uploads=named))
    assert (retry.submission, retry.created) == (first.submission, False)


def test_an_upload_that_became_one_file_is_no_other(
    send: Callable[..., Any], user: Any, files: dict[str, bytes]
) -> None:
    """It was looked at as what it was: vectors of gigabytes must not come in as a ranking, whose limit is smaller."""
    made = whole_upload(user, files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    send(package=package(others, uploads={"gallery": str(made.public_id)}))
    with pytest.raises(UploadRefused) as refusal:
        send(package=Package(uploads={"multimodal": str(made.public_id)}))
    assert "used already" in refusal.value.messages["multimodal"][0]


def test_an_unfinished_or_foreign_upload_is_refused_and_kept(
    send: Callable[..., Any], user: Any, make_user: Any, files: dict[str, bytes]
) -> None:
    begun = creation.create(user, 1000, name="gallery.npz")
    foreign = whole_upload(make_user("grace"), files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    assert "0 of 1000" in refused(send, package(others, uploads={"gallery": str(begun.public_id)}))["gallery"][0]
    for named in (str(foreign.public_id), "not an id", ""):
        assert "gallery" in refused(send, package(others, uploads={"gallery": named}))
    assert Upload.objects.count() == 2


def test_a_refused_form_keeps_its_uploads_for_another_try(
    send: Callable[..., Any], user: Any, files: dict[str, bytes]
) -> None:
    made = whole_upload(user, files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    refused(send, package(others, uploads={"gallery": str(made.public_id)}), method_name="")
    assert Upload.objects.get() == made


def test_the_same_vectors_are_one_submission_unless_compared_otherwise(
    send: Callable[..., Any], files: dict[str, bytes]
) -> None:
    first = send(package=package(files))
    assert not send(package=package(files)).created
    assert send(package=package(files, similarity="inner product")).created
    swapped = {**files, "text_only": files["image_only"], "image_only": files["text_only"]}
    assert send(package=package(swapped)).created
    assert first.created


def test_vectors_that_were_deleted_are_sent_again_for_a_new_version(
    send: Callable[..., Any], make_board: Any, board: Any, files: dict[str, bytes]
) -> None:
    """The page asks for them again where kept ranks do not cover a new version; it must not answer with the old one."""
    first = send(package=package(files)).submission
    work()
    SentFile.objects.update(removed_at=timezone.now())
    assert send(package=package(files)).submission == first, "on the version that it was scored on nothing is missing"
    make_board(content=replace(board.content, version=2, texts=tuple(f"{text}!" for text in board.content.texts)))
    again = send(package=package(files))
    assert again.created
    work()
    assert again.submission.evaluations.filter(state="scored").exists()


def test_vectors_by_form_with_a_choice_of_earlier_galleries(user: Any, board: Any, files: dict[str, bytes]) -> None:
    client = Client()
    client.force_login(user)
    page = f"/submit/{board.split.slug}/embeddings/"
    said = {"method": "LinCIR", **DECLARED, "kind": "embeddings", "similarity": "cosine"}
    opened = {name: SimpleUploadedFile(f"{name}.npz", content) for name, content in files.items()}
    assert "sent for" not in client.get(page).content.decode()
    assert client.post(page, {**said, **opened}).status_code == 302
    (gallery,) = SentFile.objects.filter(role="gallery")
    assert f'data-digest="{gallery.digest}"' in client.get(page).content.decode()
    again = {"multimodal": SimpleUploadedFile("q.npz", files["multimodal"]), "gallery_digest": gallery.digest}
    answer = client.post(page, {**said, **again})
    assert answer.status_code == 302, answer.content.decode()
    work()
    shown = client.get(answer["Location"]).content.decode()
    assert "Vectors are compared by" in shown
    assert "npz vectors" in shown


def test_the_form_says_faults_at_their_fields(user: Any, board: Any) -> None:
    client = Client()
    client.force_login(user)
    page = f"/submit/{board.split.slug}/embeddings/"
    answer = client.post(page, {"method": "m", **DECLARED, "similarity": "cosine"})
    assert answer.status_code == 422
    assert "Choose the vectors of the gallery" in answer.content.decode()


def test_the_form_says_what_is_wrong_with_files_beside_the_rest(user: Any, board: Any) -> None:
    """Whoever forgot a field must not learn of a bad file only at the next try, with all of it sent again."""
    client = Client()
    client.force_login(user)
    for page, content, words in (
        (f"/submit/{board.split.slug}/embeddings/", npy(np.ones((2, 2))), "list of ids beside it"),
        (f"/submit/{board.split.slug}/", b"%PDF-1.7", "This is a PDF"),
    ):
        shown = client.post(page, {"multimodal": SimpleUploadedFile("q", content)}).content.decode()
        assert words in shown
        assert "This field is required" in shown


@pytest.mark.parametrize("hidden", [True, False])
def test_boards_that_take_no_vectors_have_no_such_page(user: Any, make_board: Any, hidden: bool) -> None:
    board = make_board("circo", hidden_truth=True) if hidden else make_board("circo")
    client = Client()
    client.force_login(user)
    page = f"/submit/{board.split.slug}/embeddings/"
    assert client.get(page).status_code == (404 if hidden else 200)
    assert (page in client.get(f"/submit/{board.split.slug}/").content.decode()) is not hidden


def test_vectors_by_api(user: Any, board: Any, files: dict[str, bytes]) -> None:
    """Files beside finished uploads; the answer tells role, digest and similarity."""
    client = Client()
    headers = {"Authorization": f"Bearer {make_token(user, 'test')[1]}"}
    made = whole_upload(user, files["gallery"])
    form = {"split": board.split.slug, "method": "LinCIR", **DECLARED, "kind": "embeddings"}
    form |= {"gallery_upload": str(made.public_id)}
    form |= {"multimodal": SimpleUploadedFile("q.npz", files["multimodal"])}
    answer = client.post("/api/v1/submissions/", form, headers=headers)
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["kind"], told["similarity"]) == ("embeddings", "cosine")
    (gallery,) = told["gallery"]
    assert (gallery["role"], gallery["digest"], gallery["removed_at"]) == ("gallery", made.digest, None)
    work()
    told = client.get(answer["Location"], headers=headers).json()
    assert told["evaluations"][0]["percent"] == 100
    assert told["standing"]["mark"] == "scored"


def test_a_ranking_may_come_as_an_upload_too(send: Callable[..., Any], user: Any, board: Any) -> None:
    content = upload(ranking(board.content)).read()
    made = whole_upload(user, content, "ranking.json")
    submission = send(package=Package(uploads={"multimodal": str(made.public_id)})).submission
    work()
    submission.refresh_from_db()
    assert submission.state == "valid"


def test_an_upload_that_was_taken_meanwhile_is_said_at_its_field(
    send: Callable[..., Any], user: Any, files: dict[str, bytes], monkeypatch: Any
) -> None:
    """Two requests name the same upload for two methods: one has it, the other is told so, and nothing is half made."""
    made = whole_upload(user, files["gallery"])
    others = {name: content for name, content in files.items() if name != "gallery"}
    named = package(others, uploads={"gallery": str(made.public_id)})
    take = resumable.take

    def late(upload: Upload) -> None:
        Upload.objects.filter(pk=upload.pk).delete()
        take(upload)

    monkeypatch.setattr(resumable, "take", late)
    messages = refused(send, named)
    assert "used already" in messages["gallery"][0]
