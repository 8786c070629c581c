"""What reading vectors costs, and what it says where that is not to be had: lack of memory is no damaged file."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from formats.format_splits import make_split
from sending import ROOT
from vectors.vector_writers import WRITERS, Writer, bfloat16, npz

from evaluator.types import Condition
from evaluator.vectors import VectorFile, read_embeddings

IMAGES = tuple(f"i{at}" for at in range(1000))
SPLIT = make_split(("q1",), IMAGES, positives={0: ["i1"]})
WIDTH = 10_000
STARVED = """
import resource, sys
from pathlib import Path
import pyarrow.parquet
from evaluator.vectors.source import VectorLimits
from evaluator.vectors.tables import read_table
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + 32 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    read_table(Path(sys.argv[1]), None, VectorLimits())
except MemoryError:
    print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit on memory")
@pytest.mark.parametrize("writer", [bfloat16, *WRITERS.values()])
def test_lack_of_memory_is_said_as_that(tmp_path: Path, writer: Writer) -> None:
    """What a map and Arrow raise then are errors of reading as well, and were taken for a damaged file."""
    path = tmp_path / "vectors"
    writer(path, np.random.default_rng(0).random((len(IMAGES), WIDTH), dtype=np.float32), IMAGES)
    done = subprocess.run(
        [sys.executable, "-c", STARVED, str(path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "no memory\n"), done.stderr


@pytest.mark.parametrize(("shuffled", "most"), [(False, 2.6), (True, 4.6)])
def test_bfloat16_takes_no_more_than_it_must(tmp_path: Path, shuffled: bool, most: float) -> None:
    """Twice the file to be widened, twice again to be put in order: what the server's limit reckons with."""
    names = tuple(f"i{at:05}" for at in range(60_000))
    split = make_split(("q1",), names, positives={0: [names[1]]})
    order = np.random.default_rng(1).permutation(len(names)) if shuffled else np.arange(len(names))
    path = tmp_path / "gallery"
    bfloat16(path, np.ones((len(names), 600), np.float32), [names[at] for at in order])
    queries = npz(tmp_path / "queries", np.ones((1, 600), np.float32), ["q1"])
    tracemalloc.start()
    try:
        read_embeddings(VectorFile(path), {Condition.MULTIMODAL: queries}, split)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * path.stat().st_size
