"""A run survives its file; nothing else is read as one."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import EvaluatorError
from evaluator.store import load_run, save_run
from evaluator.types import JudgedRanks, Ranking

IMAGES = np.array([[3, 1, -1], [0, 2, 5]], dtype=np.int32)
LENGTH = np.array([2, 3], dtype=np.int32)


def same(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    if first is None or second is None:
        return first is second
    return first.dtype == second.dtype and np.array_equal(first, second)


@pytest.mark.parametrize(
    "ranking",
    [
        Ranking(IMAGES, LENGTH),
        Ranking(IMAGES, LENGTH, ("000000012", "ünknown\x00"), np.array([[1], [2]], dtype=np.int32), "circo"),
    ],
)
def test_a_ranking_comes_back(tmp_path: Path, ranking: Ranking) -> None:
    save_run(ranking, tmp_path / "run.npz")
    back = load_run(tmp_path / "run.npz")
    assert isinstance(back, Ranking)
    assert (back.unknown, back.format) == (ranking.unknown, ranking.format)
    assert all(same(getattr(back, name), getattr(ranking, name)) for name in ("images", "length", "members"))


@pytest.mark.parametrize("member_rank", [None, np.array([0, 2], dtype=np.int32)])
def test_judged_ranks_come_back(tmp_path: Path, member_rank: np.ndarray | None) -> None:
    ranks = JudgedRanks(np.array([1, 9], dtype=np.int32), LENGTH, complete=True, member_rank=member_rank)
    save_run(ranks, tmp_path / "any name")
    back = load_run(tmp_path / "any name")
    assert isinstance(back, JudgedRanks)
    assert back.complete is True
    assert all(same(getattr(back, name), getattr(ranks, name)) for name in ("rank", "depth", "member_rank"))
    assert [path.name for path in tmp_path.iterdir()] == ["any name"]


def test_nothing_pickled_is_opened(tmp_path: Path) -> None:
    """Decision 26, public report A25: an object array would run code when it is loaded."""
    touched = tmp_path / "touched"

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return Path.touch, (touched,)

    np.savez(tmp_path / "bomb.npz", header=np.array([Bomb()], dtype=object))
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("bomb.npz", "plain.npz"):
        with pytest.raises(EvaluatorError, match="is not a stored run"):
            load_run(tmp_path / name)
    assert not touched.exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", b"\x93NUMPY"])
def test_what_is_no_run_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(EvaluatorError, match="is not a stored run"):
        load_run(path)


def test_a_missing_file_and_missing_arrays_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", images=IMAGES)
    np.save(tmp_path / "array.npy", IMAGES)
    np.savez(tmp_path / "text.npz", header=np.frombuffer(b"[]", dtype=np.uint8))
    for name in ("other.npz", "missing.npz", "array.npy", "text.npz"):
        with pytest.raises(EvaluatorError, match="is not a stored run"):
            load_run(tmp_path / name)
