"""Without torch and faiss everything works; with them nothing imports them before they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from search.plain import make_split

from evaluator.errors import EvaluatorError
from evaluator.search import devices, judged_ranks
from evaluator.types import Embeddings

ROOT = Path(__file__).parents[2]
WITHOUT = "import sys; sys.modules['torch'] = sys.modules['faiss'] = None\n"


def python(code: str) -> str:
    """Run code in a fresh interpreter and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["evaluator", "evaluator.scoring", "evaluator.search", "evaluator.__main__"])
def test_imports_are_light(module: str) -> None:
    out = python(f"import sys, {module}; print({{'torch', 'faiss', 'django', 'pandas'}} & set(sys.modules))")
    assert out.strip() == "set()"


def test_numpy_alone_gives_the_same_ranks_and_neighbours() -> None:
    code = """
import numpy as np
from search.plain import make_split
from evaluator.search import judged_ranks, top_k
from evaluator.types import Embeddings
random = np.random.default_rng(0)
embeddings = Embeddings(random.standard_normal((20, 70)), random.integers(-2, 3, (500, 70)) + np.eye(1, 70))
print(judged_ranks(embeddings, make_split(20, 500)).rank.tolist())
print(top_k(embeddings, 7).images.tolist())
"""
    assert python(WITHOUT + code) == python(code)


def test_the_command_line_needs_neither() -> None:
    run = "import runpy; sys.argv = ['evaluator', '--help']; runpy.run_module('evaluator', run_name='__main__')"
    assert "score" in python(WITHOUT + run)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "has", lambda library: False)
    split, embeddings = make_split(2, 5), Embeddings(np.ones((2, 3)), np.ones((5, 3)))
    for device in ("cpu", "cuda"):
        with pytest.raises(EvaluatorError, match="needs torch"):
            judged_ranks(embeddings, split, device=device)
    with pytest.raises(EvaluatorError, match="needs faiss"):
        devices.open_finders("faiss", 0)


@pytest.mark.torch
@pytest.mark.skipif("devices.has('torch') and __import__('needs').has_accelerator()")
def test_a_gpu_that_is_not_there_is_not_replaced_in_silence() -> None:
    with pytest.raises(EvaluatorError, match="no CUDA device"):
        judged_ranks(Embeddings(np.ones((2, 3)), np.ones((5, 3))), make_split(2, 5), device="cuda")


def test_memory_is_bounded_by_the_block(tmp_path: Path) -> None:
    """A gallery of 205 MB on disk is ranked within 60 MB, whether queries are compared or listed."""
    code = f"""
import numpy as np, tracemalloc
from search.plain import make_split
from evaluator.search import judged_ranks
from evaluator.types import Embeddings
path = {str(tmp_path / "gallery.npy")!r}
out = np.lib.format.open_memmap(path, 'w+', np.float32, (200_000, 256))
random = np.random.default_rng(0)
for start in range(0, 200_000, 10_000):
    out[start:start + 10_000] = random.standard_normal((10_000, 256), dtype=np.float32)
del out
split = make_split(50, 200_000, judged=4)
vectors = Embeddings(random.standard_normal((50, 256)), np.load(path, mmap_mode='r'))
tracemalloc.start()
judged_ranks(vectors, split, block=1024, device='numpy', threads=2)
print(tracemalloc.get_traced_memory()[1])
"""
    assert int(python(code)) < 60_000_000
