"""A researcher's file gets the published evaluators' numbers, whichever door it comes in by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

CIRCO = (("import_circo", "circo"), ("import_circus", "circus", "cirr", "fashioniq", "circo", "lasco"))
PINPOINT_NAMES = {
    "precision": "Precision",
    "recall": "Recall",
    "mAP": "mAP",
    "NegRecall": "NegRecall",
}
PINPOINT_DERIVED = {
    "delta_mAP@10_noNeg": "DeltamAP@10",
    "pct_increase_mAP@10_noNeg": "RelDeltamAP@10",
    "ling_sens_range": "LingSens(Precision@10)",
    "ling_sens_std": "LingSensStd(Precision@10)",
}
Key = tuple[str, str, str]
"""Subset, measure, group."""


def scores_of(entry: Any) -> dict[Key, float | None]:
    rows = entry.scores.values_list("subset", "measure", "group", "value")
    return {(subset, measure, group): value for subset, measure, group, value in rows}


def entries_of(submission: Any) -> dict[str, Any]:
    return {row.version.split.slug: row.entry for row in submission.evaluations.select_related("entry")}


def agree(scores: Mapping[Key, float | None], expected: Mapping[Key, float]) -> None:
    found = {key: scores.get(key) for key in expected}
    assert found == pytest.approx(expected, abs=1e-12, rel=0)


def circo_expected(data_folder: Path) -> dict[str, dict[Key, float]]:
    """Return board -> what its scores must be, from the numbers that stand beside CIRCO's example file."""
    given = json.loads((data_folder / "submissions/circo_val_example.expected.json").read_text())
    circo: dict[Key, float] = {}
    for k in (5, 10, 25, 50):
        circo["Full", f"mAP@{k}", ""] = given[f"mAP@{k}"]
        circo["Full", f"Recall_target@{k}", ""] = given[f"Recall@{k}"]
    for aspect, value in given["semantic_mAP@10"].items():
        circo["Full", "mAP@10", f"aspect={aspect}"] = value
    circus: dict[Key, float] = {
        ("Full", "Recall_any@10", ""): given["recall_any10_full"],
        ("Full", "mAP@10", ""): given["mAP@10"],
        ("Full", "Recall_target@10", ""): given["Recall@10"],
    }
    for subset in ("SF", "V"):
        circus[subset, "mAP@10", ""] = given[subset]["mAP10"]
        circus[subset, "Recall_any@10", ""] = given[subset]["recall_any10"]
        circus[subset, "Recall_target@10", ""] = given[subset]["recall_target10"]
    return {"circo-val": circo, "circus-circo": circus}


def pinpoint_expected(data_folder: Path, variant: str) -> dict[Key, float]:
    given = json.loads((data_folder / f"submissions/pinpoint_{variant}.expected.json").read_text())
    expected = {("All", name, ""): given[theirs] for theirs, name in PINPOINT_DERIVED.items()}
    for k in (1, 5, 10, 50):
        for theirs, ours in PINPOINT_NAMES.items():
            expected["All", f"{ours}@{k}", ""] = given[f"{theirs}@{k}"]
        expected["All", f"mAP_noNeg@{k}", ""] = given[f"mAP@{k}_noNeg"]
    assert len(expected) == len(given) - 2, "every number of the released evaluator is compared, all but two are names"
    return expected


def test_circo_example_through_the_form(
    boards: Callable[..., None], send_by_form: Callable[..., Any], data_folder: Path
) -> None:
    boards(*CIRCO)
    submission = send_by_form("circo-val", "example", multimodal=data_folder / "submissions/circo_val_example.json")
    entries = entries_of(submission)
    expected = circo_expected(data_folder)
    assert set(entries) == set(expected)
    for board, scores in expected.items():
        agree(scores_of(entries[board]), scores)


def test_circo_example_by_the_api(
    boards: Callable[..., None], send_by_api: Callable[..., Any], data_folder: Path
) -> None:
    boards(*CIRCO)
    answer = send_by_api("circus-circo", "example", multimodal=data_folder / "submissions/circo_val_example.json")
    expected = circo_expected(data_folder)
    found = {
        row["split"]: {(score["subset"], score["measure"], score["group"]): score["value"] for score in row["scores"]}
        for row in answer["evaluations"]
    }
    assert set(found) == set(expected)
    for board, scores in expected.items():
        agree(found[board], scores)


@pytest.mark.slow
def test_pinpoint_on_the_web_and_at_home(
    boards: Callable[..., None],
    send_by_form: Callable[..., Any],
    score_at_home: Callable[..., dict[str, Any]],
    pinpoint_file: Callable[[str], Path],
    data_folder: Path,
) -> None:
    from django.core.files.storage import default_storage

    boards(("import_pinpoint", "pinpoint"))
    for variant in ("strong", "trapped"):
        expected = pinpoint_expected(data_folder, variant)
        entries = entries_of(send_by_form("pinpoint", variant, multimodal=pinpoint_file(variant)))
        assert set(entries) == {"pinpoint", "pinpoint-clean"}
        agree(scores_of(entries["pinpoint"]), expected)
        bundle = Path(default_storage.path(entries["pinpoint"].version.bundle))
        told = score_at_home(bundle, pinpoint_file(variant))["scores"]
        agree({(row["subset"], row["measure"], row["group"]): row["value"] for row in told}, expected)


def test_files_for_hidden_truth_end_as_checked(
    boards: Callable[..., None], send_by_form: Callable[..., Any], client: Any, data_folder: Path
) -> None:
    boards(("import_cirr", "cirr"), ("import_circo", "circo"))
    sent = data_folder / "submissions"
    cirr = send_by_form(
        "cirr-test1",
        "CIRPLANT",
        multimodal=sent / "cirr_test1_recall_cirplant_demo.json.gz",
        multimodal_subset=sent / "cirr_test1_recall_subset_cirplant_demo.json",
    )
    circo = send_by_form("circo-test", "MMRet-large", multimodal=sent / "circo_test_mmret_large.json")
    for submission, server in ((cirr, "cirr.cecs.anu.edu.au"), (circo, "circo.micc.unifi.it")):
        assert (submission.state, submission.faults, submission.evaluations.count()) == ("valid", [], 0)
        assert submission.quota_state == "returned"
        page = client.get(f"/submissions/{submission.public_id}/").content.decode()
        assert "checked" in page
        assert server in page
