"""Judged-ranks files: every way to write one reads to the same ranks, and every impossible one is told why."""

from __future__ import annotations

import contextlib
import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from formats.format_splits import COCO, make_split
from formats.writers import WRAPPERS, codes, faults, plain, zipped
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import bundle, protocols
from evaluator.errors import EvaluatorError, SubmissionError
from evaluator.formats import DEFAULT, JUDGED, SourceFile, read_run, write_judged
from evaluator.ranks import as_judged_ranks, candidates, covers, judged_ranks
from evaluator.types import JudgedRanks, Judgments, Lookalike, Ranking, Split

QUERIES = ("q1", "q2", "q3")
IMAGES = tuple("abcdefghij")
POSITIVES = {0: "bc", 1: "ae", 2: "j"}
HEADER = "query,judged_image,gallery_rank\n"
ROWS = ("q1,b,2", "q1,c,10", "q2,a,1", "q2,e,7", "q3,j,4")
GOOD = HEADER + "\n".join(ROWS) + "\n"


@pytest.fixture
def split() -> Split:
    return make_split(QUERIES, IMAGES, positives=POSITIVES)


def judged(split: Split, content: str | bytes) -> JudgedRanks:
    raw = content if isinstance(content, bytes) else content.encode()
    run = read_run([SourceFile("file", raw)], split)
    assert isinstance(run, JudgedRanks)
    return run


def rows(*changes: tuple[int, str]) -> bytes:
    """Return the good file with some rows replaced; "" leaves one out."""
    changed = {**dict(enumerate(ROWS)), **dict(changes)}
    return (HEADER + "".join(f"{row}\n" for row in changed.values() if row)).encode()


def as_lines(content: str) -> str:
    found = [row.split(",") for row in content.splitlines()[1:]]
    return "\n".join(
        json.dumps({"gallery_rank": int(rank), "query": query, "judged_image": image}) for query, image, rank in found
    )


def test_a_table_reads_to_the_ranks_in_the_order_of_the_judgments(split: Split) -> None:
    run = judged(split, GOOD)
    assert run.rank.tolist() == [2, 10, 1, 7, 4]
    assert run.depth.tolist() == [10, 10, 10]
    assert (run.complete, run.format) == (True, JUDGED)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        HEADER + "\n".join(ROWS[::-1]),
        GOOD.replace(",", "\t").replace("\n", "\r\n"),
        GOOD.replace("query,judged_image,gallery_rank", "QUERY;Judged_Image;gallery_rank").replace(",", ";"),
        "note," + GOOD.replace("\nq", "\n,q"),
        as_lines(GOOD),
    ],
)
def test_other_ways_to_write_the_same(split: Split, content: str, wrapper: str) -> None:
    assert judged(split, WRAPPERS[wrapper](content.encode())).rank.tolist() == [2, 10, 1, 7, 4]


def test_a_file_of_one_line_of_json(split: Split) -> None:
    single = make_split(["q"], "abcdef", positives={0: "c"})
    assert judged(single, '{"query": "q", "judged_image": "c", "gallery_rank": 6}').rank.tolist() == [6]


@pytest.mark.parametrize(
    ("content", "code", "place", "found"),
    [
        (rows((1, "q1,c,11")), "rank-outside-gallery", 'query "q1", line 3', "rank 11"),
        (rows((2, "q2,a,0")), "rank-outside-gallery", 'query "q2", line 4', "rank 0"),
        (rows((1, "q1,c,2")), "repeated-rank", 'query "q1", line 3', "rank 2 on lines 2 and 3"),
        (rows((5, "q3,d,9")), "not-judged", 'query "q3", line 7', '"d"'),
        (rows((1, "")), "judged-without-rank", 'query "q1"', 'no rank of "c"'),
        (rows((4, "")), "missing-query", 'query "q3"', "no ranking"),
        (rows((5, "q4,j,9")), "unknown-query", 'query "q4", line 7', '"q4"'),
        (rows((5, "q3,z,9")), "unknown-image", 'query "q3", line 7, rank 9', '"z"'),
        (rows((5, "q3,j,9")), "repeated-image", 'query "q3", line 6', '"j" at ranks 4 and 9'),
        (rows((5, "q3,j")), "csv-row", "line 7", "2 fields"),
        (GOOD.replace("gallery_", "").encode(), "csv-header", "line 1", '"query", "judged_image", "rank"'),
    ],
)
def test_what_cannot_be(split: Split, content: bytes, code: str, place: str, found: str) -> None:
    (fault,) = faults(split, content)
    assert (fault.code, fault.place, fault.found) == (code, place, found)
    assert fault.remedy


@pytest.mark.parametrize("rank", ["-1", "1.5", "", "first", "NaN"])
def test_a_rank_is_a_whole_number(split: Split, rank: str) -> None:
    assert codes(split, rows((4, f"q3,j,{rank}")))[0] == "bad-rank"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"query": "q3", "judged_image": "j", "gallery_rank": "4"}', "bad-rank"),
        ('{"query": "q3", "judged_image": "j", "gallery_rank": true}', "bad-rank"),
        ('{"query": "q3", "judged_image": "j", "gallery_rank": 4.0}', "bad-rank"),
        ('{"query": "q3", "judged_image": "j"}', "line-keys"),
        ('{"query": null, "judged_image": "j", "gallery_rank": 4}', "wrong-id-type"),
        ('{"query": "q3", "judged_image": ["j"], "gallery_rank": 4}', "too-deep"),
        ("[4]", "wrong-top-type"),
        ('{"query": "q3", "judged_image": "j", "gallery_rank": 4, "query": "q3"}', "repeated-key"),
    ],
)
def test_what_a_line_of_json_cannot_be(split: Split, line: str, code: str) -> None:
    content = "\n".join([*as_lines(GOOD).splitlines()[:4], line]).encode()
    assert codes(split, content)[0] == code


def test_hidden_truth_takes_none(split: Split) -> None:
    (fault,) = faults(bundle.without_truth(split), GOOD.encode())
    assert (fault.code, fault.found) == ("ranks-not-taken", "judged ranks")


def test_the_metric_of_a_cirr_file_cannot_say_judged_ranks(split: Split) -> None:
    content = json.dumps({"version": "rc2", "metric": "judged ranks", "q1": ["b"]}).encode()
    assert codes(split, content)[0] == "unknown-metric"


def test_one_run_is_one_file(split: Split) -> None:
    ranking = plain(dict.fromkeys(QUERIES, IMAGES))
    assert codes(split, GOOD.encode(), ranking) == ["two-rankings"]
    assert codes(split, zipped({"a.csv": GOOD.encode(), "b.csv": GOOD.encode()})) == ["zip-several-files"]


def test_a_million_rows_and_no_more(split: Split) -> None:
    limits = replace(DEFAULT, judged=5)
    (fault,) = faults(split, GOOD.encode(), limits=limits)
    assert (fault.code, fault.found, fault.expected) == ("too-many-entries", "6 lines", "at most 5")
    assert DEFAULT.judged == 1_000_000


def test_the_removed_reference_is_not_counted_and_members_are_ranked(split: Split) -> None:
    """CIRR: nine of ten images are ranked, and the members' ranks give the subset ranking."""
    cirr = make_split(
        ["q"], IMAGES, protocol=protocols.CIRR, references=["a"], members={0: "bcdef"}, positives={0: "c"}
    )
    content = HEADER + "q,b,9\nq,c,3\nq,d,2\nq,e,5\nq,f,1\n"
    run = as_judged_ranks(cirr, judged(cirr, content))
    assert run.member_rank is not None
    assert run.member_rank.tolist() == [5, 3, 2, 4, 1]
    assert codes(cirr, content.replace("b,9", "b,10").encode()) == ["rank-outside-gallery"]
    assert codes(cirr, (content + "q,a,8\n").encode()) == ["not-judged"]
    subset = json.dumps({"version": "rc2", "metric": "recall_subset", "q": list("bcd")}).encode()
    assert codes(cirr, content.encode(), subset) == ["subset-not-taken"]


def test_an_open_gallery_has_no_last_rank_and_is_never_complete(split: Split) -> None:
    opened = make_split(["0"], ["5", "7"], positives={0: ["7"]}, pattern=COCO)
    run = judged(opened, HEADER + "0,7,99000\n")
    assert (run.rank.tolist(), run.complete) == ([99_000], False)
    (fault,) = faults(opened, (HEADER + "0,7,0\n").encode())
    assert fault.expected == "1 or more"
    assert codes(opened, (HEADER + "0,7,3\n0,8,4\n").encode()) == ["not-judged"]


def test_judged_images_within_a_smaller_gallery_are_no_sign_of_it() -> None:
    """Every positive of CIRCUS on CIRR is an image of CIRR's val split."""
    small = Lookalike("small", images=frozenset("abcdej"), sentence="Rank all images.")
    split = make_split(QUERIES, IMAGES, positives=POSITIVES, lookalikes=[small])
    assert judged(split, GOOD).complete


def test_a_query_without_judged_images_needs_no_row() -> None:
    split = make_split(QUERIES, IMAGES, positives={0: "bc", 1: "ae"})
    assert judged(split, "".join(GOOD.splitlines(keepends=True)[:-1])).rank.tolist() == [2, 10, 1, 7]


def test_a_file_is_read_beside_other_judgments_of_the_same_gallery(split: Split) -> None:
    """Decision 3: one upload for ``pinpoint`` and ``pinpoint-clean``, which judge other images."""
    run = judged(split, GOOD)
    fewer = make_split(QUERIES, IMAGES, positives={0: "c", 1: "ae"})
    assert covers(fewer, run)
    assert as_judged_ranks(fewer, run).rank.tolist() == [10, 1, 7]
    more = make_split(QUERIES, IMAGES, positives={**POSITIVES, 2: "ij"})
    assert not covers(more, run)
    with pytest.raises(EvaluatorError, match="judgments of tiny"):
        as_judged_ranks(more, run)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Split, Ranking]:
    """A split with random judgments and a whole ranking of it."""
    count, size = draw(st.integers(1, 5)), draw(st.integers(4, 12))
    seed = draw(st.integers(0, 2**31))
    random = np.random.default_rng(seed)
    images = [f"im {number}" for number in range(size)]
    protocol = draw(st.sampled_from([protocols.CIRR, protocols.PINPOINT]))
    right = {query: random.choice(images[1:], random.integers(1, 4), replace=False).tolist() for query in range(count)}
    split = make_split([f"q,{n}" for n in range(count)], images, protocol=protocol, positives=right)
    first = int(protocol.remove_reference)  # the reference of every query is the first image in byte order
    order = np.array([random.permutation(np.arange(first, size)) for _ in range(count)], dtype=np.int32)
    return split, Ranking(order, np.full(count, size - first, dtype=np.int32))


@given(cases())
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_what_is_read(case: tuple[Split, Ranking]) -> None:
    split, ranking = case
    expected = judged_ranks(split, ranking)
    run = judged(split, write_judged(expected, split))
    assert run.rank.tolist() == expected.rank.tolist()
    assert (run.depth.tolist(), run.complete) == (candidates(split).tolist(), expected.complete)


@given(content=st.binary(max_size=40), cut=st.integers(0, len(GOOD)), at=st.integers(0, len(GOOD)))
@settings(max_examples=60, deadline=None)
def test_damaged_bytes_are_faults_or_still_a_run(content: bytes, cut: int, at: int) -> None:
    split = make_split(QUERIES, IMAGES, positives=POSITIVES)
    raw = GOOD.encode()
    for damaged in (raw[:cut], raw[:at] + content + raw[at:], gzip.compress(raw)[:cut]):
        with contextlib.suppress(SubmissionError):
            assert judged(split, damaged).rank.min() >= 1


def test_judgments_of_another_length_are_ours_to_answer_for(split: Split) -> None:
    run = judged(split, GOOD)
    assert isinstance(split.judgments, Judgments)
    with pytest.raises(EvaluatorError):
        as_judged_ranks(split, replace(run, rank=run.rank[:2]))
