"""On the demo the audit's answer is known: with a model that reads descriptions every label is the planted one."""

from __future__ import annotations

from pathlib import Path

import symbolic

from demo.circus import Label as Planted
from demo.circus import circus_split, planted_labels
from evaluator.audit.labels import KINDS, LABELS, Label, Labelling, Member, best_ranks, label
from evaluator.probing import Pictures, probe

_SHORTCUTS = {Planted.TEXT, Planted.IMAGE, Planted.BOTH}


def audited(state: Path) -> Labelling:
    split = circus_split()
    pictures = Pictures(state, split.images, (None,) * len(split.images))
    ranks = probe(symbolic.SymbolicEncoder(), symbolic.SPEC, split, pictures, state=state)
    return label([Member("symbolic", {condition: best_ranks(found, split) for condition, found in ranks.items()})])


def test_every_query_gets_the_label_it_was_planted_with(tmp_path: Path) -> None:
    labelling = audited(tmp_path)
    found = {
        name: str(KINDS[labelling.kind[query]]) if labelling.has(Label.SHORTCUT)[query] else str(LABELS[code])
        for query, (name, code) in enumerate(zip(circus_split().query_ids, labelling.label, strict=True))
    }
    assert found == {name: str(planted) for name, planted in planted_labels().items()}
    assert len(found) == 150


def test_the_counts_are_those_of_the_plan(tmp_path: Path) -> None:
    counts = audited(tmp_path).counts()
    assert counts == {
        "shortcut": 72,
        "composition-required": 60,
        "unresolved": 18,
        "text": 36,
        "image": 24,
        "both": 12,
    }
    assert counts["shortcut"] == sum(planted in _SHORTCUTS for planted in planted_labels().values())
