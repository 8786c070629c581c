"""A frozen pool on disk: it comes back as it was, whole or not at all, and nothing else is taken for one."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from members_made import Ranks, frozen, member, pools

from evaluator.audit.labels import Member
from evaluator.audit.store import load_frozen, save_frozen
from evaluator.errors import EvaluatorError
from evaluator.store import save_run
from evaluator.types import Condition, JudgedRanks

POOL = frozen("CIRCUS pool", {"Ä": [(3, 15, 40), (20, 2, 0)], "B": [(5, 12, 30), (40, 4, 0)]}, 10)


def _said(pool: Member) -> tuple[object, ...]:
    """Return all that a frozen pool says, dtypes included."""
    assert pool.frozen is not None
    arrays = [pool.frozen.either, *(pool.ranks[each] for each in Condition)]
    arrays += [pool.frozen.support[each] for each in Condition]
    best = [tuple(pool.frozen.best[each]) for each in Condition]
    return pool.name, pool.frozen.models, pool.frozen.k, best, [(array.dtype.str, array.tolist()) for array in arrays]


@given(pools())
def test_what_was_stored_comes_back(tmp_path_factory: pytest.TempPathFactory, pool: dict[str, Ranks]) -> None:
    given_pool = frozen("drawn", pool, 10)
    path = tmp_path_factory.mktemp("frozen") / "pool.of.any.ending"
    save_frozen(given_pool, path)
    assert _said(load_frozen(path)) == _said(given_pool)


def test_no_part_file_is_left_and_an_older_file_stays_where_writing_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the middle of it: the ranks that labels were made from are still there."""
    path = tmp_path / "pool.npz"
    save_frozen(POOL, path)
    assert [each.name for each in tmp_path.iterdir()] == ["pool.npz"]

    def full(file: io.BufferedWriter, **_: object) -> None:
        file.write(b"PK")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        save_frozen(frozen("other", {"B": [(1, 1, 1)]}, 10), path)
    assert _said(load_frozen(path)) == _said(POOL)


def test_one_model_is_no_frozen_pool(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="A is one model"):
        save_frozen(member("A", [(1, 2, 3)]), tmp_path / "pool.npz")


def test_a_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    whole, cut = tmp_path / "pool.npz", tmp_path / "cut.npz"
    save_frozen(POOL, whole)
    content = whole.read_bytes()
    for length in range(0, len(content), 37):
        cut.write_bytes(content[:length])
        with pytest.raises(EvaluatorError, match="is not a stored frozen pool"):
            load_frozen(cut)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ranks.npz"
    save_run(JudgedRanks(np.array([1], np.int32), np.array([9], np.int32), complete=True), path)
    with pytest.raises(EvaluatorError, match="it holds judged ranks"):
        load_frozen(path)
    np.savez(path, header=np.array([object()]))
    with pytest.raises(EvaluatorError, match="not a stored frozen pool"):
        load_frozen(path)
    with pytest.raises(EvaluatorError, match="not a stored frozen pool"):
        load_frozen(tmp_path / "none.npz")


def test_arrays_of_different_lengths_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pool.npz"
    save_frozen(POOL, path)
    with np.load(path, allow_pickle=False) as opened:
        arrays = {name: opened[name] for name in opened.files}
    arrays["rank.text-only"] = arrays["rank.text-only"][:1]
    np.savez(path, **arrays)
    with pytest.raises(EvaluatorError, match="not parallel"):
        load_frozen(path)
