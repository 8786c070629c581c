"""Parity with what the benchmarks' own evaluators say of real files, to 1e-12."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from needs import missing

from evaluator.scoring import score
from evaluator.types import Condition, Ranking, Split, Subset
from leaderboard.importers.circo import read_circo_val
from leaderboard.importers.circus import read_circus
from leaderboard.importers.pinpoint import read_pinpoint, read_pinpoint_clean

MULTIMODAL = Condition.MULTIMODAL
EXACT = 1e-12
CUTOFFS = (1, 5, 10, 50)


@cache
def rankings_tool(data: Path) -> ModuleType:
    """The script that writes the same PinPoint ranking on every machine, beside the data."""
    path = data.parent / "tools" / "make_pinpoint_rankings.py"
    if not path.is_file():
        missing(f"{path} does not exist: it writes the PinPoint rankings whose scores are known")
    spec = importlib.util.spec_from_file_location("make_pinpoint_rankings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def pinpoint_lists(data: Path, variant: str, folder: Path) -> dict[str, list[str]]:
    target = folder / f"{variant}.json"
    rankings_tool(data).main(str(data / "pinpoint"), variant, str(target))
    written = json.loads(target.read_text())
    return {f"query_{number}": row["retrieved_items"] for number, row in written.items()}


def ranking(split: Split, lists: dict[str, list[str]]) -> Ranking:
    """Look the lists up in the split; ids it does not know follow after the known ones."""
    unknown: dict[str, int] = {}

    def index(image: str) -> int:
        known = split.image_index.get(image)
        return len(split.images) + unknown.setdefault(image, len(unknown)) if known is None else known

    rows = [[index(image) for image in lists[query]] for query in split.query_ids]
    lengths = np.array([len(row) for row in rows], dtype=np.int32)
    return Ranking(np.array(rows, dtype=np.int32), lengths, tuple(unknown))


def expected(data: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((data / "submissions" / f"{name}.expected.json").read_text()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pinpoint")


@pytest.fixture(scope="module")
def pinpoint(data_folder: Path) -> Split:
    return read_pinpoint(data_folder / "pinpoint")


@pytest.mark.parametrize("variant", ["strong", "trapped"])
def test_pinpoint_equals_its_released_evaluator(data_folder: Path, pinpoint: Split, folder: Path, variant: str) -> None:
    wanted = expected(data_folder, f"pinpoint_{variant}")
    lists = pinpoint_lists(data_folder, variant, folder)
    card = score(pinpoint, {MULTIMODAL: ranking(pinpoint, lists)}, breakdowns=False)
    theirs = {
        **{f"mAP@{k}": f"mAP@{k}" for k in CUTOFFS},
        **{f"mAP_noNeg@{k}": f"mAP@{k}_noNeg" for k in CUTOFFS},
        **{f"Precision@{k}": f"precision@{k}" for k in CUTOFFS},
        **{f"Recall@{k}": f"recall@{k}" for k in CUTOFFS},
        **{f"NegRecall@{k}": f"NegRecall@{k}" for k in CUTOFFS},
        "DeltamAP@10": "delta_mAP@10_noNeg",
        "RelDeltamAP@10": "pct_increase_mAP@10_noNeg",
        "LingSens(Precision@10)": "ling_sens_range",
        "LingSensStd(Precision@10)": "ling_sens_std",
    }
    assert {*theirs.values(), "model", "total_queries"} == set(wanted)
    for ours, name in theirs.items():
        assert card.find(ours, Subset.ALL).value == pytest.approx(wanted[name], abs=EXACT, rel=EXACT), ours
    assert card.find("mAP@10", Subset.ALL).n == wanted["total_queries"] == 7635


def test_pinpoints_counts_are_those_of_the_papers(data_folder: Path, pinpoint: Split, folder: Path) -> None:
    """Decisions 11 and 12, protocols.md 5.3: 1,221 groups, 895 or 1,006 two-image rows, 774 of them Original."""
    run = ranking(pinpoint, pinpoint_lists(data_folder, "strong", folder))
    card = score(pinpoint, {MULTIMODAL: run}, breakdowns=False)
    assert card.find("LingSens(Precision@10)", Subset.ALL).n == 1221
    assert card.find("mAP@10", Subset.ALL, group="images=multi").n == 895
    assert card.find("mAP@10", Subset.ALL, group="images_signature=multi").n == 1006
    assert card.find("mAP@10", Subset.ORIGINAL, group="images=multi").n == 774


def test_distinct_negatives_give_the_other_reading(data_folder: Path, folder: Path) -> None:
    """Decision 8: 0.5255 with negatives as released, about 0.5662 without repeats and nulls."""
    clean = read_pinpoint_clean(data_folder / "pinpoint")
    run = ranking(clean, pinpoint_lists(data_folder, "strong", folder))
    value = score(clean, {MULTIMODAL: run}, breakdowns=False).find("NegRecall@50", Subset.ALL).value
    assert value == pytest.approx(0.5662, abs=0.002)


def circo_lists(data: Path) -> dict[str, list[str]]:
    written = json.loads((data / "submissions" / "circo_val_example.json").read_text())
    return {query: [str(image) for image in images] for query, images in written.items()}


def test_circo_equals_its_evaluator(data_folder: Path) -> None:
    wanted = expected(data_folder, "circo_val_example")
    split = read_circo_val(data_folder / "circo")
    card = score(split, {MULTIMODAL: ranking(split, circo_lists(data_folder))})
    for k in (5, 10, 25, 50):
        assert card.find(f"mAP@{k}", Subset.FULL).value == pytest.approx(wanted[f"mAP@{k}"], abs=EXACT)
        assert card.find(f"Recall_target@{k}", Subset.FULL).value == pytest.approx(wanted[f"Recall@{k}"], abs=EXACT)
    for aspect, value in wanted["semantic_mAP@10"].items():
        assert card.find("mAP@10", Subset.FULL, group=f"aspect={aspect}").value == pytest.approx(value, abs=EXACT)


def test_circus_on_circo_equals_the_published_subsets(data_folder: Path) -> None:
    wanted = expected(data_folder, "circo_val_example")
    split = read_circus("circo", data_folder / "circus", data_folder / "circo")
    by_id = circo_lists(data_folder)
    lists = {query: by_id[str(position)] for position, query in enumerate(split.query_ids)}
    card = score(split, {MULTIMODAL: ranking(split, lists)})
    assert card.find("Recall_any@10", Subset.FULL).value == pytest.approx(wanted["recall_any10_full"], abs=EXACT)
    for subset in (Subset.SF, Subset.V):
        numbers = wanted[subset.value]
        assert card.find("mAP@10", subset).value == pytest.approx(numbers["mAP10"], abs=EXACT)
        assert card.find("Recall_any@10", subset).value == pytest.approx(numbers["recall_any10"], abs=EXACT)
        assert card.find("Recall_target@10", subset).value == pytest.approx(numbers["recall_target10"], abs=EXACT)
        assert card.find("mAP@10", subset).n == numbers["n"]
