"""What an upload must look like, and which uploads are the same (decisions 26, 29, 30)."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sending import DECLARED, ROOT, ranking, upload, work, worker_environment

from evaluator.types import Condition
from leaderboard.models import Method
from submissions.models import Submission
from submissions.services import publication
from submissions.services.declared import check_declared
from submissions.services.evaluations import score_checked
from submissions.services.methods import is_web_address
from submissions.services.quota import quota_of
from submissions.services.refusals import IllegalMove, QuotaExceeded, SplitClosed, TooManyFree, UploadRefused
from submissions.services.sweep import sweep


def stored_files() -> list[Path]:
    from django.core.files.storage import default_storage

    return list(Path(default_storage.path("uploads")).glob("*")) if default_storage.exists("uploads") else []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"%PDF-1.7 ...", "This is a PDF"),
        (b"\x80\x04\x95 pickled", "This is a pickle"),
        (b"\x93NUMPY\x01\x00", "This is a NumPy array"),
        (b"x" * 3000, "at most"),
    ],
)
def test_a_wrong_shape_is_said_in_the_request_and_keeps_nothing(
    send: Callable[..., Any], settings: Any, content: bytes, message: str
) -> None:
    settings.UPLOAD_MAX_BYTES = 2048
    before = stored_files()
    with pytest.raises(UploadRefused) as refusal:
        send(runs={Condition.MULTIMODAL: [upload(content)]})
    assert message in refusal.value.messages["multimodal"][0]
    assert (Submission.objects.count(), stored_files()) == (0, before)


@pytest.mark.django_db
def test_everything_wrong_is_said_at_once(send: Callable[..., Any], board: Any) -> None:
    with pytest.raises(UploadRefused) as refusal:
        send(
            runs={Condition.TEXT_ONLY: [upload(b"{}"), upload(b"{}")]},
            method_name="  ",
            paper_url="javascript:alert(1)",
            declared={"supervision": "psychic", "training_overlap": ["none", "m-beir"], "colour": "red"},
            idempotency_key="k" * 101,
        )
    said = refusal.value.messages
    assert set(said) == {
        *("multimodal", "text_only_subset", "method", "paper_url", "idempotency_key"),
        *("supervision", "training_overlap", "query_text", "system", "weights", "backbone", "colour"),
    }
    assert not Method.objects.exists()


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://arxiv.org/abs/2405.00571", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("ftp://example.org/x", False),
        ("https://", False),
        ("https://example.org/" + "x" * 200, False),
    ],
)
def test_only_web_addresses_become_links(url: str, taken: bool) -> None:
    """Public report A26."""
    assert is_web_address(url) is taken


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"query_text": "rewritten"}, "query_text_note"),
        ({"parameters": "many"}, "parameters"),
        ({"parameters": "nan"}, "parameters"),
        ({"parameters": "-3"}, "parameters"),
        ({"backbone": ""}, "backbone"),
        ({"backbone": "x" * 301}, "backbone"),
        ({"system": ["single", "ensemble"]}, "system"),
        ({"training_overlap": []}, "training_overlap"),
    ],
)
def test_declarations_are_checked(changes: dict[str, Any], field: str) -> None:
    _, wrong = check_declared({**DECLARED, **changes})
    assert list(wrong) == [field]


def test_declarations_have_one_stored_form() -> None:
    said = {**DECLARED, "training_overlap": ["m-beir", "cirr-train", "m-beir"], "backbone": "  CLIP   L "}
    clean, wrong = check_declared(said)
    assert wrong == {}
    assert (clean["training_overlap"], clean["backbone"], clean["parameters"]) == (
        ["m-beir", "cirr-train"],
        "CLIP L",
        428.0,
    )


@pytest.mark.django_db
def test_a_closed_board_takes_nothing(send: Callable[..., Any], board: Any) -> None:
    type(board.split).objects.update(open=False)
    board.split.refresh_from_db()
    with pytest.raises(SplitClosed):
        send()


@pytest.mark.django_db
def test_the_same_bytes_are_one_submission_until_they_fail(send: Callable[..., Any], board: Any) -> None:
    first = send()
    assert send().submission == first.submission
    work()
    again = send()
    assert (again.submission, again.created) == (first.submission, False)
    assert quota_of(first.submission.team, board.split).used == 1
    assert send(method_name="Another").created
    assert send(lists=ranking(board.content, 1)).created


@pytest.mark.django_db
def test_cancelled_and_invalid_ones_start_anew(send: Callable[..., Any]) -> None:
    first = send().submission
    publication.cancel(first)
    assert send().created
    wrong = {"0": ["x"]}
    assert send(lists=wrong).created
    work()
    assert send(lists=wrong).created


@pytest.mark.django_db
def test_the_condition_is_part_of_what_is_the_same(send: Callable[..., Any], board: Any) -> None:
    main, other = ranking(board.content), ranking(board.content, 1)
    for condition in (Condition.TEXT_ONLY, Condition.IMAGE_ONLY):
        assert send(runs={Condition.MULTIMODAL: [upload(main)], condition: [upload(other)]}).created


@pytest.mark.django_db
def test_a_retry_with_the_same_key_is_received_once(send: Callable[..., Any], board: Any) -> None:
    first = send(idempotency_key="abc")
    publication.cancel(first.submission)
    retry = send(idempotency_key="abc")
    assert (retry.submission, retry.created) == (first.submission, False)
    with pytest.raises(UploadRefused, match="idempotency_key"):
        send(idempotency_key="abc", lists=ranking(board.content, 1))


@pytest.mark.django_db
def test_another_team_may_send_the_same_bytes(send: Callable[..., Any], make_user: Callable[..., Any]) -> None:
    first = send()
    second = send(user=make_user("grace"))
    assert second.created
    assert second.submission.method != first.submission.method


@pytest.mark.django_db(transaction=True)
def test_the_same_upload_ten_times_at_once_is_one(send: Callable[..., Any], board: Any) -> None:
    from django.db import connection

    content = json.dumps(ranking(board.content)).encode()

    def go(_: int) -> tuple[int, bool]:
        try:
            received = send(runs={Condition.MULTIMODAL: [upload(content)]})
            return received.submission.pk, received.created
        finally:
            connection.close()

    before = len(stored_files())
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(go, range(10)))
    assert len({pk for pk, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1
    assert len(stored_files()) == before + 1


@pytest.mark.django_db(transaction=True)
def test_a_dead_broker_does_not_fail_the_upload(user: Any, board: Any) -> None:
    """A process whose broker is away receives quickly; the sweep has the file checked once the broker is back."""
    code = f"""
import django; django.setup()
import time
from accounts.models import User; from leaderboard.models import Split
from sending import DECLARED, upload
from submissions.services.package import Package
from submissions.services.receipt import receive
begin = time.monotonic()
sent = receive(user=User.objects.get(), split=Split.objects.get(slug={board.split.slug!r}), method_name="m",
               package=Package(files={{"multimodal": upload(b"{{}}")}}), declared=DECLARED)
assert sent.created and time.monotonic() - begin < 30  # Celery would try for minutes
"""
    environment = {**worker_environment(), "CIRBOARD_BROKER_URL": "redis://127.0.0.1:1/0", "PYTHONPATH": "tests"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, timeout=300)
    submission = Submission.objects.get()
    assert (submission.state, submission.sent_at) == ("received", None)
    assert sweep().sent == 1
    submission.refresh_from_db()
    assert submission.sent_at is not None


@pytest.mark.django_db
def test_names_are_only_ever_shown(send: Callable[..., Any], board: Any) -> None:
    content = gzip.compress(json.dumps(ranking(board.content)).encode())
    submission = send(runs={Condition.MULTIMODAL: [upload(content, "../../etc/passwd\x00.json.gz")]}).submission
    file = submission.runs.get().files.get()
    assert "/" not in file.name
    assert "passwd" not in file.stored
    work()
    submission.refresh_from_db()
    assert submission.state == "valid"


@pytest.mark.django_db
def test_an_address_given_later_replaces_the_earlier_one(send: Callable[..., Any], board: Any) -> None:
    send(paper_url="https://example.org/a")
    send(lists=ranking(board.content, 1), paper_url="https://example.org/b", code_url="")
    assert Method.objects.get().paper_url == "https://example.org/b"


@pytest.mark.django_db
def test_a_dry_run_is_checked_for_nothing_and_scored_on_request(send: Callable[..., Any], board: Any) -> None:
    """Decision 24: the upload page's dry run has the same checker and the same words, and takes no quota."""
    checked = send(check_only=True).submission
    work()
    checked.refresh_from_db()
    assert (checked.state, checked.evaluations.count()) == ("valid", 0)
    assert quota_of(checked.team, board.split).used == 0
    assert send(check_only=True).submission == checked, "the same files need no second check"
    score_checked(checked)
    work()
    assert checked.evaluations.get(version__split=board.split).state == "scored"
    assert quota_of(checked.team, board.split).used == 1
    with pytest.raises(IllegalMove):
        score_checked(checked)
    assert quota_of(checked.team, board.split).used == 1


@pytest.mark.django_db
def test_a_dry_run_is_not_scored_beside_its_own_submission(send: Callable[..., Any], board: Any) -> None:
    """Decision 29: the same bytes are one submission, whichever button they came by."""
    checked = send(check_only=True).submission
    work()
    send()
    with pytest.raises(IllegalMove, match="were sent"):
        score_checked(checked)
    assert quota_of(checked.team, board.split).used == 1


@pytest.mark.django_db
def test_a_retry_finds_its_dry_run_after_it_was_scored(send: Callable[..., Any]) -> None:
    first = send(check_only=True, idempotency_key="abc").submission
    work()
    with pytest.raises(UploadRefused, match="idempotency_key"):
        send(idempotency_key="abc")
    score_checked(first)
    assert send(check_only=True, idempotency_key="abc").submission == first


@pytest.mark.django_db
def test_a_key_belongs_to_one_method(send: Callable[..., Any]) -> None:
    send(idempotency_key="abc")
    with pytest.raises(UploadRefused, match="idempotency_key"):
        send(idempotency_key="abc", method_name="Another")


@pytest.mark.django_db
def test_a_dry_run_never_stands_in_for_a_submission(send: Callable[..., Any], board: Any) -> None:
    checked = send(check_only=True).submission
    work()
    scored = send()
    assert scored.created
    work()
    assert scored.submission.evaluations.filter(state="scored").exists()
    assert not checked.evaluations.exists()
    assert send(check_only=True).submission == scored.submission, "what was scored was checked"


@pytest.mark.django_db
def test_a_dry_run_beyond_the_quota_waits_for_tomorrow(send: Callable[..., Any], board: Any, settings: Any) -> None:
    settings.QUOTA_PER_DAY = 1
    send(lists=ranking(board.content, seed=1))
    checked = send(check_only=True).submission
    work()
    with pytest.raises(QuotaExceeded):
        score_checked(checked)
    checked.refresh_from_db()
    assert (checked.check_only, checked.quota_state, checked.evaluations.count()) == (True, "returned", 0)


@pytest.mark.django_db
def test_a_dry_run_of_a_bad_file_lists_the_same_faults(send: Callable[..., Any], board: Any) -> None:
    lists = dict(list(ranking(board.content).items())[1:])
    dry, real = send(lists, check_only=True).submission, send(lists).submission
    work()
    for submission in (dry, real):
        submission.refresh_from_db()
    assert dry.state == "invalid"
    assert dry.faults == real.faults


@pytest.mark.django_db
def test_dry_runs_have_a_limit_too(send: Callable[..., Any], board: Any, settings: Any) -> None:
    settings.FREE_PER_HOUR = 2
    for seed in range(2):
        send(lists=ranking(board.content, seed=seed), check_only=True)
        work()
    with pytest.raises(TooManyFree):
        send(lists=ranking(board.content, seed=9))


@pytest.mark.django_db(transaction=True)
def test_dry_runs_that_wait_count_too(send: Callable[..., Any], board: Any, settings: Any) -> None:
    """Else anybody fills the disk before the first one is read: twenty at once, nobody working."""
    from django.db import connection

    settings.FREE_PER_HOUR = 3

    def go(seed: int) -> bool:
        try:
            return bool(send(lists=ranking(board.content, seed), check_only=True).created)
        except TooManyFree:
            return False
        finally:
            connection.close()

    before = len(stored_files())
    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(go, range(20))) == 3
    assert len(stored_files()) == before + 3
