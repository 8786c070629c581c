"""What an audit costs beyond running the models: ranks from their vectors, a new model in a pool, labels.

    python benchmarks/audit.py [--rounds N] [--quick]

Everything is measured in one run, so that ratios hold on any machine:

* ranks of 30,031 queries under three conditions over 39,826 images x 1,024 dimensions, from the shards that probing
  leaves on disk, beside the bare matrix products of the same vectors, in the best of several tile shapes;
* one model that joins a pool of eleven, beside auditing all twelve from nothing. The model is the fastest there can be
  (it makes vectors up), so everything that is not encoding weighs as much as it can;
* labels of 30,031 queries by twelve models.

Vectors are made up; the target of each query stands at a rank that is log-uniform over the nearest tenth or so under
the multimodal condition, and further down under the others. Ends with status 1 when a figure is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SLOWED_BY = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
if slowing := [name for name in SLOWED_BY if name in os.environ]:  # read when NumPy is first imported: start anew
    os.execve(sys.executable, [sys.executable, *sys.argv], {k: v for k, v in os.environ.items() if k not in slowing})
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from evaluator.audit.labels import Member, best_ranks, label  # noqa: E402
from evaluator.encoders import Card, Picture, Query, Spec  # noqa: E402
from evaluator.encoders.conditions import USUAL  # noqa: E402
from evaluator.probing import SHARD, Job, find_pictures  # noqa: E402
from evaluator.probing.ranking import rank_conditions  # noqa: E402
from evaluator.probing.session import carry_out  # noqa: E402
from evaluator.probing.shards import Shards  # noqa: E402
from evaluator.protocols import CIRCUS_SINGLE  # noqa: E402
from evaluator.search.devices import open_kernels  # noqa: E402
from evaluator.types import Condition, Gallery, Judgments, Similarity, Split, Subset  # noqa: E402

QUERIES, IMAGES, DIMENSION, MODELS = 30_031, 39_826, 1_024, 12
QUICK = (6_000, 8_000, 1_024)
POOL = (6_000, 8_000, 1_024)
"""Queries, images and dimensions of the twelve audits."""
SHAPES = ((512, 8192), (1024, 4096), (2000, 4096))
RANKS_LIMIT, JOIN_LIMIT, LABEL_SECONDS = 1.3, 0.1, 0.2
Vectors = NDArray[np.float32]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time an audit without its models.")
    parser.add_argument("--rounds", type=int, default=2, help="how often ranks are timed (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the products")
    parser.add_argument("--rank", type=Path, metavar="FOLDER", help="only rank what lies there, once; print JSON")
    options = parser.parse_args()
    if options.rank:
        return rank_once(options.rank)
    size = QUICK if options.quick else (QUERIES, IMAGES, DIMENSION)
    with tempfile.TemporaryDirectory(prefix="cirboard-benchmark-") as folder:
        over = ranks(Path(folder), size, options.rounds)
        over |= joining(Path(folder) / "pool")
    return int(over | labelling())


def ranks(folder: Path, size: tuple[int, int, int], rounds: int) -> bool:
    """Time ranking and the bare products in turns; return whether a limit is passed."""
    queries, images, dimension = size
    print(f"{queries:,} queries x {images:,} images x {dimension:,} dimensions x 3 conditions, {rounds} rounds")
    gallery, asked, target = made_up_vectors(*size)
    keep(folder / "gallery", gallery)
    for condition, vectors in asked.items():
        keep(folder / str(condition), vectors)
    np.save(folder / "target.npy", target)
    bare, name = best_product(asked[Condition.MULTIMODAL], gallery)
    seconds: dict[str, list[float]] = {"bare": [], "ranks": [], "joining": [], "peak": []}
    for _ in range(rounds):
        seconds["bare"].append(clocked(lambda: [bare(vectors, gallery) for vectors in asked.values()]))
        command = [sys.executable, __file__, "--rank", str(folder)]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for key, value in told.items():
            seconds[key].append(value)
    middle = {key: median(values) for key, values in seconds.items()}
    held = gallery.nbytes + sum(vectors.nbytes for vectors in asked.values())
    print(f"bare products, {name}: {middle['bare']:.2f} s ({', '.join(f'{one:.2f}' for one in seconds['bare'])})")
    print(f"ranks from shards: {middle['ranks']:.2f} s ({', '.join(f'{one:.2f}' for one in seconds['ranks'])}),")
    print(f"  of which reading and joining the shards {middle['joining']:.2f} s")
    print(f"peak memory of a process that ranks once: {max(seconds['peak']) / 1e6:,.0f} MB, interpreter and torch")
    print(f"  included; the vectors are {held / 1e6:,.0f} MB, in mapped files")
    ratio = median(ours / floor for ours, floor in zip(seconds["ranks"], seconds["bare"], strict=True))
    return verdict("ranks / bare products", ratio, RANKS_LIMIT)


def rank_once(folder: Path) -> int:
    """Rank as probing does, and print what it took."""
    open_kernels("auto", 0)  # imports torch where it is: not what is measured
    start = time.perf_counter()
    target = np.load(folder / "target.npy")
    gallery_shards, *query_shards = (
        Shards(folder / name, count_in(folder / name), SHARD) for name in ("gallery", *map(str, Condition))
    )
    gallery = gallery_shards.matrix()
    queries = {condition: shards.matrix() for condition, shards in zip(Condition, query_shards, strict=True)}
    joined = time.perf_counter()
    rank_conditions(gallery, queries, made_up_split(target, len(gallery)), Similarity.COSINE)
    end = time.perf_counter()
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"ranks": end - start, "joining": joined - start, "peak": peak}))
    return 0


def joining(folder: Path) -> bool:
    """Time twelve audits from nothing, and the twelfth where eleven are done; return whether a limit is passed."""
    queries, images, dimension = POOL
    random = np.random.default_rng(5)
    split = made_up_split(random.integers(0, images, queries).astype(np.int32), images)
    (folder / "pictures").mkdir(parents=True)
    for name in split.images:
        (folder / f"pictures/{name}.png").write_bytes(random.bytes(20_000))
    open_kernels("auto", 0)  # imports torch where it is, once for either
    specs = [Spec(f"model {number}", "made up", f"model {number}", "1") for number in range(MODELS)]

    def audit(state: Path, chosen: Sequence[Spec]) -> None:
        pictures = find_pictures(folder / "pictures", split)
        members = []
        for spec in chosen:
            job = Job(spec, split, pictures, state)
            ranks = carry_out(job, lambda dtype, spec=spec: MadeUp(spec, dimension)).ranks  # type: ignore[misc]
            members.append(Member(spec.name, {name: best_ranks(found, split) for name, found in ranks.items()}))
        label(members)

    whole = clocked(lambda: audit(folder / "all", specs))
    audit(folder / "eleven", specs[:-1])
    alone = []
    for number in range(3):
        shutil.copytree(folder / "eleven", folder / f"copy {number}", copy_function=os.link)
        alone.append(clocked(lambda state=folder / f"copy {number}": audit(state, specs)))  # type: ignore[misc]
    one = median(alone)
    print(f"\n{MODELS} models, {queries:,} queries x {images:,} images x {dimension:,}")
    print(f"all of them {whole:.2f} s, the last alone {one:.2f} s")
    return verdict("one joins eleven / all twelve", one / whole, JOIN_LIMIT)


class MadeUp:
    """The fastest model there can be."""

    batch = 256

    def __init__(self, spec: Spec, dimension: int) -> None:
        self.card = Card(spec.name, spec.family, spec.model, spec.revision, USUAL)
        self._random = np.random.default_rng(int(spec.model.split()[1]))
        self._dimension = dimension

    def encode_images(self, pictures: Sequence[Picture]) -> Vectors:
        return self._random.standard_normal((len(pictures), self._dimension), dtype=np.float32)

    def encode_queries(self, queries: Sequence[Query], condition: Condition) -> Vectors:
        return self._random.standard_normal((len(queries), self._dimension), dtype=np.float32)

    def close(self) -> None:
        """Nothing to give up."""


def labelling() -> bool:
    """Time labels, support and best models of all queries; return whether it takes too long."""
    random = np.random.default_rng(6)
    members = [
        Member(f"model {n}", {name: random.integers(0, IMAGES, QUERIES, dtype=np.int32) for name in Condition})
        for n in range(MODELS)
    ]
    seconds = median(clocked(lambda: label(members)) for _ in range(9))
    print(f"\nlabels of {QUERIES:,} queries by {MODELS} models: {seconds * 1000:.1f} ms")
    return verdict("labelling, seconds", seconds, LABEL_SECONDS)


def best_product(queries: Vectors, gallery: Vectors) -> tuple[Callable[[Vectors, Vectors], None], str]:
    """Return the bare product that is fastest on a part of the work, with its name."""
    tried: dict[str, Callable[[Vectors, Vectors], None]] = {}
    for rows, columns in SHAPES:
        tried[f"numpy {rows} x {columns}"] = numpy_product(rows, columns)
        tried[f"torch {rows} x {columns}"] = torch_product(rows, columns)
    part, images = queries[:2000], gallery[:8192]
    took = {name: min(clocked(lambda p=product: p(part, images)) for _ in range(4)) for name, product in tried.items()}
    name = min(took, key=took.__getitem__)
    return tried[name], name


def numpy_product(rows: int, columns: int) -> Callable[[Vectors, Vectors], None]:
    tile = np.empty(rows * columns, dtype=np.float32)

    def product(queries: Vectors, gallery: Vectors) -> None:
        for left, right, room in tiles(queries, gallery, rows, columns, tile):
            np.matmul(left, right.T, out=room)

    return product


def torch_product(rows: int, columns: int) -> Callable[[Vectors, Vectors], None]:
    import torch  # noqa: PLC0415 a yardstick, and nothing that ranking needs

    tile = np.empty(rows * columns, dtype=np.float32)

    def product(queries: Vectors, gallery: Vectors) -> None:
        for left, right, room in tiles(queries, gallery, rows, columns, tile):
            torch.mm(torch.from_numpy(left), torch.from_numpy(right).T, out=torch.from_numpy(room))

    return product


def tiles(queries: Vectors, gallery: Vectors, rows: int, columns: int, tile: Vectors):  # type: ignore[no-untyped-def]
    for start in range(0, len(gallery), columns):
        right = gallery[start : start + columns]
        for first in range(0, len(queries), rows):
            left = queries[first : first + rows]
            yield left, right, tile[: len(left) * len(right)].reshape(len(left), len(right))


def made_up_vectors(queries: int, images: int, dimension: int) -> tuple[Vectors, dict[Condition, Vectors], NDArray]:
    """Return the gallery, the queries under each condition, and each query's target."""
    random = np.random.default_rng(0)
    gallery = unit(random.standard_normal((images, dimension), dtype=np.float32))
    asked = unit(random.standard_normal((queries, dimension), dtype=np.float32))
    tenth = np.sort(random.choice(images, images // 10, replace=False))
    near = min(500, len(tenth))
    target = np.empty(queries, dtype=np.int32)
    for start in range(0, queries, 500):
        products = asked[start : start + 500] @ gallery[tenth].T
        order = np.argsort(-products, axis=1)[:, :near]
        place = (near ** random.random(len(order))).astype(int) - 1
        target[start : start + 500] = tenth[order[np.arange(len(order)), place]]
    blurred = {
        condition: unit(asked + np.float32(share) * unit(random.standard_normal(asked.shape, dtype=np.float32)))
        for condition, share in ((Condition.TEXT_ONLY, 0.5), (Condition.IMAGE_ONLY, 1.0))
    }
    return gallery, {Condition.MULTIMODAL: asked, **blurred}, target


def made_up_split(target: NDArray[np.int32], images: int) -> Split:
    """Return a split with one positive for each query, over one gallery."""
    count = len(target)
    yes, no = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    numbers = np.arange(count, dtype=np.int32)
    ones = np.ones(count, dtype=np.int32)
    return Split(
        name="made up",
        version=1,
        protocol=CIRCUS_SINGLE,
        query_ids=tuple(f"q{number}" for number in range(count)),
        texts=("make it blue",) * count,
        references=tuple((number % images,) for number in range(count)),
        images=tuple(f"{number:06}" for number in range(images)),
        galleries=(Gallery("all", np.arange(images, dtype=np.int32)),),
        gallery_of=np.zeros(count, dtype=np.int32),
        judgments=Judgments(numbers, target, yes, no, yes, no, ones, np.zeros_like(ones)),
        subsets={Subset.FULL: yes},
        clusters=numbers,
    )


def keep(folder: Path, vectors: Vectors) -> None:
    shards = Shards(folder, len(vectors), SHARD)
    for part in list(shards.missing()):
        shards.save(part, vectors[part])


def count_in(folder: Path) -> int:
    return sum(json.loads(line)["rows"] for line in (folder / "done.log").read_text().splitlines())


def unit(vectors: Vectors) -> Vectors:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def clocked(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def verdict(what: str, ratio: float, limit: float) -> bool:
    """Print a figure beside its limit; return whether it is over."""
    print(f"{what}: {ratio:.3f} (at most {limit}): {'OVER' if ratio > limit else 'ok'}")
    return ratio > limit


if __name__ == "__main__":
    sys.exit(main())
