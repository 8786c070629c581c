"""Reading PinPoint's 7,635 x 50 ids takes a small multiple of the bare parse of the same bytes."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import orjson
import pytest
from formats.writers import pinpoint as written
from formats.writers import read

from evaluator.types import Split

MOST = 4.0
"""Measured: 2.5 on an idle machine. The test leaves room for a busy one."""


@pytest.fixture(scope="module")
def content(pinpoint: Split) -> bytes:
    draw = np.random.default_rng(0)
    images = np.array(pinpoint.images)
    return written(
        {
            query.removeprefix("query_"): images[draw.choice(len(images), 50, replace=False)].tolist()
            for query in pinpoint.query_ids
        }
    )


def test_reading_pinpoint_costs_a_few_bare_parses(pinpoint: Split, content: bytes) -> None:
    assert read(pinpoint, content).images.shape == (7635, 50)
    ratios = []
    for _ in range(7):
        bare = _seconds(lambda: orjson.loads(content))
        ratios.append(_seconds(lambda: read(pinpoint, content)) / bare)
    assert min(ratios) < MOST


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
