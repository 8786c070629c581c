"""How the small encoder's heads are trained: contrastively, on frozen features (LiT, Zhai et al., CVPR 2022).

Both networks stay as they are; their features are computed once, and only two matrices are fitted. On two cores this
takes seconds. With the same pairs, seed and machine the heads are the same to the last bit.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluator.encoders.base import Picture
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import Opening
from evaluator.encoders.small_heads import Heads, Training
from evaluator.encoders.small_towers import PICTURE_BLOCKS, TEXT_BLOCKS, Towers
from evaluator.types import IndexArray, VectorArray

if TYPE_CHECKING:
    import torch

Pair = tuple[Path, str]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

SIDE = 128
_CHUNK = 128  # pictures between two calls of progress


@dataclass(frozen=True)
class Recipe:
    """The numbers of a training."""

    dimension: int = 256
    epochs: int = 15
    batch: int = 256
    rate: float = 3e-3
    """Of Adam, falling to zero along half a cosine."""
    decay: float = 1e-2
    scale: float = 20.0
    """What cosines are multiplied with at first; it is learned, up to 100."""


def train(
    pairs: Sequence[Pair],
    out: Path,
    *,
    seed: int = 0,
    side: int = SIDE,
    recipe: Recipe | None = None,
    subject: str = "",
    progress: Progress | None = None,
) -> str:
    """Train heads on pairs of a picture and a caption, write them to ``out``, and return their revision.

    A picture may have several captions and a caption several pictures: all of them count as right. ``subject`` says
    what the pictures show, for the card. Raises EncoderError and OSError.
    """
    started, recipe = time.monotonic(), recipe or Recipe()
    if len(pairs) < 2:
        raise EncoderError("spec", "training needs at least two pairs of a picture and a caption")
    told = progress or (lambda *_: None)
    paths = list(dict.fromkeys(path for path, _ in pairs))
    place = {path: at for at, path in enumerate(paths)}
    towers = Towers(Opening(device="cpu"), side)
    seen = _see(towers, paths, told)
    read = towers.read([caption for _, caption in pairs])
    towers.close()
    shown = np.array([place[path] for path, _ in pairs])
    picture, text = _fit(seen, read, shown, _numbers([caption for _, caption in pairs]), recipe, seed, told)
    usual = np.array([_usual(seen @ picture), _usual(read @ text)], dtype=np.float32)
    seconds = round(time.monotonic() - started, 1)
    training = Training(len(paths), len(pairs), _digest(pairs), side, recipe.epochs, seed, seconds, subject)
    heads = Heads(picture, text, usual, training)
    heads.save(out)
    return heads.revision


def _see(towers: Towers, paths: Sequence[Path], told: Progress) -> VectorArray:
    rows = []
    for start in range(0, len(paths), _CHUNK):
        rows.append(towers.see([Picture(path.name, path) for path in paths[start : start + _CHUNK]]))
        told("pictures", min(start + _CHUNK, len(paths)), len(paths))
    return np.concatenate(rows)


def _fit(
    seen: VectorArray,
    read: VectorArray,
    shown: IndexArray,
    said: IndexArray,
    recipe: Recipe,
    seed: int,
    told: Progress,
) -> tuple[VectorArray, VectorArray]:
    """Return both heads; pair i is picture ``seen[shown[i]]`` and text ``read[i]``, equal ``said`` are equal texts."""
    import torch

    scales = _scales(seen, PICTURE_BLOCKS), _scales(read, TEXT_BLOCKS)
    pictures, texts = torch.from_numpy(seen * scales[0]), torch.from_numpy(read * scales[1])
    which, words = torch.from_numpy(shown), torch.from_numpy(said)
    chance = torch.Generator().manual_seed(seed)
    heads = [_start(rows.shape[1], recipe.dimension, chance) for rows in (pictures, texts)]
    scale = torch.tensor(math.log(recipe.scale), requires_grad=True)
    groups = [{"params": heads, "weight_decay": recipe.decay}, {"params": [scale], "weight_decay": 0.0}]
    optimiser: Any = torch.optim.AdamW(groups, lr=recipe.rate)
    batch = min(recipe.batch, len(which))
    steps = recipe.epochs * (len(which) // batch)
    slower = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: (1 + math.cos(math.pi * step / steps)) / 2)
    for epoch in range(recipe.epochs):
        order = torch.randperm(len(which), generator=chance)
        for part in order[: len(order) // batch * batch].reshape(-1, batch):
            ours, theirs = pictures[which[part]] @ heads[0], texts[part] @ heads[1]
            loss: Any = _loss(ours, theirs, scale, _right(which[part]) | _right(words[part]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            slower.step()
        told("epochs", epoch + 1, recipe.epochs)
    picture, text = (
        (head.detach().numpy() * by[:, None]).astype(np.float32) for head, by in zip(heads, scales, strict=True)
    )
    return picture, text


def _loss(pictures: torch.Tensor, texts: torch.Tensor, scale: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the contrastive loss in both directions, every right answer weighing the same."""
    from torch.nn.functional import normalize

    scores = scale.exp().clamp(max=100) * normalize(pictures, dim=1) @ normalize(texts, dim=1).T
    wanted = right.float() / right.sum(1, keepdim=True)
    return -(wanted * scores.log_softmax(1)).sum(1).mean() - (wanted.T * scores.log_softmax(0)).sum(0).mean()


def _right(keys: torch.Tensor) -> torch.Tensor:
    return keys[:, None] == keys[None]


def _start(width: int, dimension: int, chance: torch.Generator) -> torch.Tensor:
    import torch

    edge = 1 / math.sqrt(width)
    return ((torch.rand(width, dimension, generator=chance) * 2 - 1) * edge).requires_grad_()


def _scales(rows: VectorArray, widths: Sequence[int]) -> VectorArray:
    """Return a factor for each column that makes blocks of features weigh alike, however wide and large they are."""
    starts = np.cumsum([0, *widths])
    deviations = rows.std(axis=0)
    blocks = [deviations[start:stop] for start, stop in pairwise(starts)]
    factors = [1 / ((block.mean() + 1e-9) * math.sqrt(len(block))) for block in blocks]
    return np.repeat(np.array(factors, dtype=np.float32), widths)


def _usual(rows: VectorArray) -> float:
    return float(np.median(np.linalg.norm(rows, axis=1)))


def _numbers(texts: Sequence[str]) -> IndexArray:
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return np.array([place[text] for text in texts])


def _digest(pairs: Sequence[Pair]) -> str:
    digest = hashlib.sha256()
    for path, caption in pairs:
        digest.update(hashlib.sha256(path.read_bytes()).digest() + hashlib.sha256(caption.encode()).digest())
    return digest.hexdigest()
