"""Judged-ranks files through the server: ranks made at home are scored, marked, and refused where they must be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.test import Client
from sending import DECLARED, upload, work

from accounts.services import make_token
from evaluator import scoring
from evaluator.formats import JUDGED, write_judged
from evaluator.ranks import candidates, judged_ranks
from evaluator.types import Condition, JudgedRanks, Ranking, Split
from submissions.models import Submission
from submissions.services import evaluations

pytestmark = pytest.mark.django_db


def ranked(content: Split, seed: int = 0) -> JudgedRanks:
    """Return the ranks of random whole rankings of a split with one gallery."""
    random, size = np.random.default_rng(seed), len(content.images)
    order = np.array([random.permutation(size) for _ in content.query_ids], dtype=np.int32)
    return judged_ranks(content, Ranking(order, candidates(content)))


def files(content: Split) -> dict[Condition, list[Any]]:
    return {
        condition: [upload(write_judged(ranked(content, seed), content).encode(), f"{condition}.csv")]
        for seed, condition in enumerate(Condition)
    }


def scored(send: Any, **changes: Any) -> Submission:
    submission = send(**changes).submission
    work()
    submission.refresh_from_db()
    return submission


def test_author_ranks_are_scored_over_the_whole_gallery_and_marked(send: Any, make_board: Any) -> None:
    board = make_board("circus-single")
    submission = scored(send, to=board, runs=files(board.content))
    assert (submission.state, submission.faults) == ("valid", [])
    assert {run.format for run in submission.runs.all()} == {JUDGED}
    entry = submission.evaluations.get().entry
    assert entry.ranks_by_author
    card = scoring.score(board.content, {c: ranked(board.content, seed) for seed, c in enumerate(Condition)})
    stored = {(row.measure, row.subset, row.condition): row.value for row in entry.scores.filter(group="")}
    assert stored == {(s.measure, s.subset, s.condition or ""): s.value for s in card.scores if not s.group}


def test_a_ranking_is_not_marked(send: Any) -> None:
    assert not scored(send).evaluations.get().entry.ranks_by_author


def test_one_file_of_ranks_is_scored_on_the_sister_that_judges_no_more(send: Any, make_board: Any) -> None:
    """``pinpoint-clean`` judges fewer images than ``pinpoint``: a file for the first has no rank of some of them."""
    full = make_board("pinpoint")
    judgments = full.content.judgments
    kept = np.arange(len(judgments)) % 7 != 0
    columns = ("query", "image", "positive", "negative", "target", "member")
    fewer = replace(judgments, **{name: getattr(judgments, name)[kept] for name in columns})
    clean = make_board(content=replace(full.content, name="tiny-clean", judgments=fewer))
    submission = scored(send, to=full, runs={Condition.MULTIMODAL: files(full.content)[Condition.MULTIMODAL]})
    assert {row.version.split.slug for row in submission.evaluations.all()} == {"tiny-pinpoint", "tiny-clean"}
    assert {row.state for row in submission.evaluations.all()} == {"scored"}
    only = scored(send, to=clean, runs={Condition.MULTIMODAL: files(clean.content)[Condition.MULTIMODAL]})
    assert [row.version.split.slug for row in only.evaluations.all()] == ["tiny-clean"]
    assert evaluations.score_again(only) == []


def test_ranks_are_refused_where_the_truth_is_hidden(send: Any, make_board: Any) -> None:
    content = make_board("circo").content
    hidden = make_board("circo", hidden_truth=True)
    submission = scored(send, to=hidden, runs={Condition.MULTIMODAL: files(content)[Condition.MULTIMODAL]})
    assert submission.state == "invalid"
    assert [fault["code"] for fault in submission.faults] == ["ranks-not-taken"]


def test_impossible_ranks_are_faults(send: Any, make_board: Any) -> None:
    board = make_board("circus-single")
    text = write_judged(ranked(board.content), board.content)
    first, rest = text.split("\n", 2)[1:]
    wrong = f"query,judged_image,gallery_rank\n{first.rpartition(',')[0]},{len(board.content.images) + 1}\n{rest}"
    submission = scored(send, to=board, runs={Condition.MULTIMODAL: [upload(wrong.encode(), "ranks.csv")]})
    assert [fault["code"] for fault in submission.faults] == ["rank-outside-gallery"]


def test_ranks_come_through_the_api(user: Any, make_board: Any, django_capture_on_commit_callbacks: Any) -> None:
    board = make_board("circus-single")
    form = {"split": board.split.slug, "method": "LinCIR", **DECLARED}
    names = {"multimodal": "multimodal", "text-only": "text_only", "image-only": "image_only"}
    sent = {names[condition]: given[0] for condition, given in files(board.content).items()}
    headers = {"Authorization": f"Bearer {make_token(user, 'test')[1]}"}
    client = Client()
    answer = client.post("/api/v1/submissions/", {**form, **sent}, headers=headers)
    assert answer.status_code == 201, answer.content
    work()
    told = client.get(answer.json()["url"], headers=headers).json()
    assert [run["format"] for run in told["runs"]] == [JUDGED] * 3
    (evaluation,) = told["evaluations"]
    values = {(row["measure"], row["subset"], row["condition"] or ""): row["value"] for row in evaluation["scores"]}
    assert values["CompositionGap", "Full", ""] is not None
    assert 0 < values["nDCG", "Full", "image-only"] < 1
