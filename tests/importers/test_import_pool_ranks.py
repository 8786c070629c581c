"""CIRCUS's released best ranks: the published counts come out, and whatever contradicts them is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from importers.made_up_pool import COMPOSED, COUNTS, OPEN, QUOTED, PoolRelease, Row, Said, lasco_rows, rows_of
from importers.made_up_release import SKIPPED, SOLVABLE, lasco_audited, lasco_native

from evaluator.audit.labels import LABELS, Member, label
from evaluator.types import Condition, Split, Subset
from leaderboard.importers.circus import read_circus
from leaderboard.importers.pool_checks import read_pool
from leaderboard.importers.refusal import FileMissing, ImportRefused

BOTH, TEXT, IMAGE = Condition.MULTIMODAL, Condition.TEXT_ONLY, Condition.IMAGE_ONLY


@pytest.fixture
def pool(tmp_path: Path) -> PoolRelease:
    folder = tmp_path / "release"
    folder.mkdir()
    return PoolRelease(folder)


@pytest.fixture
def circo_rows(circus_circo: Split, data_folder: Path) -> list[Row]:
    return rows_of(circus_circo, data_folder)


def _counts(member: Member) -> tuple[int, ...]:
    return tuple(int(label([member]).has(name).sum()) for name in LABELS)


def _refused(pool: PoolRelease, split: Split) -> str:
    """Return every difference that the folder is refused for, one a line."""
    with pytest.raises(ImportRefused) as refusal:
        read_pool(split, pool.folder)
    return "\n".join(map(str, refusal.value.differences))


def _change(rows: list[Row], index: int, change: Callable[[Row], Row]) -> list[Row]:
    return [change(row) if row.query.index == index else row for row in rows]


@pytest.mark.parametrize("dataset", ["cirr", "fashioniq", "circo"])
def test_the_published_labels_follow_from_the_ranks(
    dataset: str, pool: PoolRelease, data_folder: Path, request: pytest.FixtureRequest
) -> None:
    split: Split = request.getfixturevalue(f"circus_{dataset}")
    pool.pool_traces(dataset, rows_of(split, data_folder))
    member = read_pool(split, pool.folder)
    assert _counts(member) == COUNTS[dataset]
    assert (member.name, member.models) == ("CIRCUS pool", 12)
    if Subset.SF in split.subsets:
        assert np.array_equal(label([member]).shortcut_free, split.subsets[Subset.SF])


def test_lasco_has_the_published_labels_and_six_numbers_that_are_nobodys(pool: PoolRelease, tmp_path: Path) -> None:
    rows = lasco_rows(lasco_audited(lasco_native(tmp_path)))
    pool.pool_traces("lasco", rows)
    split = read_circus("lasco", pool.folder)
    member = read_pool(split, pool.folder)
    assert _counts(member) == COUNTS["lasco"]
    position = split.query_index["30036"]
    last = next(row for row in rows if row.query.index == 30_036)
    assert tuple(int(member.ranks[each][position]) for each in Condition) == last.said.ranks
    pool.pool_traces("lasco", [*rows, replace(rows[0], query=replace(rows[0].query, index=SKIPPED[0]))])
    assert "audited queries that circus-lasco lacks: expected none, found 1: 7" in _refused(pool, split)


@pytest.mark.parametrize(("dataset", "index"), [(name, index) for name, rows in QUOTED.items() for index in rows])
def test_rows_of_the_real_release_are_labelled_as_released(dataset: str, index: int) -> None:
    """Every row that the layout quotes: ranks, supports and both labels go together as the checks demand."""
    row = QUOTED[dataset][index]
    given = Member("one", {each: np.array([rank], np.int32) for each, rank in zip(Condition, row.ranks, strict=True)})
    words = {"text_only": "shortcut (text)", "image_only": "shortcut (image)", "both_unimodal": "shortcut (both)"}
    assert label([given]).words(0) == words.get(row.detail, row.detail.replace("_", "-"))
    assert [rank <= 10 for rank in row.ranks] == [support > 0 for support in row.support]
    assert max(row.support[1:]) <= row.either <= sum(row.support[1:])


def test_supports_and_names_come_along(pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]) -> None:
    pool.pool_traces("circo", circo_rows)
    member = read_pool(circus_circo, pool.folder)
    labelling = label([member])
    assert labelling.models == 12
    for number, row in enumerate(circo_rows):
        assert tuple(int(labelling.support[each][number]) for each in Condition) == row.said.support
        assert int(labelling.either[number]) == row.said.either
    assert member.best_name(BOTH, 12) == "LamRA-Qwen2.5VL"
    assert member.best_name(IMAGE, 207) == ""  # the unnamed twelfth


@pytest.mark.parametrize("dataset", ["cirr", "circo"])
def test_the_audit_file_alone_says_the_same(
    dataset: str, pool: PoolRelease, data_folder: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    split: Split = request.getfixturevalue(f"circus_{dataset}")
    rows = rows_of(split, data_folder)
    pool.pool_audit(dataset, rows)
    alone = read_pool(split, pool.folder)
    pool.pool_traces(dataset, rows)
    both = read_pool(split, pool.folder)
    for condition in Condition:
        assert np.array_equal(alone.ranks[condition], both.ranks[condition])
    assert alone.frozen is not None
    assert both.frozen is not None
    assert alone.frozen.best == both.frozen.best


def test_an_audit_file_that_disagrees_with_the_traces_is_refused(
    pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    pool.pool_traces("circo", circo_rows)
    pool.pool_audit("circo", _change(circo_rows, 157, lambda row: row.saying(ranks=(244, 1320, 1405))))
    said = _refused(pool, circus_circo)
    assert "query_idx 157, rank_multimodal: expected 245 as in the trace, found 244 in the audit file" in said
    more = replace(circo_rows[0], query=replace(circo_rows[0].query, index=220))
    pool.pool_audit("circo", [*circo_rows, more])
    assert "query_idx 220: expected in the traces and in the audit file, found in one only" in _refused(
        pool, circus_circo
    )
    pool.pool_audit("circo", circo_rows[1:])
    assert "query_idx 0: expected in the traces and in the audit file, found in one only" in _refused(
        pool, circus_circo
    )


CHANGED = [
    # index, ranks, the rank it is about, detail label it has, labels that follow
    (207, (70, 10, 604), "rank_text_only 10", OPEN, "shortcut_solvable / text_only"),
    (157, (9, 1320, 1405), "rank_multimodal 9", OPEN, f"{COMPOSED} / {COMPOSED}"),
    (12, (11, 273, 140), "rank_multimodal 11", COMPOSED, f"{OPEN} / {OPEN}"),
    (12, (1, 273, 1), "rank_image_only 1", COMPOSED, "shortcut_solvable / image_only"),
]


@pytest.mark.parametrize("case", CHANGED)
def test_one_changed_rank_is_refused_by_name(
    case: tuple[int, tuple[int, int, int], str, str, str],
    pool: PoolRelease,
    circus_circo: Split,
    circo_rows: list[Row],
) -> None:
    index, ranks, rank, has, follows = case
    pool.pool_traces("circo", _change(circo_rows, index, lambda row: row.saying(ranks=ranks)))
    said = _refused(pool, circus_circo)
    line = next(line for line in said.splitlines() if line.startswith(f"query_idx {index}, label by"))
    assert rank in line
    assert f"expected {follows}, which follows from these ranks, found {has} / {has}" in line
    assert re.search(r"row \d+ of .*trace\.csv", line)
    name, number = rank.split()
    assert re.search(rf"query_idx {index}, {name}: expected (at most|more than) 10, .*, found {number} ", said)


@pytest.mark.parametrize("detail", ["text_only", "image_only", "both_unimodal"])
def test_a_changed_rank_of_a_shortcut_is_refused_though_it_may_stay_one(
    detail: str, pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    """Of a query that text and image solve, one rank moved away leaves a shortcut of another kind."""
    index = next(row.query.index for row in circo_rows if row.said.detail == detail)
    away = (lambda r: (r[0], 11, r[2])) if detail != "image_only" else (lambda r: (r[0], r[1], 11))
    pool.pool_traces("circo", _change(circo_rows, index, lambda row: row.saying(ranks=away(row.said.ranks))))
    follows = "shortcut_solvable / image_only" if detail == "both_unimodal" else "(unresolved|composition_required) / "
    assert re.search(
        rf"query_idx {index}, label by .*: expected {follows}.*found {SOLVABLE} / {detail}",
        _refused(pool, circus_circo),
    )


def test_labels_that_follow_but_are_not_the_published_ones_are_refused(
    pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    """Whoever changes rank, support and label together meets the published count and the published list."""
    freed = Said(SOLVABLE, "text_only", (70, 3, 604), (0, 1, 0), 1)
    pool.pool_traces("circo", _change(circo_rows, 207, lambda row: replace(row, said=freed)))
    said = _refused(pool, circus_circo)
    assert "queries labelled shortcut_solvable: expected 164, found 165" in said
    assert "queries labelled unresolved: expected 3, found 2" in said
    assert "query_idx 207, label: expected no shortcut, as it is in the published SF, found shortcut_solvable" in said


def test_two_queries_that_changed_places_are_refused_by_the_published_lists(
    pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    """The counts are right; the list is not."""
    first = next(row for row in circo_rows if row.said.label == SOLVABLE)
    second = next(row for row in circo_rows if row.said.label == COMPOSED)
    changed = _change(circo_rows, first.query.index, lambda row: replace(row, said=second.said))
    changed = _change(changed, second.query.index, lambda row: replace(row, said=first.said))
    pool.pool_traces("circo", changed)
    said = _refused(pool, circus_circo)
    assert (
        f"query_idx {first.query.index}, label: expected shortcut_solvable, as it is outside the published SF" in said
    )
    assert f"query_idx {second.query.index}, label: expected no shortcut" in said
    assert "queries labelled" not in said


def test_v_was_drawn_from_the_two_labels_and_tells_where_sf_is_not_at_hand(
    pool: PoolRelease, circus_fashioniq: Split, data_folder: Path
) -> None:
    rows = rows_of(circus_fashioniq, data_folder)
    validated = circus_fashioniq.subsets[Subset.V]
    solved, unsolved = (
        next(row for row in rows if row.said.label == name and validated[row.query.index]) for name in (COMPOSED, OPEN)
    )
    changed = _change(rows, solved.query.index, lambda row: replace(row, said=unsolved.said))
    changed = _change(changed, unsolved.query.index, lambda row: replace(row, said=solved.said))
    pool.pool_traces("fashioniq", changed)
    said = _refused(pool, circus_fashioniq)
    assert f"query_idx {solved.query.index}, label: expected composition_required, as it is in the published V" in said
    assert f"query_idx {unsolved.query.index}, label: expected unresolved, as it is in the published V" in said


def test_the_last_place_of_the_gallery_is_a_rank(pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]) -> None:
    pool.pool_traces("circo", _change(circo_rows, 207, lambda row: row.saying(ranks=(70, 123_403, 604))))
    assert read_pool(circus_circo, pool.folder).ranks[TEXT][207] == 123_403


ODD = [
    ({"ranks": (0, 60, 604)}, "query_idx 207, rank_multimodal: expected 1 to 123,403, found 0"),
    ({"ranks": (70, 123_404, 604)}, "query_idx 207, rank_text_only: expected 1 to 123,403, found 123404"),
    ({"support": (13, 0, 0)}, "query_idx 207, support_multimodal: expected 0 to 12, found 13"),
    ({"either": 1}, "query_idx 207, support_either_unimodal: expected 0 to 0, found 1"),
    ({"support": (0, 2, 3), "either": 2}, "query_idx 207, support_either_unimodal: expected 3 to 5, found 2"),
    ({"support": (0, 9, 9), "either": 13}, "query_idx 207, support_either_unimodal: expected 9 to 12, found 13"),
    (
        {"support": (1, 0, 0)},
        "query_idx 207, rank_multimodal: expected at most 10, as support_multimodal is 1, found 70",
    ),
    ({"best": ("clip", "", "")}, "query_idx 207, best_retriever_multimodal: expected a retriever of the release"),
    ({"detail": "text_only"}, "found unresolved / text_only"),
    ({"label": "solved"}, "found solved / unresolved"),
]


@pytest.mark.parametrize(("changes", "message"), ODD)
def test_numbers_and_names_that_nothing_could_have_are_refused(
    changes: dict[str, object], message: str, pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    pool.pool_audit("circo", _change(circo_rows, 207, lambda row: row.saying(**changes)))
    assert message in _refused(pool, circus_circo)


def test_a_rank_that_is_no_number_is_refused_with_its_row(
    pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    pool.pool_traces("circo", circo_rows)
    path = next(pool.folder.rglob("shortcut_free/*.trace.csv"))
    path.write_text(path.read_text("utf-8").replace(",1,273,140,", ",1,,140,"), encoding="utf-8")
    assert re.search(r"row \d+, rank_text_only: expected a whole number, found ''", _refused(pool, circus_circo))


def test_a_shifted_numbering_is_refused(pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]) -> None:
    """Each row speaks of the query after it: text, reference and target all tell, and 20 are named."""
    moved = [
        replace(one, query=replace(two.query, index=one.query.index))
        for one, two in zip(circo_rows, [*circo_rows[1:], circo_rows[0]], strict=True)
    ]
    pool.pool_traces("circo", moved)
    said = _refused(pool, circus_circo)
    assert "query_idx 0, text: expected 'shows two people and has a more colorful background'" in said
    assert "query_idx 0, reference image: expected 271520" in said
    assert "query_idx 0, target image: expected 355099 or 528417 or 534704" in said
    assert "further differences of the same kind" in said


def test_queries_that_are_missing_or_repeated_are_named(
    pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]
) -> None:
    pool.pool_traces("circo", [row for row in circo_rows if row.query.index not in (3, 207)])
    assert "queries of circus-circo that were not audited: expected none, found 2: 3, 207" in _refused(
        pool, circus_circo
    )
    pool.pool_traces("circo", [*circo_rows, circo_rows[5]])
    assert "repeated query_idx: expected none, found 1: 5" in _refused(pool, circus_circo)


def test_one_trace_alone_is_not_enough(pool: PoolRelease, circus_circo: Split, circo_rows: list[Row]) -> None:
    """The shortcuts are in the other one."""
    pool.pool_traces("circo", circo_rows)
    next(pool.folder.rglob("shortcut_solvable/*.trace.csv")).unlink()
    with pytest.raises(FileMissing, match=r"shortcut_\{free,solvable\}"):
        read_pool(circus_circo, pool.folder)
