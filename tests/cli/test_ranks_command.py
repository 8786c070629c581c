"""``python -m evaluator ranks``: vectors to judged-ranks files, and the same scores from either."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vectors.vector_writers import npy, npz, safetensors

from demo.tiny import KINDS, tiny_split
from evaluator import bundle
from evaluator.__main__ import main
from evaluator.types import Condition, Split


@pytest.fixture
def split() -> Split:
    return tiny_split("circus-single")


class Desk:
    """A person's folder: the bundle of a split, and vectors for it."""

    def __init__(self, folder: Path, split: Split, seed: int = 0) -> None:
        self.folder, self.split = folder, split
        bundle.save(split, folder / "split.zip")
        random = np.random.default_rng(seed)
        self.gallery = npz(folder / "gallery.npz", random.standard_normal((len(split.images), 24)), split.images).path
        self.queries = {}
        for condition in Condition:
            matrix = random.standard_normal((len(split), 24))
            self.queries[condition] = safetensors(folder / f"{condition}.bin", matrix, split.query_ids).path

    def arguments(self, *more: str) -> list[str]:
        return ["--split", str(self.folder / "split.zip"), *more]

    def vectors(self) -> list[str]:
        singles = (Condition.TEXT_ONLY, Condition.IMAGE_ONLY)
        given = [part for condition in singles for part in (f"--{condition}", str(self.queries[condition]))]
        return ["--gallery", str(self.gallery), *given]

    def written(self) -> list[Path]:
        return [self.folder / f"out/{self.split.name}.{condition}.ranks.csv" for condition in Condition]

    def rank(self, *more: str) -> int:
        multimodal = ["--multimodal", str(self.queries[Condition.MULTIMODAL])]
        return main(["ranks", *multimodal, *self.vectors(), *self.arguments("--out", str(self.folder / "out")), *more])


def json_of(capsys: pytest.CaptureFixture[str]) -> Any:
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("similarity", ["cosine", "inner"])
def test_vectors_and_the_ranks_written_from_them_score_alike(
    kind: str, similarity: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, tiny_split(kind))
    assert desk.rank("--json", "--similarity", similarity) == 0
    assert json_of(capsys)["files"] == [str(path) for path in desk.written()]
    main_file, text, image = map(str, desk.written())
    files = ["score", main_file, "--text-only", text, "--image-only", image, *desk.arguments("--json")]
    assert main(files) == 0
    from_ranks = json_of(capsys)
    query = str(desk.queries[Condition.MULTIMODAL])
    assert main(["score", query, *desk.vectors(), *desk.arguments("--json", "--similarity", similarity)]) == 0
    assert json_of(capsys) == from_ranks
    assert {row["condition"] for row in from_ranks["scores"]} >= {str(condition) for condition in Condition}


def test_three_conditions_give_the_composition_gap_and_its_means(
    split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, split)
    desk.rank()
    capsys.readouterr()
    main_file, text, image = map(str, desk.written())
    main(["score", main_file, "--text-only", text, "--image-only", image, *desk.arguments("--json")])
    found = {(row["measure"], row["subset"], row["condition"]): row for row in json_of(capsys)["scores"]}
    for subset in split.subsets:
        mm, t, i = (found["nDCG", subset, str(condition)]["value"] for condition in Condition)
        assert found["CompositionGap", subset, None]["value"] == pytest.approx(1 - max(t, i) / mm, abs=1e-12)
        assert found["MRR", subset, "multimodal"]["value"] > 0
        assert found["MedianRank", subset, "multimodal"]["value"] >= 1
    gap = found["CompositionGap", "Full", None]
    assert gap["low"] < gap["value"] < gap["high"]


def test_what_was_written_is_valid_and_said_so(
    split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, split)
    assert desk.rank() == 0
    assert capsys.readouterr().out.startswith(f"OK: judged ranks for {split.name}, version 1\n")
    assert main(["check", str(desk.written()[0]), *desk.arguments()]) == 0
    assert f"  judged images  {len(split.judgments)}" in capsys.readouterr().out.splitlines()


def test_ids_beside_the_vectors(split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, split)
    desk.rank()
    expected = desk.written()[0].read_bytes()
    bare = npy(tmp_path / "bare.npy", np.load(desk.gallery)["vectors"], split.images)
    desk.gallery = bare.path
    assert desk.rank() == 1
    assert "vector-ids" in capsys.readouterr().out
    assert desk.rank("--gallery-ids", str(bare.ids)) == 0
    assert desk.written()[0].read_bytes() == expected


def test_faults_are_listed_like_those_of_a_ranking(
    split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, split)
    rows = np.random.default_rng(3).standard_normal((len(split), 24))
    rows[4, 0] = np.nan
    npz(desk.queries[Condition.TEXT_ONLY], rows, split.query_ids)
    assert desk.rank("--json") == 1
    (fault,) = json_of(capsys)["faults"]
    assert (fault["code"], fault["file"]) == ("vector-not-finite", "text-only.bin")
    assert fault["place"] == f'row 4 ("{split.query_ids[4]}")'
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (bundle.without_truth, "the truth of tiny-circus-single is hidden"),
        (lambda split: replace(split, galleries=(replace(split.galleries[0], pattern=".*"),)), "is open"),
    ],
)
def test_splits_that_cannot_be_ranked(
    split: Split, change: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Desk(tmp_path, change(split)).rank() == 2
    assert words in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(tmp_path, split)
    (tmp_path / "out").write_text("a file")
    assert desk.rank() == 2
    assert "cannot write" in capsys.readouterr().err


def test_one_file_of_vectors_for_each_condition(
    split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, split)
    query = str(desk.queries[Condition.MULTIMODAL])
    assert main(["score", query, query, *desk.vectors(), *desk.arguments()]) == 2
    assert "one file of query vectors" in capsys.readouterr().err
