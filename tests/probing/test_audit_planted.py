"""On the demo the audit's answer is known: with a model that reads descriptions every label is the planted one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import symbolic

from demo.circus import Label as Planted
from demo.circus import circus_split, planted_labels
from evaluator import bundle
from evaluator.__main__ import main
from evaluator.audit.labels import KINDS, LABELS, Label, Labelling, Member, best_ranks, label
from evaluator.probing import Job, Pictures, probe
from evaluator.types import Condition

_SHORTCUTS = {Planted.TEXT, Planted.IMAGE, Planted.BOTH}


def audited(state: Path) -> Labelling:
    split = circus_split()
    pictures = Pictures(state, split.images, (None,) * len(split.images))
    ranks = probe(symbolic.SymbolicEncoder(), symbolic.SPEC, split, pictures, state=state)
    return label([Member("symbolic", {condition: best_ranks(found, split) for condition, found in ranks.items()})])


def written(folder: Path) -> list[str]:
    """Write what the model computes into files, for an encoder of the family that reads them; return the command."""
    split, encoder = circus_split(), symbolic.SymbolicEncoder()
    job = Job(symbolic.SPEC, split, Pictures(folder, split.images, (None,) * len(split.images)), folder)
    shown = [job.pictures.picture(image) for image in range(len(split.images))]
    np.savez(folder / "gallery.npz", vectors=encoder.encode_images(shown), ids=np.array(split.images))
    for condition in Condition:
        queries = [job.query(position, condition) for position in range(len(split))]
        vectors = encoder.encode_queries(queries, condition)
        np.savez(folder / f"{condition}.npz", vectors=vectors, ids=np.array(split.query_ids))
    options = {
        "gallery": "gallery.npz",
        "queries": {str(condition): f"{condition}.npz" for condition in Condition},
        "similarity": "inner product",
    }
    spec = {"name": "symbolic", "family": "files", "model": "symbolic", "revision": "1", "options": options}
    (folder / "symbolic.json").write_text(json.dumps(spec), encoding="utf-8")
    bundle.save(split, folder / "split.zip")
    given = ("--split", str(folder / "split.zip"), "--encoder", str(folder / "symbolic.json"))
    return ["audit", *given, "--state", str(folder / "state"), "--json"]


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


def test_the_command_gives_the_same_labels_from_vectors_in_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = written(tmp_path)
    assert main(command) == 0
    found = {row["query"]: row["kind"] or row["label"] for row in json.loads(capsys.readouterr().out)["labels"]}
    assert found == {name: str(planted) for name, planted in planted_labels().items()}


def test_vectors_that_were_written_anew_give_other_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec is the same, and its revision a mere label: only the files tell."""
    command = written(tmp_path)
    assert main(command) == 0
    before = json.loads(capsys.readouterr().out)["counts"]
    (tmp_path / "text-only.npz").write_bytes((tmp_path / "multimodal.npz").read_bytes())
    assert main(command) == 0
    after = json.loads(capsys.readouterr().out)["counts"]
    assert before["composition-required"] == 60
    assert after["composition-required"] == 0
