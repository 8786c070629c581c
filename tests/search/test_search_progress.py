"""Whoever waits for a search hears how far it is, and can end it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from search.plain import DEVICES, make_split

from evaluator.search import devices, judged_ranks, kernels, top_k
from evaluator.types import Embeddings

AT_HAND = [device for device in DEVICES if device == "numpy" or devices.has("torch")]
Call = tuple[int, int]


def vectors(queries: int, images: int) -> Embeddings:
    random = np.random.default_rng(0)
    return Embeddings(random.standard_normal((queries, 8)), random.standard_normal((images, 8)))


def searches(progress: Callable[[int, int], None], **more: Any) -> list[Callable[[], object]]:
    """Return both searches, ready to run over 700 images; the ranks over three galleries."""
    split, embeddings = make_split(30, 700, judged=4, galleries=3), vectors(30, 700)
    return [
        lambda: judged_ranks(embeddings, split, block=16, progress=progress, **more),
        lambda: top_k(embeddings, 5, block=16, progress=progress, **more),
    ]


@pytest.mark.parametrize("device", AT_HAND)
@pytest.mark.parametrize("threads", [1, 3])
def test_it_grows_to_a_total_that_never_changes(device: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar that jumps back, or passes its end, tells nothing."""
    monkeypatch.setattr(devices, "_TOLD_EVERY", 0.0)
    calls: list[Call] = []
    for search in searches(lambda done, total: calls.append((done, total)), device=device, threads=threads):
        calls.clear()
        search()
        done, totals = zip(*calls, strict=True)
        assert len(set(totals)) == 1
        assert done[0] == 0
        assert done[-1] == totals[0]
        assert list(done) == sorted(done)
        assert len(set(done)) >= 3


def test_it_is_heard_in_the_calling_thread_while_a_long_block_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's time limit is looked at here: it must not wait for a block that takes minutes."""
    monkeypatch.setattr(devices, "_TOLD_EVERY", 0.01)
    heard: list[tuple[int, int]] = []
    devices.over_blocks(
        [kernels.NumpyKernel()],
        1,
        1,
        lambda *_: time.sleep(0.3),
        lambda images: heard.append((images, threading.get_ident())),
    )
    assert len(heard) > 5
    assert {thread for _, thread in heard} == {threading.get_ident()}
    assert heard[-1][0] == 1


@pytest.mark.parametrize("device", AT_HAND)
@pytest.mark.parametrize("after", [0.0, 0.2, 0.6])
def test_what_it_raises_ends_the_search_and_its_threads(
    device: str, after: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A submission that is given up must not keep cores busy."""
    monkeypatch.setattr(devices, "_TOLD_EVERY", 0.0)

    def stop(done: int, total: int) -> None:
        if done >= after * total:
            raise TimeoutError(done)

    before = set(threading.enumerate())
    for search in searches(stop, device=device, threads=2):
        with pytest.raises(TimeoutError):
            search()
        assert set(threading.enumerate()) == before


def test_no_block_is_begun_once_it_has_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_TOLD_EVERY", 0.01)
    begun: list[slice] = []

    def work(kernel: kernels.Kernel, part: slice) -> None:
        begun.append(part)
        time.sleep(0.05)

    def stop(images: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        devices.over_blocks([kernels.NumpyKernel()], 1000, 1, work, stop)
    assert len(begun) < 4


def test_a_split_with_nothing_to_do_is_done() -> None:
    calls: list[Call] = []
    split = make_split(2, 3, judged=1)
    assert judged_ranks(vectors(2, 3), split, progress=lambda *call: calls.append(call)).rank.min() > 0
    assert calls[-1][0] == calls[-1][1] > 0
    top_k(vectors(2, 0), 3, progress=lambda *call: calls.append(call))
    assert calls[-1] == (0, 0)
