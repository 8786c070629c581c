"""From upload to board and back, without a broker: what each end state keeps, shows and costs."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sending import good_ranking, ranking, upload, work

from evaluator import __version__, scoring
from evaluator.types import Condition, Score, Scorecard, Subset
from submissions import liveness
from submissions.models import Evaluation, Quota, Submission
from submissions.services import evaluations, failures, publication, states, validation
from submissions.services.evaluations import score_again
from submissions.services.quota import quota_of
from submissions.services.refusals import IllegalMove

pytestmark = pytest.mark.django_db


def used(submission: Submission) -> int:
    return quota_of(submission.team, submission.split).used


def scored(send: Any, **changes: Any) -> Submission:
    submission = send(**changes).submission
    work()
    submission.refresh_from_db()
    return submission


def test_a_good_file_is_scored_with_the_numbers_of_the_front_door(send: Any, board: Any) -> None:
    submission = scored(send)
    evaluation = submission.evaluations.get()
    card = scoring.score(board.content, evaluations.stored_runs(submission))
    stored = {
        (row.measure, row.subset, row.condition, row.group): (row.value, row.low, row.high, row.n)
        for row in evaluation.entry.scores.all()
    }
    assert stored == {
        (row.measure, row.subset, row.condition or "", row.group): (row.value, row.low, row.high, row.n)
        for row in card.scores
    }
    assert (submission.state, evaluation.state, submission.quota_state) == ("valid", "scored", "used")
    assert used(submission) == 1
    assert evaluation.entry.published_at is None
    assert Path(submission.runs.get().files.get().name).name == "ranking.json"


def test_one_upload_is_scored_on_every_split_it_fits(send: Any, board: Any, make_board: Any) -> None:
    make_board("circus-multi")
    make_board("circus-single")
    submission = scored(send)
    boards = [evaluation.version.split.slug for evaluation in submission.evaluations.order_by("pk")]
    assert boards == ["tiny-circo", "tiny-circus-multi"]
    publication.publish(submission)
    assert {entry.published_at for entry in _entries(submission)} == {submission.published_at}


def test_a_closed_sister_split_is_left_out(send: Any, make_board: Any) -> None:
    make_board("circus-multi", open=False)
    assert scored(send).evaluations.count() == 1


def test_the_same_bytes_sent_to_the_sister_split_are_that_submission(send: Any, make_board: Any) -> None:
    sister = make_board("circus-multi")
    first = scored(send)
    second = send(to=sister)
    assert (second.submission, second.created) == (first, False)


def test_three_conditions_are_scored_together(send: Any, board: Any, make_board: Any) -> None:
    sister = make_board("circus-multi")
    runs = {condition: [upload(ranking(board.content, seed))] for seed, condition in enumerate(Condition)}
    submission = scored(send, runs=runs)
    entry = submission.evaluations.get(version__split=sister.split).entry
    assert entry.scores.get(measure="ShortcutLeak@10", subset="Full").value is not None
    assert set(entry.ranks_files) == set(Condition)


def test_hidden_truth_ends_at_checked_and_costs_nothing(send: Any, make_board: Any) -> None:
    make_board("circus-multi")
    hidden = make_board("circo", hidden_truth=True)
    submission = scored(send, to=hidden)
    assert (submission.state, submission.quota_state, used(submission)) == ("valid", "returned", 0)
    assert not submission.evaluations.exists()
    with pytest.raises(IllegalMove, match="official server"):
        publication.publish(submission)


def test_faults_name_condition_and_file_and_cost_no_quota(send: Any, board: Any) -> None:
    wrong = ranking(board.content)
    wrong.popitem()
    wrong["no-such-query"] = ["x"]
    runs = {
        Condition.MULTIMODAL: [upload(ranking(board.content))],
        Condition.TEXT_ONLY: [upload(wrong, "text.json")],
        Condition.IMAGE_ONLY: [upload(b"[1, 2", "image.json")],
    }
    submission = scored(send, runs=runs)
    assert (submission.state, submission.quota_state, used(submission)) == ("invalid", "returned", 0)
    found = {(fault["condition"], fault["file"], fault["code"]) for fault in submission.faults}
    assert ("text-only", "text.json", "unknown-query") in found
    assert ("text-only", "text.json", "missing-query") in found
    assert {(condition, file) for condition, file, _ in found if condition == "image-only"} == {
        ("image-only", "image.json")
    }
    assert not submission.evaluations.exists()


@pytest.mark.parametrize("name", ["a\\u0000b", "\\ud800", "\\u202e", "\U0001f600" * 300])
def test_hostile_names_in_a_file_are_its_authors_faults(send: Any, board: Any, name: str) -> None:
    """PostgreSQL keeps neither NUL nor half a surrogate in JSON: what is quoted of a file is made printable before."""
    lists = ranking(board.content)
    query, images = lists.popitem()
    text = json.dumps({**lists, query: ["IMAGE", *images], "QUERY": images})
    content = text.replace("IMAGE", name).replace("QUERY", name).encode()
    submission = scored(send, runs={Condition.MULTIMODAL: [upload(content)]})
    assert submission.state == "invalid"
    assert all(fault[key].isprintable() for fault in submission.faults for key in ("place", "found", "expected"))


def test_each_run_has_its_share_of_the_hundred_faults(send: Any, board: Any) -> None:
    wrong = {query: [f"unknown-{n}" for n in range(51)] for query in board.content.query_ids}
    runs = {condition: [upload(wrong, f"{condition}.json")] for condition in Condition}
    submission = scored(send, runs=runs)
    by_condition = dict.fromkeys(Condition, 0)
    for fault in submission.faults:
        by_condition[Condition(fault["condition"])] += 1
    assert len(submission.faults) == 100
    assert min(by_condition.values()) >= 33
    assert submission.more_faults > 0


def test_publish_and_withdraw_can_be_undone_and_repeated(send: Any) -> None:
    submission = scored(send)
    assert publication.publish(submission)
    assert not publication.publish(submission)
    assert publication.withdraw(submission)
    assert not publication.withdraw(submission)
    entry = submission.evaluations.get().entry
    assert entry.published_at is None
    assert entry.scores.exists()


def test_nothing_unscored_is_published(send: Any) -> None:
    with pytest.raises(IllegalMove, match="Only a scored"):
        publication.publish(send().submission)


def test_cancelled_while_it_waits_costs_nothing(send: Any) -> None:
    submission = send().submission
    publication.cancel(submission)
    work()
    submission.refresh_from_db()
    assert (submission.state, submission.quota_state, used(submission)) == ("cancelled", "returned", 0)
    with pytest.raises(IllegalMove):
        publication.cancel(submission)


def test_cancelled_after_the_check_and_before_scoring_costs_nothing(send: Any) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    publication.cancel(submission)
    work()
    assert submission.evaluations.get().state == "cancelled"
    assert used(submission) == 0


def test_cancelled_after_scoring_began_is_counted_and_shows_nothing(send: Any) -> None:
    """Public report A7: run, look, cancel, repeat must not be free."""
    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    claim = states.claim_evaluation(evaluation.pk)
    assert claim is not None
    publication.cancel(submission)
    with pytest.raises(states.ClaimLost):
        states.renew(claim)
    evaluation.refresh_from_db()
    assert (evaluation.state, evaluation.entry, used(submission)) == ("cancelled", None, 1)


def test_cancelled_while_it_is_read_costs_nothing_and_stays_cancelled(send: Any) -> None:
    submission = send().submission
    claim = states.claim_submission(submission.pk)
    assert claim is not None
    publication.cancel(submission)
    failures.attempt(claim, validation._validate)
    submission.refresh_from_db()
    assert (submission.state, used(submission), submission.evaluations.count()) == ("cancelled", 0, 0)


def test_an_evaluation_for_an_evaluator_that_is_gone_is_replaced(send: Any) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    submission.evaluations.update(evaluator_version="0.0.1")
    work()
    old, new = submission.evaluations.order_by("pk")
    assert (old.state, old.evaluator_version) == ("cancelled", "0.0.1")
    assert "was replaced" in old.reason
    assert (new.state, new.evaluator_version) == ("scored", __version__)


def test_an_evaluation_that_nothing_can_replace_costs_no_quota(send: Any, board: Any, make_board: Any) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    submission.evaluations.update(evaluator_version="0.0.1")
    make_board(content=replace(board.content, protocol=replace(board.content.protocol, list_length=40)))
    work()
    assert submission.evaluations.get().state == "cancelled"
    assert used(submission) == 0


@pytest.mark.django_db(transaction=True)
def test_publishing_and_withdrawing_at_once_end_in_agreement(send: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    submission = scored(send)

    def go(turn: int) -> None:
        try:
            (publication.publish if turn % 2 else publication.withdraw)(Submission.objects.get(pk=submission.pk))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(go, range(16)))
    submission.refresh_from_db()
    assert submission.evaluations.get().entry.published_at == submission.published_at


def test_a_crash_of_the_reader_is_ours(send: Any, caplog: pytest.LogCaptureFixture) -> None:
    from django.core.files.storage import default_storage

    submission = send().submission
    default_storage.delete(submission.runs.get().files.get().stored)
    work()
    submission.refresh_from_db()
    assert (submission.state, submission.faults, used(submission)) == ("failed", [], 0)
    assert "FileNotFoundError" in caplog.text
    assert "FileNotFoundError" not in submission.reason


def test_what_a_killed_process_left_is_removed(send: Any) -> None:
    from submissions.services import leftovers

    kept = send().submission.runs.get().files.get().stored
    uploads = Path(default_storage_path("uploads"))
    (uploads / "orphan").write_text("x")
    broken_off = leftovers.reading_folder() / "broken-off"
    broken_off.mkdir()
    liveness.beat("cpu@gone", ["cpu"])
    (beat,) = liveness.folder().glob("*.json")
    for path in (beat, uploads / "orphan", broken_off, Path(default_storage_path(kept))):
        os.utime(path, (0, 0))
    assert leftovers.remove_leftovers() >= 3
    assert not beat.exists()
    assert Path(default_storage_path(kept)).exists()
    assert not broken_off.exists()
    assert not (uploads / "orphan").exists()


def default_storage_path(name: str) -> str:
    from django.core.files.storage import default_storage

    return str(default_storage.path(name))


def test_a_claim_lost_while_scoring_writes_nothing(send: Any, board: Any) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    claim = states.claim_evaluation(evaluation.pk)
    assert claim is not None
    card = scoring.score(board.content, evaluations.stored_runs(submission))
    publication.cancel(submission)
    with pytest.raises(states.ClaimLost):
        evaluations._finish(claim, evaluation, card, {})
    assert not _entries(submission).exists()


def test_a_damaged_file_of_ours_fails_with_a_reference_and_gives_quota_back(
    send: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Public report A3: the scorer raises, and nothing says "finished"."""
    from django.core.files.storage import default_storage

    submission = send().submission
    validation.validate(submission.pk)
    Path(default_storage.path(submission.runs.get().arrays)).write_bytes(b"not arrays")
    work()
    evaluation = submission.evaluations.get()
    assert evaluation.state == "failed"
    assert evaluation.reference in evaluation.reason
    assert f"{evaluation.reference}: " in caplog.text
    assert "Traceback" in caplog.text
    assert "Traceback" not in evaluation.reason
    assert (used(submission), _entries(submission).count()) == (0, 0)


def test_a_missing_bundle_is_tried_again_and_then_fails(send: Any, board: Any) -> None:
    from django.core.files.storage import default_storage

    from leaderboard import bundles

    submission = send().submission
    name = board.split.versions.get().bundle
    kept = Path(default_storage.path(name)).read_bytes()
    default_storage.delete(name)
    bundles._load.cache_clear()
    try:
        work()
    finally:
        Path(default_storage.path(name)).write_bytes(kept)
    submission.refresh_from_db()
    assert (submission.state, submission.attempt, used(submission)) == ("failed", 3, 0)
    assert submission.reference in submission.reason


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_fails_and_is_never_stored(send: Any, board: Any, value: float) -> None:
    """Public report A13."""
    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    claim = states.claim_evaluation(evaluation.pk)
    assert claim is not None
    card = scoring.score(board.content, evaluations.stored_runs(submission))
    broken = replace(card, scores=(replace(card.scores[0], value=value), *card.scores[1:]))
    _finish_or_fail(claim, evaluation, broken)
    evaluation.refresh_from_db()
    assert (evaluation.state, _entries(submission).count(), used(submission)) == ("failed", 0, 0)


def test_a_scorecard_without_the_first_measure_fails(send: Any, board: Any) -> None:
    submission = send().submission
    validation.validate(submission.pk)
    evaluation = submission.evaluations.get()
    claim = states.claim_evaluation(evaluation.pk)
    assert claim is not None
    other = Score(Subset.FULL, Condition.MULTIMODAL, "", "mAP@50", 0.5, 0.4, 0.6, 12)
    _finish_or_fail(claim, evaluation, Scorecard((other,), {}, "1.0.0"))
    evaluation.refresh_from_db()
    assert (evaluation.state, _entries(submission).count()) == ("failed", 0)


def _finish_or_fail(claim: states.Claim, evaluation: Evaluation, card: Scorecard) -> None:
    failures.attempt(claim, lambda held: evaluations._finish(held, evaluation, card, {}))


def test_scoring_all_again_doubles_nothing(send: Any, board: Any) -> None:
    """Public report A5: 31 submissions stay 31, a second run does no work, and quota stays as it was."""
    from django.core.management import call_command

    submissions = [scored(send, lists=ranking(board.content, seed), method_name=f"m{seed}") for seed in range(4)]
    before = Quota.objects.get().used
    call_command("rescore")
    work()
    assert Evaluation.objects.count() == len(submissions)
    assert Quota.objects.get().used == before


def test_a_new_version_gets_new_results_and_the_old_ones_stay(send: Any, board: Any, make_board: Any) -> None:
    """Public report A6: the board never mixes two versions; a published submission is published on the new one too."""
    from leaderboard.selectors.ordering import public_entries

    submission = scored(send, lists=good_ranking(board.content))
    publication.publish(submission)
    old = submission.evaluations.get().entry
    moved = board.content.judgments.positive.copy()
    moved[np.flatnonzero(moved)[0]] = False
    judgments = replace(board.content.judgments, positive=moved)
    make_board(content=replace(board.content, judgments=judgments))
    assert not public_entries().exists()
    assert len(score_again(submission)) == 1
    assert score_again(submission) == []
    work()
    (shown,) = public_entries()
    assert (shown.version.number, shown.published_at) == (2, submission.published_at)
    old.refresh_from_db()
    assert old.version.number == 1
    assert old.scores.exists()


def test_another_list_length_is_not_scored_from_the_old_arrays(send: Any, board: Any, make_board: Any) -> None:
    submission = scored(send)
    shorter = replace(board.content, protocol=replace(board.content.protocol, list_length=40))
    make_board(content=shorter)
    assert score_again(submission) == []
    assert send().created  # the same bytes are checked anew against the new version


def test_scoring_again_needs_a_checked_submission(send: Any) -> None:
    submission = send().submission
    with pytest.raises(IllegalMove):
        score_again(submission)


def test_the_cirr_pair_is_one_run(send: Any, make_board: Any) -> None:
    cirr = make_board("cirr")
    main = ranking(cirr.content)
    members: dict[str, Any] = {"version": "rc2", "metric": "recall_subset"}
    judged = cirr.content.judgments
    for position, query in enumerate(cirr.content.query_ids):
        mine = judged.image[judged.member & (judged.query == position)]
        members[query] = [cirr.content.images[image] for image in mine[:3]]
    files = [upload({"version": "rc2", "metric": "recall", **main}), upload(members, "subset.json")]
    submission = scored(send, to=cirr, runs={Condition.MULTIMODAL: files})
    assert submission.faults == []
    assert submission.runs.get().files.count() == 2
    assert submission.evaluations.get().entry.scores.get(measure="Recall_subset@1").value is not None


def test_every_log_line_says_what_it_is_about(send: Any, caplog: pytest.LogCaptureFixture) -> None:
    from config.logs import SubjectFilter
    from submissions import tasks

    caplog.handler.addFilter(SubjectFilter())
    submission = send().submission
    tasks.validate(submission.pk)
    evaluation = submission.evaluations.get()
    tasks.score(evaluation.pk)
    lines = [(record.__dict__["subject"], record.getMessage().split(":")[0].split(";")[0]) for record in caplog.records]
    assert (f"submission={submission.pk} split=tiny-circo", "valid") in lines
    assert (f"evaluation={evaluation.pk} split=tiny-circo", "scored") in lines


def test_api_numbers_are_strict_json(send: Any) -> None:
    entry = scored(send).evaluations.get().entry
    json.dumps([score.value for score in entry.scores.all()], allow_nan=False)


def _entries(submission: Submission) -> Any:
    from leaderboard.models import Entry

    return Entry.objects.filter(method=submission.method)
