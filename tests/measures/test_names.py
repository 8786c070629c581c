"""A measure is a value with a name that prints and parses; every one is described and documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluator import protocols
from evaluator.measures import REGISTRY, Unit, describe, parse
from evaluator.types import Protocol

PROTOCOLS = [value for value in vars(protocols).values() if isinstance(value, Protocol)]
EXAMPLES = {
    **{label: f"{label}@10" for label in REGISTRY},
    **{label: label for label in ("nDCG", "MRR", "MedianRank")},
    "CompositionGap": "CompositionGap",
    "Mean": "Mean(Recall@5,Recall_subset@1)",
    **{label: f"{label}(mAP@10)" for label in REGISTRY if label.startswith(("LingSens", "Multi", "Macro"))},
}
"""One name of every family."""


def protocol_names() -> list[str]:
    """Every measure that any board asks for."""
    names: dict[str, None] = {}
    for protocol in PROTOCOLS:
        names |= dict.fromkeys([protocol.first_measure, *protocol.measures, *protocol.joint_measures])
        names |= dict.fromkeys(name for breakdown in protocol.breakdowns for name in breakdown.measures)
    return list(names)


@pytest.mark.parametrize("name", [*EXAMPLES.values(), *protocol_names(), "nDCG@10", "Mean(Macro(mAP@5),mAP@5,nDCG)"])
def test_a_name_prints_as_it_was_parsed(name: str) -> None:
    measure = parse(name)
    assert str(measure) == name
    assert parse(str(measure)) == measure
    assert hash(parse(name)) == hash(measure)


@pytest.mark.parametrize("name", [*EXAMPLES.values(), *protocol_names()])
def test_every_measure_is_described(name: str) -> None:
    about = describe(name)
    assert about.title
    assert about.sentence.endswith(".")
    assert about.unit in Unit
    assert all(about.needs)


def test_directions_and_units() -> None:
    assert describe("mAP@10").higher_is_better
    assert not any(
        describe(name).higher_is_better
        for name in (
            "NegRecall@10",
            "DeltamAP@10",
            "RelDeltamAP@10",
            "LingSens(mAP@10)",
            "MultiDrop(mAP@10)",
            "ShortcutLeak@10",
        )
    )
    assert describe("MultiRatio(mAP@10)").unit is Unit.NUMBER
    assert describe("nDCG").needs == ("ranks in the full gallery",)
    assert describe("nDCG@10").needs == ()


def test_first_measures_have_a_contribution_from_every_query() -> None:
    from evaluator.measures.base import LinearMeasure

    assert all(isinstance(parse(protocol.first_measure), LinearMeasure) for protocol in PROTOCOLS)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("recall@10", "did you mean Recall?"),
        ("Recal@10", "did you mean Recall?"),
        ("zzz@10", "known are Recall"),
        ("Recall", "Recall is written Recall@k"),
        ("Recall@0", "k from 1 to 1000"),
        ("Recall@1001", "k from 1 to 1000"),
        ("Recall@010", 'is written "Recall@10"'),
        ("Recall@ 10", "names look like"),
        ("Recall@10(mAP@10)", "Recall is written"),
        ("Recall@99999999999", "names look like"),
        ("nDCG(mAP@10)", "nDCG is written"),
        ("LingSens@10", "LingSens takes one measure"),
        ("LingSens(RelDeltamAP@10)", "LingSens takes one measure of single queries"),
        ("LingSens(Mean(mAP@5,mAP@10))", "LingSens takes one measure of single queries"),
        ("MultiRatio(MultiRatio(mAP@10))", "MultiRatio takes one measure that is a mean"),
        ("Macro(mAP@10,mAP@5)", "Macro takes one measure"),
        ("Mean(mAP@10)", "Mean takes two or more"),
        ("Mean(mAP@10,RelDeltamAP@10)", "Mean takes two or more measures that are means"),
        ("Mean(mAP@10, mAP@5)", "names look like"),
        ("Mean(mAP@10,)", "names look like"),
        ("CompositionGap@10", "without a cut-off"),
        ("MRR@10", "without a cut-off"),
        ("MedianRank(mAP@10)", "without a cut-off"),
        ("Mean(MRR,MedianRank)", "Mean takes two or more measures that are means"),
        ("Mean" + "(" * 300, "at most 200 characters"),
        ("", "names look like"),
    ],
)
def test_a_wrong_name_is_told_what_is_wrong(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        parse(name)


def test_every_family_has_a_heading_in_the_docs() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("#")]
    headings = {word for line in lines for word in re.findall(r"`([A-Za-z_]+)", line)}
    assert set(REGISTRY) - headings == set()
    assert headings - set(REGISTRY) == set()
