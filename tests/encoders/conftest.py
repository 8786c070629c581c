"""Tiny models on one core: torch's threads wait for each other longer than they compute."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the library is imported: no test reaches for a hub
os.environ["TOKENIZERS_PARALLELISM"] = "false"


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
