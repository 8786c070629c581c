"""The API of submissions: what it takes, how it refuses, and for whom a submission exists (public report A23)."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client
from django.utils import timezone
from sending import DECLARED, good_ranking, ranking, upload, work

from accounts.services import make_token
from leaderboard.models import Entry
from submissions import liveness
from submissions.models import Submission

pytestmark = pytest.mark.django_db
LIST = "/api/v1/submissions/"


class Caller:
    """A person at the API, by token; ``None`` is anybody."""

    def __init__(self, user: Any) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = {"Authorization": f"Bearer {make_token(user, 'test')[1]}"} if user else {}

    def get(self, path: str) -> Any:
        return self.client.get(path, headers=self.headers)

    def post(self, path: str, data: Any = None, **headers: str) -> Any:
        return self.client.post(path, data or {}, headers={**self.headers, **headers})

    def send(self, board: Any, lists: Any = None, *, headers: dict[str, str] | None = None, **changes: Any) -> Any:
        lists = ranking(board.content) if lists is None else lists
        form = {"split": board.split.slug, "method": "LinCIR", **DECLARED, "multimodal": upload(lists), **changes}
        kept = {name: value for name, value in form.items() if value is not None}
        return self.post(LIST, kept, **(headers or {}))


@pytest.fixture
def ada(user: Any) -> Caller:
    return Caller(user)


def test_upload_to_scores(ada: Caller, board: Any, django_capture_on_commit_callbacks: Any) -> None:
    first = ada.send(board, good_ranking(board.content))
    assert (first.status_code, first.json()["state"]) == (201, "received")
    assert first["Location"] == first.json()["url"]
    work()
    told = ada.get(f"{LIST}{first.json()['id']}/").json()
    assert (told["state"], told["standing"]["mark"]) == ("valid", "scored")
    assert told["declared"]["parameters"] == 428.0
    (evaluation,) = told["evaluations"]
    values = {(row["measure"], row["group"]): row["value"] for row in evaluation["scores"]}
    assert values["mAP@5", ""] == 1.0
    assert told["runs"][0]["files"][0]["name"] == "ranking.json"
    again = ada.send(board, good_ranking(board.content))
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


def test_the_list_is_paged_and_takes_a_fixed_number_of_queries(
    ada: Caller, board: Any, django_assert_max_num_queries: Any
) -> None:
    for seed in range(4):
        ada.send(board, ranking(board.content, seed))
    work()
    with django_assert_max_num_queries(12):
        told = ada.get(LIST).json()
    assert told["count"] == 4
    assert "scores" not in told["results"][0]["evaluations"][0]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"split": "no-such-board"}, "split"),
        ({"split": None}, "split"),
        ({"multimodal": None}, "multimodal"),
        ({"multimodal": "not a file"}, "multimodal"),
        ({"method": None}, "method"),
        ({"supervision": None}, "supervision"),
        ({"training_overlap": ["none", "unknown"]}, "training_overlap"),
        ({"code_url": "javascript:alert(1)"}, "code_url"),
        ({"text-only": "misspelt"}, "text-only"),
    ],
)
def test_what_is_wrong_is_said_by_field(ada: Caller, board: Any, changes: dict[str, Any], field: str) -> None:
    answer = ada.send(board, **changes)
    assert answer.status_code == 400
    assert list(answer.json()) == [field]
    assert not Submission.objects.exists()


def test_every_training_set_is_kept(ada: Caller, board: Any) -> None:
    ada.send(board, training_overlap=["m-beir", "cirr-train"])
    assert Submission.objects.get().declared["training_overlap"] == ["m-beir", "cirr-train"]


def test_faults_are_strict_json_with_their_place(ada: Caller, board: Any) -> None:
    wrong = json.dumps({"0": ["NaN"]}).replace('"NaN"', "NaN").encode()
    answer = ada.send(board, wrong)
    work()
    body = ada.get(f"{LIST}{answer.json()['id']}/").content
    told = json.loads(body, parse_constant=lambda token: pytest.fail(f"{token} is not JSON"))
    assert told["state"] == "invalid"
    assert {"code", "condition", "file", "place", "found", "expected", "remedy"} == set(told["faults"][0])


def test_beyond_the_quota_it_says_when(ada: Caller, board: Any) -> None:
    """Public report A8."""
    board.split.daily_quota = 1
    board.split.save()
    ada.send(board)
    answer = ada.send(board, ranking(board.content, 1))
    assert answer.status_code == 429
    assert answer.json()["next_submission_at"].endswith("T00:00:00Z")
    assert 1 <= int(answer["Retry-After"]) <= 86_400
    midnight = timezone.now().replace(hour=23, minute=59, second=59, microsecond=999_999)
    with patch.object(timezone, "now", lambda: midnight):
        ada.send(board, ranking(board.content, 2))
        assert int(ada.send(board, ranking(board.content, 2))["Retry-After"]) == 1


def test_too_many_invalid_files_wait(ada: Caller, board: Any, settings: Any) -> None:
    settings.FREE_PER_HOUR = 1
    ada.send(board, {"x": []})
    work()
    answer = ada.send(board)
    assert (answer.status_code, "check" in answer.json()["detail"]) == (429, True)
    assert int(answer["Retry-After"]) > 3_000


def test_a_closed_board_conflicts(ada: Caller, board: Any) -> None:
    type(board.split).objects.update(open=False)
    assert ada.send(board).status_code == 409


def test_a_retry_with_its_key_is_received_once(ada: Caller, board: Any) -> None:
    key = {"Idempotency-Key": "one"}
    first = ada.send(board, headers=key)
    second = ada.send(board, headers=key)
    assert (first.status_code, second.status_code) == (201, 200)
    assert ada.send(board, ranking(board.content, 1), headers=key).status_code == 400


def test_a_request_that_is_far_too_large_is_refused_unread(ada: Caller, board: Any, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = settings.VECTORS_MAX_BYTES = 1024
    answer = ada.send(board, b"x" * 2_000_000)
    assert answer.status_code == 413


def test_publish_withdraw_cancel(ada: Caller, board: Any) -> None:
    path = f"{LIST}{ada.send(board).json()['id']}/"
    assert ada.post(f"{path}publish/").status_code == 409
    work()
    assert ada.post(f"{path}publish/").json()["published_at"] is not None
    assert Entry.objects.filter(published_at__isnull=False).count() == 1
    assert ada.post(f"{path}publish/").status_code == 200
    assert ada.post(f"{path}cancel/").status_code == 409
    assert ada.post(f"{path}withdraw/").json()["published_at"] is None
    assert ada.get(f"{path}publish/").status_code == 405


PATHS = ("", "publish/", "withdraw/", "cancel/")


@pytest.mark.parametrize("state", ["received", "invalid", "scored"])
def test_a_private_submission_exists_for_its_team_and_maintainers_only(
    ada: Caller, board: Any, make_user: Callable[..., Any], state: str
) -> None:
    """Public report A23: an id is not enough, and nobody learns that there is something."""
    submission = ada.send(board, {"x": []} if state == "invalid" else None).json()["id"]
    if state != "received":
        work()
    outsider, staff = Caller(make_user("eve")), Caller(make_user("mai", is_staff=True))
    for path in PATHS:
        call = Caller.get if path == "" else Caller.post
        there = call(outsider, f"{LIST}{submission}/{path}")
        nowhere = call(outsider, f"{LIST}00000000-0000-4000-8000-000000000000/{path}")
        assert (there.status_code, there.json()) == (404, nowhere.json())
        assert call(Caller(None), f"{LIST}{submission}/{path}").status_code == 401
    assert outsider.get(LIST).json()["count"] == 0
    assert Caller(None).get(LIST).status_code == 401
    assert ada.get(f"{LIST}{submission}/").status_code == 200
    assert staff.get(f"{LIST}{submission}/").status_code == 200
    assert staff.post(f"{LIST}{submission}/publish/").status_code == 403
    if state == "scored":
        entry = Entry.objects.get().public_id
        assert outsider.get(f"/api/v1/entries/{entry}/").status_code == 404
        assert outsider.get("/api/v1/boards/tiny-circo/").json()["count"] == 0
        assert LIST not in outsider.get("/api/v1/boards/").content.decode()


def test_nothing_uploaded_has_an_address(ada: Caller, board: Any) -> None:
    ada.send(board)
    stored = Submission.objects.get().runs.get().files.get().stored
    for path in (f"/{stored}", f"/media/{stored}", f"/files/{stored}", f"/static/{stored}"):
        assert ada.get(path).status_code == 404


def test_the_status_is_for_everybody(board: Any) -> None:
    answer = Caller(None).get("/api/v1/status/")
    assert (answer.status_code, answer.json()["healthy"]) == (503, False)
    assert "No worker for queue cpu" in answer.json()["sentence"]
    liveness.beat("cpu@here", ["cpu"], liveness.NO_GPU)
    told = Caller(None).get("/api/v1/status/")
    assert told.status_code == 200
    queues = {queue["queue"]: queue for queue in told.json()["queues"]}
    assert set(queues) == {"cpu", "gpu"}
    assert [worker["device"] for worker in queues["cpu"]["workers"]] == [liveness.NO_GPU]
    assert queues["gpu"]["workers"] == []


def test_the_description_of_the_api_is_valid(tmp_path: Any) -> None:
    from django.core.management import call_command

    schema = tmp_path / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(schema))
    described = schema.read_text()
    assert all(f"/api/v1/{name}/:" in described for name in ("submissions", "uploads", "boards", "status"))


@pytest.mark.parametrize("length", ["", "x", "-1", "9" * 30])
def test_any_content_length_gets_an_answer(ada: Caller, board: Any, length: str) -> None:
    answer = ada.client.post(LIST, {}, headers=ada.headers, CONTENT_LENGTH=length)
    assert answer.status_code in (400, 413)


def test_an_upload_that_finds_no_place_has_a_reference(
    ada: Caller, board: Any, user: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that cannot be written stands for every such state, a full disk above all."""
    from django.core.files.storage import default_storage

    folder = Path(default_storage.path("uploads"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("not a folder")
    try:
        answer = ada.send(board)
        browser = Client()
        browser.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        page = browser.post(
            f"/submit/{board.split.slug}/", {"method": "m", **DECLARED, "multimodal": upload(ranking(board.content))}
        )
    finally:
        folder.unlink()
    reference = re.search(r"E-[0-9A-F]{8}", answer.json()["detail"])
    assert (answer.status_code, page.status_code) == (503, 503)
    assert "This is our fault" in page.content.decode()
    assert reference is not None
    assert f"{reference[0]}: " in caplog.text
    assert not Submission.objects.exists()
    assert ada.send(board).status_code == 201
