"""What every family with torch shares: device, exact float32, errors in words, open pictures, batches that shrink."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluator.encoders.base import Picture
from evaluator.encoders.batching import Batches, lacks_memory
from evaluator.encoders.problems import EncoderError
from evaluator.types import VectorArray

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

    from evaluator.encoders.registry import Opening

_READERS = 8
"""Threads that decode pictures: decoding leaves Python's lock, and a disk answers several at once."""
_CUT_FILE = ("pytorchstreamreader", "invalid header", "unexpected eof", "corrupt", "storage has wrong byte size")
_NO_FILE = ("no file named", "does not appear to have", "no such file", "can't load", "couldn't find")


@dataclass(frozen=True)
class Side:
    """Where a model computes, and in what."""

    device: torch.device
    dtype: torch.dtype

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Compute without gradients and, in float32, without TF32 or bfloat16 inside; then restore torch's settings."""
        import torch

        before = torch.get_float32_matmul_precision()
        convolutions = torch.backends.cudnn.allow_tf32
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
        try:
            with torch.inference_mode():
                yield
        finally:
            torch.set_float32_matmul_precision(before)
            torch.backends.cudnn.allow_tf32 = convolutions

    def vectors(self, rows: torch.Tensor) -> VectorArray:
        """Return rows (b, d) of the device as float32."""
        found: VectorArray = rows.float().cpu().numpy()
        return found

    def batches(self, opening: Opening, host: int, accelerator: int) -> Batches:
        """Return batches of the size that ``opening`` asks for, else of what suits the device."""
        size = opening.batch or (accelerator if self.device.type == "cuda" else host)
        return Batches(size, self.release)

    def release(self) -> None:
        """Give back the memory that torch keeps for later."""
        import torch

        if self.device.type == "cuda":
            torch.cuda.empty_cache()


def open_side(opening: Opening) -> Side:
    """Return the device and the dtype that ``opening`` asks for. Raises EncoderError."""
    try:
        import torch
    except ImportError as error:
        raise EncoderError("package-missing", "torch") from error
    return Side(torch.device(_device(opening.device, torch.cuda)), getattr(torch, opening.dtype))


def _device(name: str, cuda: Any) -> str:
    if name == "auto":
        return "cuda" if cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return name
    if kind != "cuda" or (number and not number.isdecimal()):
        raise EncoderError("no-device", f"{name} is none of auto, cpu, cuda, cuda:1")
    if not cuda.is_available() or int(number or 0) >= cuda.device_count():
        raise EncoderError("no-device", f"torch does not see {name} here")
    return name


def opened(pictures: Sequence[Picture]) -> list[Image]:
    """Return the images of pictures, in their order. Raises EncoderError."""
    if len(pictures) < 2:
        return [picture.open() for picture in pictures]
    with ThreadPoolExecutor(min(_READERS, len(pictures))) as pool:
        return list(pool.map(Picture.open, pictures))


@contextmanager
def loading(model: str) -> Iterator[None]:
    """Turn what libraries raise while weights are loaded into an EncoderError that says what to do."""
    try:
        from safetensors import SafetensorError
    except ImportError as error:
        raise EncoderError("package-missing", "safetensors") from error
    damaged = (SafetensorError, pickle.UnpicklingError, EOFError, zipfile.BadZipFile, json.JSONDecodeError)
    try:
        yield
    except EncoderError:
        raise
    except ImportError as error:
        raise EncoderError("package-missing", _said(error)) from error
    except damaged as error:
        raise EncoderError("weights-damaged", f"{model}: {_said(error)}") from error
    except (OSError, RuntimeError, MemoryError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EncoderError(_code(error), f"{model}: {_said(error)}") from error


def _code(error: BaseException) -> str:
    text = str(error).lower()
    if lacks_memory(error):
        return "out-of-memory"
    if isinstance(error, OSError):
        return "weights-missing" if any(part in text for part in _NO_FILE) else "weights-damaged"
    if isinstance(error, RuntimeError) and any(part in text for part in _CUT_FILE):
        return "weights-damaged"
    return "weights-other"


def _said(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[0][:300]


def quiet() -> None:
    """Keep transformers from drawing bars and reports: a caller reads what this process prints."""
    from transformers import utils

    reports: Any = utils.logging
    reports.disable_progress_bar()
    reports.set_verbosity_error()


def check_loaded(model: str, report: dict[str, Any]) -> None:
    """Refuse weights that do not fill a model: what is missing would be random. Raises EncoderError.

    ``report`` is what transformers gives with ``output_loading_info``. Weights that the model has no use for are fine:
    a head for generation, say.
    """
    missing = sorted([*report.get("missing_keys", ()), *(row[0] for row in report.get("mismatched_keys", ()))])
    if missing:
        raise EncoderError("weights-other", f"{model} lacks {len(missing)} of the model's weights, {missing[0]} first")
