"""Checkpoints are never trusted further than their digest: whatever a crash leaves, a shard is whole or done again."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from evaluator.encoders import EncoderError
from evaluator.probing.shards import Shards, check

COUNT, SIZE, WIDTH = 22, 5, 3
VECTORS = np.arange(COUNT * WIDTH, dtype=np.float32).reshape(COUNT, WIDTH)


def opened(folder: Path, size: int = SIZE) -> Shards:
    return Shards(folder, COUNT, size)


def filled(folder: Path) -> Shards:
    shards = opened(folder)
    for part in list(shards.missing()):
        shards.save(part, VECTORS[part], 0.5)
    return shards


def starts(shards: Shards) -> list[int]:
    return [part.start for part in shards.missing()]


def test_what_is_saved_is_read_back_and_nothing_is_missing(tmp_path: Path) -> None:
    assert starts(opened(tmp_path)) == [0, 5, 10, 15, 20]
    filled(tmp_path)
    again = opened(tmp_path)
    assert (starts(again), again.done, again.dimension, again.seconds) == ([], COUNT, WIDTH, 2.5)
    np.testing.assert_array_equal(again.matrix(), VECTORS)
    assert not list(tmp_path.glob("*.part"))


def test_rows_stand_where_they_belong_and_the_others_are_zero(tmp_path: Path) -> None:
    rows = np.flatnonzero(np.arange(2 * COUNT) % 3 != 1)[:COUNT]
    matrix = filled(tmp_path).matrix(rows, 2 * COUNT)
    assert matrix.shape == (2 * COUNT, WIDTH)
    np.testing.assert_array_equal(matrix[rows], VECTORS)
    assert not np.delete(np.array(matrix), rows, axis=0).any()


def test_a_folder_keeps_the_shard_size_it_was_begun_with(tmp_path: Path) -> None:
    """With another size finished shards would have to be thrown away."""
    opened(tmp_path).save(slice(0, 5), VECTORS[:5])
    assert [(part.start, part.stop) for part in opened(tmp_path, 7).missing()] == [
        (5, 10),
        (10, 15),
        (15, 20),
        (20, 22),
    ]


@pytest.mark.parametrize("harm", ["cut", "zeros", "gone", "other shape", "longer"])
def test_a_damaged_shard_is_missing_again(harm: str, tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "00000010.npy"
    content = path.read_bytes()
    if harm == "cut":
        path.write_bytes(content[:-7])
    elif harm == "zeros":  # what a power cut can leave of a file whose length was written first
        path.write_bytes(bytes(len(content)))
    elif harm == "gone":
        path.unlink()
    elif harm == "other shape":
        np.save(path, VECTORS[:4])
    else:
        path.write_bytes(content + b"\0")
    again = opened(tmp_path)
    assert (starts(again), again.done) == ([10], COUNT - SIZE)
    again.save(slice(10, 15), VECTORS[10:15])
    np.testing.assert_array_equal(opened(tmp_path).matrix(), VECTORS)


@pytest.mark.parametrize("kept", range(0, 130, 13))
def test_a_log_that_was_cut_anywhere_costs_only_what_it_no_longer_says(kept: int, tmp_path: Path) -> None:
    filled(tmp_path)
    log = tmp_path / "done.log"
    whole = log.read_bytes()
    log.write_bytes(whole[: len(whole) - kept])
    lost = 5 - whole[: len(whole) - kept].count(b"\n")
    again = opened(tmp_path)
    assert len(starts(again)) in (lost, lost - 1)  # a line that lacks nothing but its end is a line
    for part in list(again.missing()):
        again.save(part, VECTORS[part])
    np.testing.assert_array_equal(opened(tmp_path).matrix(), VECTORS)


def test_nonsense_in_the_log_is_no_shard(tmp_path: Path) -> None:
    filled(tmp_path)
    log = tmp_path / "done.log"
    line = json.loads(log.read_text(encoding="utf-8").splitlines()[0])
    wrong = [line | {"start": 3}, line | {"rows": 99}, line | {"size": 0}, line | {"more": 1}, [], {"start": 0}, "x"]
    log.write_text("".join(json.dumps(row) + "\n" for row in wrong) + "\udcff\n", encoding="utf-8", errors="replace")
    assert starts(opened(tmp_path)) == [0, 5, 10, 15, 20]


@contextmanager
def at_most(number: int) -> Iterator[None]:
    """Let no file grow beyond ``number`` bytes: what a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits")
def test_a_full_disk_is_said_in_words_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    shards = opened(tmp_path)
    shards.save(slice(0, 5), VECTORS[:5])
    wide = np.ones((5, 5000), dtype=np.float32)
    with at_most(4096), pytest.raises(EncoderError) as refused:
        opened(tmp_path / "other").save(slice(0, 5), wide)
    assert refused.value.code == "state-unwritable"
    assert "Make room on the disk" in str(refused.value)
    assert starts(opened(tmp_path / "other")) == [0, 5, 10, 15, 20]
    assert starts(opened(tmp_path)) == [5, 10, 15, 20]


def test_a_full_disk_while_vectors_are_joined_is_said_in_words(tmp_path: Path) -> None:
    """A map that is written beyond the room there is would kill the process."""
    shards = Shards(tmp_path, 64, 8)
    for part in list(shards.missing()):
        shards.save(part, np.ones((8, 256), dtype=np.float32))
    with at_most(16384), pytest.raises(EncoderError, match="cannot be written"):
        shards.matrix()


def test_a_state_folder_that_is_a_file_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(EncoderError) as refused:
        opened(tmp_path / "file")
    assert refused.value.code == "state-unwritable"


@pytest.mark.parametrize(
    ("vectors", "code"),
    [
        (np.ones((3, 4), np.float32), "vectors-shape"),
        (np.ones((2, 5), np.float32), "vectors-shape"),
        (np.ones(8, np.float32), "vectors-shape"),
        (np.ones((2, 0), np.float32), "vectors-shape"),
        (np.ones((2, 4), np.int64), "vectors-shape"),
        (np.array([[1, 2, 3, np.nan], [1, 2, 3, 4]]), "vectors-not-finite"),
        (np.array([[1, 2, 3, 1e300], [1, 2, 3, 4]]), "vectors-not-finite"),
        (np.array([[0.0, 0, 0, 0], [1, 2, 3, 4]]), "vectors-zero"),
    ],
)
def test_vectors_are_looked_at_before_they_are_kept(vectors: np.ndarray, code: str) -> None:
    with pytest.raises(EncoderError) as refused:
        check(vectors, 2, 4, what="gallery", zero=False)
    assert refused.value.code == code


def test_sound_vectors_become_float32_row_by_row() -> None:
    kept = check(np.asfortranarray(np.ones((2, 4))), 2, 0, what="gallery", zero=False)
    assert kept.dtype == np.float32
    assert kept.flags.c_contiguous
    check(np.zeros((2, 4)), 2, 4, what="an inner product compares them", zero=True)
