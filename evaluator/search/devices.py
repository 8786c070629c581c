"""The one door to torch and faiss, imported inside; and the workers that share a gallery."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import EvaluatorError
from evaluator.search.bounds import to_bfloat16
from evaluator.search.kernels import Handle, Kernel, Keys, NumpyKernel, Tile
from evaluator.search.keys import COLUMN_BITS, VALUE_BITS, VALUE_SCALE, VALUE_ZERO
from evaluator.search.scores import parts
from evaluator.types import IndexArray, VectorArray

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "numpy", "cpu", "cuda")
SCREENS = ("auto", "float32", "bfloat16")
_TOLD_EVERY = 0.25
"""Seconds between two words on how far a pass is."""


class TorchCpuKernel(NumpyKernel):
    """Torch multiplies, on one thread for each kernel; NumPy answers in the same memory."""

    def __init__(self) -> None:
        super().__init__()
        import torch

        self._torch = torch
        self.fast_bfloat16 = bool(getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)())
        self._rounded: torch.Tensor | None = None

    def enter(self) -> None:
        self._torch.set_num_threads(1)  # of this thread alone: the workers are the parallelism

    def put(self, rows: VectorArray, *, rounded: bool) -> Handle:
        if rounded and not self.fast_bfloat16:
            return self._tensor(to_bfloat16(rows))
        return self._tensor(rows).bfloat16() if rounded else self._tensor(rows)

    def _tensor(self, rows: VectorArray) -> torch.Tensor:
        return self._torch.from_numpy(rows if rows.flags.writeable else rows.copy())

    def product(self, left: Handle, right: Handle, slice_: int) -> Tile:
        tile, more = self._tiles(len(left), len(right))
        if left.dtype == self._torch.bfloat16:
            if self._rounded is None or self._rounded.numel() < tile.size:
                self._rounded = self._torch.empty(tile.size, dtype=self._torch.bfloat16)
            rounded = self._rounded[: tile.size].view(tile.shape)
            self._torch.mm(left, right.T, out=rounded)
            self._torch.from_numpy(tile).copy_(rounded)
            return tile
        for part in parts(left.shape[1], slice_):
            into = self._torch.from_numpy(more if part.start else tile)
            self._torch.mm(left[:, part], right[:, part].T, out=into)
            if part.start:
                tile += more
        return tile

    def nearest(self, left: Handle, right: Handle, count: int) -> tuple[VectorArray, IndexArray]:
        values, columns = self._torch.topk(
            self._torch.from_numpy(self.product(left, right, left.shape[1])), count, dim=1, sorted=False
        )
        return values.numpy(), columns.numpy()


class FaissKernel(NumpyKernel):
    """Faiss proposes the nearest images: on the GPUs where there are any, else on the CPU, on threads of its own."""

    block = 1 << 16
    cells = 1 << 28

    def __init__(self) -> None:
        super().__init__()
        import faiss

        self._faiss = faiss
        self._gpu = faiss.StandardGpuResources() if faiss_gpus() else None

    def nearest(self, left: Handle, right: Handle, count: int) -> tuple[VectorArray, IndexArray]:
        left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
        metric = self._faiss.METRIC_INNER_PRODUCT
        if self._gpu is not None:
            products, columns = self._faiss.knn_gpu(self._gpu, left, right, count, metric=metric)
        else:
            products, columns = self._faiss.knn(left, right, count, metric=metric)
        return np.asarray(products), np.asarray(columns)


class TorchKernel:
    """Everything in torch, on its device; only counts and the cells in doubt come back."""

    fast_bfloat16 = False  # the cells in doubt are settled by the host, which a wider band would keep waiting
    block = 8192
    cells = 1 << 24

    def __init__(self, device: torch.device | str) -> None:
        import torch

        self._torch = torch
        self._device = torch.device(device)
        self._host = NumpyKernel()

    def _put(self, array: NDArray[Any]) -> torch.Tensor:
        return self._torch.from_numpy(np.array(array)).to(self._device)

    def enter(self) -> None:
        """Torch needs nothing: the device works while the host waits."""

    def room(self, rows: int, width: int) -> VectorArray:
        return self._host.room(rows, width)

    def put(self, rows: VectorArray, *, rounded: bool) -> Handle:
        return self._put(rows).bfloat16() if rounded else self._put(rows)

    def product(self, left: Handle, right: Handle, slice_: int) -> Tile:
        if left.dtype == self._torch.bfloat16 and self._device.type == "cuda":
            return (left @ right.T).float()
        left, right = left.float(), right.float()
        slices = list(parts(left.shape[1], slice_))
        tile = left[:, slices[0]] @ right[:, slices[0]].T
        for part in slices[1:]:
            tile += left[:, part] @ right[:, part].T
        return tile

    def fetch(self, tile: torch.Tensor) -> VectorArray:
        fetched: VectorArray = tile.cpu().numpy()
        return fetched

    def between(self, tile: torch.Tensor, low: VectorArray, high: VectorArray) -> tuple[IndexArray, IndexArray]:
        rows = tile[: len(low)]
        above = rows > self._put(high)[:, None]
        inside = (rows >= self._put(low)[:, None]) ^ above
        return above.sum(1).cpu().numpy(), inside.ravel().nonzero().ravel().cpu().numpy()

    def listed(self, tile: torch.Tensor, floor: VectorArray) -> Keys:
        row, column = (tile >= self._put(floor)[:, None]).nonzero(as_tuple=True)
        value = (tile[row, column] * VALUE_SCALE).floor().long() + VALUE_ZERO
        return (((row << VALUE_BITS) + value << COLUMN_BITS) + column).sort().values

    def find(self, keys: torch.Tensor, edges: IndexArray) -> IndexArray:
        found: IndexArray = self._torch.searchsorted(keys, self._put(edges)).cpu().numpy()
        return found

    def pick(self, keys: torch.Tensor, which: IndexArray) -> IndexArray:
        picked: IndexArray = keys[self._put(which)].cpu().numpy()
        return picked

    def nearest(self, left: Handle, right: Handle, count: int) -> tuple[VectorArray, IndexArray]:
        values, columns = self._torch.topk(self.product(left, right, left.shape[1]), count, dim=1, sorted=False)
        return values.cpu().numpy(), columns.cpu().numpy()


def has(library: str) -> bool:
    """Return whether a library is installed, without importing it."""
    return importlib.util.find_spec(library) is not None


def open_kernels(device: str, threads: int) -> list[Kernel]:
    """Return one kernel for each worker: ``threads`` on a CPU (0: one for each core), four for each GPU.

    Raises EvaluatorError where the device is not at hand.
    """
    if device not in DEVICES:
        raise EvaluatorError(f"no device {device}: choose one of {', '.join(DEVICES)}")
    if device in ("cpu", "cuda") and not has("torch"):
        raise EvaluatorError(f"the device {device} needs torch, which is not installed")
    gpus = _gpus() if device in ("auto", "cuda") and has("torch") else []
    if gpus:
        return [TorchKernel(gpu) for gpu in gpus for _ in range(4)]
    if device == "cuda":
        raise EvaluatorError("torch sees no CUDA device")
    count = threads or cores()
    return [NumpyKernel() if device == "numpy" or not has("torch") else TorchCpuKernel() for _ in range(count)]


def cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def open_finders(device: str, threads: int) -> list[Kernel]:
    """Return kernels that propose nearest images: those of :func:`open_kernels`; or faiss, by name or for its GPUs.

    Raises EvaluatorError where the device is not at hand.
    """
    if device == "faiss" and not has("faiss"):
        raise EvaluatorError("the device faiss needs faiss, which is not installed")
    if device == "faiss" or (device in ("auto", "cuda") and has("faiss") and faiss_gpus()):
        return [FaissKernel()]
    return open_kernels(device, threads)


def faiss_gpus() -> int:
    """Return how many GPUs faiss can use: none without its GPU build."""
    import faiss

    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


def gpu_names() -> list[str]:
    """Return the names of the GPUs that torch sees; none where torch is not installed."""
    if not has("torch"):
        return []
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _gpus() -> list[str]:
    import torch

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def over_blocks(
    kernels: list[Kernel],
    count: int,
    block: int,
    work: Callable[[Kernel, slice], None],
    told: Callable[[int], None] = lambda images: None,
) -> None:
    """Give each block of a gallery of ``count`` images to whichever kernel is free; with several GPUs they are shards.

    ``work`` must be safe to call from several threads. ``told`` is called in the calling thread, a few times a second
    and at the end, with the number of images done so far. The first error, of either of them, ends the pass: no block
    is begun any more, and the workers are gone when it is raised.
    """
    waiting, images = deque(parts(count, block)), list[int]()
    failed = threading.Event()

    def worker(kernel: Kernel) -> None:
        kernel.enter()
        while not failed.is_set() and (part := _next(waiting)) is not None:
            try:
                work(kernel, part)
            except BaseException:
                failed.set()
                raise
            images.append(part.stop - part.start)

    with full_float32(kernels), ThreadPoolExecutor(len(kernels)) as pool:
        workers = working = {pool.submit(worker, kernel) for kernel in kernels}
        try:
            while working:
                _, working = wait(working, _TOLD_EVERY, FIRST_EXCEPTION)
                told(sum(images))
                for done in workers - working:
                    done.result()
        finally:
            failed.set()


def _next(waiting: deque[slice]) -> slice | None:
    try:
        return waiting.popleft()
    except IndexError:  # another worker took the last
        return None


@contextmanager
def full_float32(kernels: list[Kernel]) -> Iterator[None]:
    """Keep torch from computing float32 products in anything less (TF32, bfloat16), then restore its settings."""
    if not any(isinstance(kernel, TorchCpuKernel | TorchKernel) for kernel in kernels):
        yield
        return
    import torch

    before = torch.get_float32_matmul_precision()
    reduced = torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = reduced
