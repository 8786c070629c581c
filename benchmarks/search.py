"""How long exact ranks over a whole gallery take, beside the bare matrix product and faiss.

    python benchmarks/search.py [--rounds N] [--device cpu|cuda] [--growth]

Everything is measured in one run, in turns, so that ratios hold on any machine. The yardstick is the bare product of
all queries with all images in the best of several tile shapes; nothing is read off it. The peer is faiss's exact search
for 50 neighbours. Vectors are made up; judged images stand where they do in real data: at ranks that are log-uniform
over the nearest 5,000, and one in twenty anywhere. Ends with status 1 when a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SLOWED_BY = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
if slowing := [name for name in SLOWED_BY if name in os.environ]:  # read when NumPy is first imported: start anew
    os.execve(sys.executable, [sys.executable, *sys.argv], {k: v for k, v in os.environ.items() if k not in slowing})
sys.path.insert(0, str(ROOT))

import faiss  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from evaluator.protocols import PINPOINT  # noqa: E402
from evaluator.search import judged_ranks, top_k  # noqa: E402
from evaluator.types import Embeddings, Gallery, Judgments, Split, Subset  # noqa: E402

IMAGES, QUERIES, DIMENSION = 109_600, 2_000, 768
SHAPES = ((512, 8192), (1024, 4096), (2000, 4096))
GPU_SHAPES = ((2000, 16384), (2000, 109_600))
LIMITS = {"1 judged": 1.3, "42 judged": 1.6}
PEER = "50 nearest, faiss"
PEER_LIMIT = 0.5
EXTRA_MEMORY = 1 << 30
Task = Callable[[], object]
Vectors = NDArray[np.float32]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time exact ranks over a whole gallery.")
    parser.add_argument("--rounds", type=int, default=5, help="how often each thing is timed (default %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--growth", action="store_true", help="also show how time grows to 30,000 queries")
    parser.add_argument("--memory", action="store_true", help="only rank once, and print the most memory held")
    options = parser.parse_args()
    gallery = unit_vectors(IMAGES, 0)
    if options.memory:
        return once(gallery, options.device)
    print(f"{IMAGES:,} images x {DIMENSION}, float32, {options.device}, {options.rounds} rounds\n")
    queries = unit_vectors(QUERIES, 1)
    splits = {many: judged_split(queries, gallery, many) for many in (1, 42)}
    over = table(queries, gallery, splits, options.device, options.rounds)
    if options.growth:
        growth(queries, gallery, splits[1], options.device)
    return int(over | memory(options.device))


def table(queries: Vectors, gallery: Vectors, splits: dict[int, Split], device: str, rounds: int) -> bool:
    """Time everything, print it, and return whether a limit is passed."""
    seconds = timed(tasks(queries, gallery, splits, device), rounds)
    seconds |= timed({PEER: peer(queries, gallery, device)}, max(1, rounds // 3), warm=False)
    middle = {name: median(times) for name, times in seconds.items()}
    floor = min(middle[name] for name in middle if name.startswith("bare"))
    for name, times in seconds.items():
        print(f"{name:36} {middle[name]:7.3f} s  least {min(times):7.3f}  {middle[name] / floor:6.2f} x bare")
    over = False
    for judged, limit in LIMITS.items():
        over |= verdict(f"{judged}, float32 / bare product", middle[f"{judged}, float32"] / floor, limit)
        over |= verdict(f"{judged}, auto / bare product", middle[f"{judged}, auto"] / floor, limit)
        over |= verdict(f"{judged}, float32 / faiss", middle[f"{judged}, float32"] / middle[PEER], PEER_LIMIT)
    return over


def growth(queries: Vectors, gallery: Vectors, split: Split, device: str) -> None:
    """Print how time grows with the number of queries: the same ones again, which nothing here notices."""
    for count in (QUERIES, 7_635, 30_000):
        again = np.resize(queries, (count, DIMENSION))
        lines = split.judgments
        first = np.searchsorted(lines.query, np.arange(QUERIES))
        image = np.resize(lines.image[first], count)
        many = made_up(np.arange(count, dtype=np.int32), image, IMAGES)
        for screen in ("float32", "auto"):
            task = ranks(Embeddings(again, gallery), many, device, screen)
            (seconds,) = timed({"": task}, 1, warm=False)[""]
            print(f"{count:6,} queries, 1 judged, {screen:8} {seconds:7.3f} s  {seconds / count * 1e3:.3f} ms a query")


def tasks(queries: Vectors, gallery: Vectors, splits: dict[int, Split], device: str) -> dict[str, Task]:
    """Return what is timed, by the name it is printed under."""
    embeddings = Embeddings(queries, gallery)
    found: dict[str, Task] = bare_products(queries, gallery, device)
    for many, split in splits.items():
        for screen in ("float32", "auto"):
            found[f"{many} judged, {screen}"] = ranks(embeddings, split, device, screen)
    found["50 nearest, ours"] = lambda: top_k(embeddings, 50, device=device)
    return found


def ranks(embeddings: Embeddings, split: Split, device: str, screen: str) -> Task:
    return lambda: judged_ranks(embeddings, split, device=device, screen=screen)


def bare_products(queries: Vectors, gallery: Vectors, device: str) -> dict[str, Task]:
    """Return the product alone, in torch and, on a CPU, in NumPy, for several shapes of tiles."""
    left, right = (torch.from_numpy(rows).to(device) for rows in (queries, gallery))
    shapes = GPU_SHAPES if device == "cuda" else SHAPES
    found: dict[str, Task] = {f"bare product, torch {r} x {c}": torch_product(left, right, r, c) for r, c in shapes}
    if device == "cpu":
        found[f"bare product, numpy {2000} x {4096}"] = numpy_product(queries, gallery, 2000, 4096)
    return found


def torch_product(left: torch.Tensor, right: torch.Tensor, rows: int, columns: int) -> Task:
    tile = torch.empty(rows * columns, device=left.device)

    def product() -> None:
        for images in right.split(columns):
            for part in left.split(rows):
                torch.mm(part, images.T, out=tile[: len(part) * len(images)].view(len(part), len(images)))
        if left.is_cuda:
            torch.cuda.synchronize()

    return product


def numpy_product(left: Vectors, right: Vectors, rows: int, columns: int) -> Task:
    tile = np.empty((rows, columns), dtype=np.float32)

    def product() -> None:
        for start in range(0, len(right), columns):
            images = right[start : start + columns]
            for first in range(0, len(left), rows):
                part = left[first : first + rows]
                np.matmul(part, images.T, out=tile[: len(part), : len(images)])

    return product


def peer(queries: Vectors, gallery: Vectors, device: str) -> Task:
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(gallery)
    if device == "cuda":
        index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, index)
    return lambda: index.search(queries, 50)


def unit_vectors(count: int, seed: int) -> Vectors:
    random = np.random.default_rng(seed)
    made = np.empty((count, DIMENSION), dtype=np.float32)
    for start in range(0, count, 4096):  # no copy of the whole: the memory of this process is measured
        some = made[start : start + 4096]
        random.standard_normal(out=some, dtype=np.float32)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    return made


def judged_split(queries: Vectors, gallery: Vectors, many: int) -> Split:
    """Return a split in which each query has up to ``many`` judged images, near it as in real data."""
    random = np.random.default_rng(2)
    rows = []
    for start in range(0, len(queries), 200):
        products = queries[start : start + 200] @ gallery.T
        nearest = np.argpartition(-products, 5000, axis=1)[:, :5000]
        order = np.argsort(-np.take_along_axis(products, nearest, axis=1), axis=1)
        for near in np.take_along_axis(nearest, order, axis=1):
            chosen = near[(5000 ** random.random(many)).astype(int) - 1]
            anywhere = random.random(many) < 0.05
            rows.append(np.unique(np.where(anywhere, random.integers(0, len(gallery), many), chosen)))
    query = np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int32)
    image = np.concatenate(rows).astype(np.int32)
    return made_up(query, image, len(gallery))


def made_up(query: NDArray[np.int32], image: NDArray[np.int32], images: int) -> Split:
    """Return a split with these judged images, all positive, over one gallery."""
    queries = int(query[-1]) + 1
    yes, no = np.ones(len(query), dtype=bool), np.zeros(len(query), dtype=bool)
    counts = np.bincount(query).astype(np.int32)
    return Split(
        name="made up",
        version=1,
        protocol=PINPOINT,
        query_ids=tuple(map(str, range(queries))),
        texts=("",) * queries,
        references=((0,),) * queries,
        images=tuple(f"{number:06}" for number in range(images)),
        galleries=(Gallery("all", np.arange(images, dtype=np.int32)),),
        gallery_of=np.zeros(queries, dtype=np.int32),
        judgments=Judgments(query, image, yes, no, no, no, counts, np.zeros_like(counts)),
        subsets={Subset.ALL: np.ones(queries, dtype=bool)},
        clusters=np.arange(queries, dtype=np.int32),
    )


def timed(things: dict[str, Task], rounds: int, *, warm: bool = True) -> dict[str, list[float]]:
    """Return the seconds of each round of each task; they take turns, after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for number in range(0 if warm else 1, rounds + 1):
        for name, task in things.items():
            gc.collect()
            start = time.perf_counter()
            task()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def once(gallery: Vectors, device: str) -> int:
    """Rank 42 judged images of each of 2,000 queries and print the most memory this process held, in bytes."""
    queries = unit_vectors(QUERIES, 1)
    image = np.sort(np.random.default_rng(3).integers(0, IMAGES // 42, (QUERIES, 42)) * 42 + np.arange(42), axis=1)
    split = made_up(np.repeat(np.arange(QUERIES), 42).astype(np.int32), image.ravel().astype(np.int32), IMAGES)
    judged_ranks(Embeddings(queries, gallery), split, device=device)
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
    return 0


def memory(device: str) -> bool:
    """Print the most memory that ranking holds in a process of its own, and return whether it is too much."""
    done = subprocess.run(
        [sys.executable, __file__, "--memory", "--device", device], capture_output=True, text=True, check=True
    )
    held, gallery = int(done.stdout), IMAGES * DIMENSION * 4
    limit = gallery + EXTRA_MEMORY
    whole = f"interpreter, torch, faiss and a gallery of {gallery / 1e6:.0f} MB included"
    print(f"peak memory of a process that ranks once: {held / 1e6:.0f} MB, {whole}")
    return verdict("peak memory / (gallery + 1 GiB)", held / limit, 1.0)


def verdict(what: str, ratio: float, limit: float) -> bool:
    """Print a ratio beside its limit; return whether it is over."""
    print(f"{what}: {ratio:.2f} (at most {limit}): {'OVER' if ratio > limit else 'ok'}")
    return ratio > limit


if __name__ == "__main__":
    sys.exit(main())
