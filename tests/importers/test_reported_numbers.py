"""The committed numbers, recomputed from the printed tables; and the schema, which lets nothing else pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.types import Condition, Subset
from leaderboard.reported import (
    FOLDER,
    ReportedEntry,
    ReportedFile,
    ReportedFileError,
    board_notes,
    read_reported,
    read_reported_file,
)

Number = tuple[Subset, Condition | None, str, str]
MULTIMODAL = Condition.MULTIMODAL
DATASETS = {"circus-cirr": "CIRR", "circus-fashioniq": "FashionIQ", "circus-lasco": "LaSCo", "circus-circo": "CIRCO"}
MODALITIES = {
    "multimodal": Condition.MULTIMODAL,
    "text_only": Condition.TEXT_ONLY,
    "image_only": Condition.IMAGE_ONLY,
}


@pytest.fixture(scope="module")
def published(data_folder: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads((data_folder / "circus/published_numbers.json").read_text("utf-8"))
    return numbers


def _file(name: str) -> ReportedFile:
    return next(reported for reported in read_reported() if reported.name == name)


def _entries(board: str) -> dict[str, ReportedEntry]:
    parts = [part for reported in read_reported() for part in reported.boards if part.board == board]
    return {entry.method: entry for part in parts for entry in part.entries}


def _values(entry: ReportedEntry) -> dict[Number, float]:
    return {score.key: score.value for score in entry.scores}


def _circus_expected(published: dict[str, Any], board: str, retriever: dict[str, str]) -> dict[Number, float]:
    """Return every number the source gives for one retriever; where it prints one twice, the one with more decimals."""
    measure = "Recall_any@10" if board == "circus-circo" else "Recall@10"
    table = published["recall_at_10_percent"][DATASETS[board]][retriever["name"]]
    numbers: dict[Number, float] = {(Subset(name), MULTIMODAL, "", measure): value for name, value in table.items()}
    audit = published["full_recall_at_10_by_modality_percent"].get(board.removeprefix("circus-"))
    if audit:
        row = audit[retriever["audit_id"]]
        numbers |= {(Subset.FULL, condition, "", measure): row[name] for name, condition in MODALITIES.items()}
        numbers[(Subset.FULL, None, "", "ShortcutLeak@10")] = row["either_unimodal"]
    return {key: round(value / 100, 6) for key, value in numbers.items()}


@pytest.mark.parametrize("board", DATASETS)
def test_circus_numbers_are_those_of_the_source(published: dict[str, Any], board: str) -> None:
    entries = _entries(board)
    assert set(entries) == {retriever["name"] for retriever in published["retrievers"]}
    for retriever in published["retrievers"]:
        entry = entries[retriever["name"]]
        assert _values(entry) == _circus_expected(published, board, retriever)
        assert entry.declared["backbone"] == retriever["model"]
        assert entry.pool_member


@pytest.mark.parametrize("board", DATASETS)
def test_circus_cells_show_what_the_page_prints(published: dict[str, Any], board: str) -> None:
    """132 cells; on Full the audit's second decimal is kept, and rounds to what the page prints."""
    for name, row in published["recall_at_10_percent"][DATASETS[board]].items():
        for score in _entries(board)[name].scores:
            if score.condition is MULTIMODAL:
                assert f"{float(score.shown):.1f}" == f"{row[score.subset]:.1f}"


@pytest.mark.parametrize("board", DATASETS)
def test_the_composition_gap_of_the_page_is_a_note_and_no_entry(published: dict[str, Any], board: str) -> None:
    means = published["compgap_ndcg_mean_over_retrievers"][DATASETS[board]]
    (note,) = [note for note in board_notes(board) if note.startswith("Composition Gap")]
    assert all(f"{subset} {value}" in note for subset, value in means.items())
    assert not [score for entry in _entries(board).values() for score in entry.scores if "Gap" in score.measure]


def _column_measure(column: str) -> str:
    """Return our name of a column of PinPoint's metrics.csv."""
    fixed = {
        "delta_mAP@10_noNeg": "DeltamAP@10",
        "pct_increase_mAP@10_noNeg": "RelDeltamAP@10",
        "ling_sens_range": "LingSens(Precision@10)",
        "ling_sens_std": "LingSensStd(Precision@10)",
    }
    if column in fixed:
        return fixed[column]
    if column.endswith("_noNeg"):
        return column.removesuffix("_noNeg").replace("mAP@", "mAP_noNeg@")
    return column[0].upper() + column[1:] if column.startswith(("precision", "recall")) else column


def test_pinpoint_release_is_its_metrics_file(data_folder: Path) -> None:
    runs = json.loads((data_folder / "pinpoint/baseline_metrics.json").read_text("utf-8"))
    entries = {entry.printed_as: entry for entry in _entries("pinpoint").values()}
    assert set(entries) == {run["model"] for run in runs}
    assert len(entries) == 11
    for run in runs:
        expected = {
            (Subset.ALL, MULTIMODAL, "", _column_measure(column)): value
            for column, value in run.items()
            if column not in ("model", "total_queries")
        }
        assert len(expected) == 24
        assert _values(entries[run["model"]]) == expected
        assert bool(entries[run["model"]].unranked) == (run["total_queries"] != 7_635)
        assert run["total_queries"] == 7_635 or "7,566 of the 7,635" in entries[run["model"]].unranked


def _paper_expected(tables: dict[str, Any]) -> dict[str, dict[Number, float]]:
    names = {"Meta CLIP 2 Combined": "Meta CLIP 2 - Combined", "MagicLens-L": "MagicLens-CLIP-L"}
    expected: dict[str, dict[Number, float]] = {}

    def note(method: str, measure: str, value: float, group: str = "") -> None:
        key = (Subset.ALL, MULTIMODAL, group, measure)
        known = expected.setdefault(method, {}).setdefault(key, round(value, 6))
        assert known == round(value, 6), f"two tables disagree on {method} {measure}"

    for row in tables["main"]:
        note(row["method"], "mAP@10", row["mAP@10"])
        note(row["method"], "RelDeltamAP@10", row["delta_mAP_percent"] / 100)
        note(row["method"], "NegRecall@10", row["NegRecall@10"])
        note(row["method"], "LingSens(mAP@10)", row["linguistic_sensitivity"])
    for row in tables["reranking"]:
        method = names.get(row["method"], row["method"])
        for measure in ("mAP@10", "NegRecall@10"):
            for name, value in zip((method, f"{method} + Reranking"), row[measure], strict=True):
                note(name, measure, value)
    for row in tables["multi_image"]:
        method = names.get(row["method"], row["method"])
        note(method, "mAP@10", row["single_mAP@10"], "images=single")
        note(method, "mAP@10", row["multi_mAP@10"], "images=multi")
        note(method, "MultiRatio(mAP@10)", row["factor"])
    return expected


def test_pinpoint_paper_is_its_three_tables(data_folder: Path) -> None:
    tables = json.loads((data_folder / "pinpoint/paper_tables.json").read_text("utf-8"))
    entries = _entries("pinpoint-paper")
    assert {method: _values(entry) for method, entry in entries.items()} == _paper_expected(tables)
    notes = " ".join(board_notes("pinpoint-paper")).lower()
    assert all(note.lower().split("(")[0].strip() in notes for note in tables["notes"])


def test_the_two_pinpoint_sources_never_share_a_board() -> None:
    assert [part.board for part in _file("PinPoint paper").boards] == ["pinpoint-paper"]
    assert [part.board for part in _file("PinPoint release").boards] == ["pinpoint"]


def test_a_method_has_one_reported_row_on_a_board(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_bytes((FOLDER / "circus.json").read_bytes())
    monkeypatch.setattr("leaderboard.reported.FOLDER", tmp_path)
    with pytest.raises(ReportedFileError, match="more than once"):
        read_reported.__wrapped__()


def test_every_publication_says_where_it_is() -> None:
    for reported in read_reported():
        assert reported.permalink.startswith("https://")
        assert reported.source
        assert reported.note


@pytest.mark.parametrize(
    ("measure", "value", "decimals", "shown"),
    [("mAP@10", 0.1837, 4, "18.37"), ("mAP@10", 0.11, 3, "11.0"), ("MultiRatio(mAP@10)", 4.83, 2, "4.83")],
)
def test_cells_show_the_printed_decimals(measure: str, value: float, decimals: int, shown: str) -> None:
    from leaderboard.reported import ReportedScore

    assert ReportedScore(Subset.ALL, MULTIMODAL, measure, value, decimals).shown == shown


def _first_score(fields: dict[str, Any]) -> dict[str, Any]:
    score: dict[str, Any] = fields["boards"][0]["entries"][0]["scores"][0]
    return score


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: _first_score(fields).update(measure="mAP@7"), "not on this board"),
        (lambda fields: _first_score(fields).update(subset="Everything"), "Everything"),
        (lambda fields: _first_score(fields).update(subset="V"), "not on this board"),
        (lambda fields: _first_score(fields).update(group="mood=good"), "not on this board"),
        (lambda fields: _first_score(fields).update(condition="blind"), "blind"),
        (lambda fields: _first_score(fields).update(condition=None), "a condition belongs"),
        (lambda fields: _first_score(fields).update(value=29.78), "29.78 is no number"),
        (lambda fields: _first_score(fields).update(value=0.29785), "is no number of 4 decimals"),
        (lambda fields: _first_score(fields).update(value="0.3"), "'<=' not supported"),
        (lambda fields: _first_score(fields).update(comment="x"), "comment"),
        (lambda fields: _first_score(fields).pop("decimals"), "decimals"),
        (lambda fields: fields["boards"][0]["entries"][0]["scores"].append(_first_score(fields)), "more than once"),
        (lambda fields: fields["boards"][0]["entries"].append(fields["boards"][0]["entries"][0]), "more than once"),
        (lambda fields: fields["boards"][0]["entries"][0].update(scores=[]), "no scores"),
        (lambda fields: fields["boards"][0].update(board="nowhere"), "nowhere"),
        (lambda fields: fields.pop("source"), "source"),
        (lambda fields: fields.pop("boards"), "boards"),
    ],
)
def test_a_file_that_breaks_the_schema_is_never_loaded(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    fields = json.loads((FOLDER / "pinpoint_release.json").read_text("utf-8"))
    change(fields)
    path = tmp_path / "spoiled.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    with pytest.raises(ReportedFileError, match=r"spoiled\.json: .*" + message):
        read_reported_file(path)
