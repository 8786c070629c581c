"""Where weights lie, and that they are in the very state that a spec names: a snapshot of a hub, or a folder.

A folder's revision is its digest, or the commit where the folder is a hub's snapshot named after one. Nothing else is
taken: two states under one label could not be told apart later.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.digests import digest_of_file
from evaluator.encoders.problems import EncoderError

_BRANCHES = ("main", "master", "HEAD")
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
)
_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "*.py"]
_OLD = ["*.bin"]
_UNWANTED = ["onnx/*", "openvino/*", "training_args.bin", "optimizer.bin"]


@dataclass(frozen=True)
class Weights:
    """A folder of weights, and the exact state that they are in."""

    name: str
    """As its publisher writes it, or the folder's own; never where it lies."""
    folder: Path
    revision: str

    def config(self) -> dict[str, Any]:
        """Return what ``config.json`` holds. Raises EncoderError."""
        path = self.folder / "config.json"
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise EncoderError("weights-missing", f"{self.name} has no config.json") from error
        except (OSError, ValueError) as error:
            raise EncoderError("weights-damaged", f"config.json: {error}") from error
        if not isinstance(config, dict):
            raise EncoderError("weights-damaged", "config.json holds no object")
        return config

    def check_type(self, known: tuple[str, ...]) -> str:
        """Return the architecture's name in ``config.json``, one of ``known``. Raises EncoderError."""
        kind = self.config().get("model_type", "unnamed")
        if kind not in known:
            raise EncoderError("weights-other", f"{kind}; this family loads {', '.join(known)}")
        return str(kind)

    def check_tokenizer(self) -> None:
        """Refuse a folder without one: transformers makes an empty one up, which reads nothing. Raises EncoderError."""
        if not any(path.name in _TOKENIZERS for path in self.folder.rglob("*")):
            raise EncoderError("weights-missing", f"{self.name} has no tokenizer: {', '.join(_TOKENIZERS)}")


def find_weights(model: str, revision: str, start: Path | None = None) -> Weights:
    """Return the weights of ``model`` in the state ``revision``: a folder's, from ``start``, or a hub's.

    Raises EncoderError where they are not at hand, or in another state.
    """
    folder = (start or Path()) / model
    if folder.is_dir():
        return _checked(folder.resolve(), revision)
    if model.startswith((".", "/", "~")) or model.count("/") != 1:
        raise EncoderError("weights-missing", f"there is no folder {model}")
    return _from_hub(model, revision)


def folder_digest(folder: Path) -> str:
    """Return SHA-256 over the names and digests of a folder's files, hidden ones and notes left out."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and path.suffix != ".md" and not any(part.startswith(".") for part in name.parts):
            digest.update(f"{digest_of_file(path)} {name.as_posix()}\n".encode())
    return digest.hexdigest()


def _checked(folder: Path, revision: str) -> Weights:
    if folder.parent.name == "snapshots" and folder.name == revision:
        return Weights(folder.parent.parent.name.removeprefix("models--").replace("--", "/"), folder, revision)
    try:
        found = folder_digest(folder)
    except OSError as error:
        raise EncoderError("weights-damaged", f"{folder.name}: {error}") from error
    if found != revision.lower().removeprefix("sha256:"):
        raise EncoderError("wrong-revision", f"{revision}: the digest of the folder {folder.name} is {found}")
    return Weights(folder.name, folder, found)


def _from_hub(model: str, revision: str) -> Weights:
    try:
        from huggingface_hub import constants, errors, snapshot_download
    except ImportError as error:
        raise EncoderError("package-missing", "huggingface-hub") from error
    if revision in _BRANCHES:
        raise EncoderError("wrong-revision", f"{revision} is a branch, which moves: give the commit it points to")
    offline = bool(constants.HF_HUB_OFFLINE)

    def fetch(wanted: list[str]) -> Path:
        return Path(
            snapshot_download(
                model, revision=revision, allow_patterns=wanted, ignore_patterns=_UNWANTED, local_files_only=offline
            )
        )

    try:
        folder = fetch(_WANTED)
        if not any(folder.rglob("*.safetensors")):
            folder = fetch([*_WANTED, *_OLD])
    except errors.RevisionNotFoundError as error:
        raise EncoderError("wrong-revision", f"{model} has no {revision}") from error
    except errors.LocalEntryNotFoundError as error:
        raise _not_at_hand(model, revision, Path(constants.HF_HUB_CACHE)) from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise EncoderError("weights-missing", f"{model}: {_first_line(error)}") from error
    except (errors.HfHubHTTPError, OSError) as error:
        raise EncoderError("weights-damaged", f"{model}: {_first_line(error)}") from error
    return Weights(model, folder, folder.name)


def _not_at_hand(model: str, revision: str, cache: Path) -> EncoderError:
    """Tell a revision that was never downloaded from a model that was not."""
    snapshots = cache / f"models--{model.replace('/', '--')}" / "snapshots"
    held = sorted(path.name for path in snapshots.glob("*")) if snapshots.is_dir() else []
    if held:
        return EncoderError("wrong-revision", f"{revision}: without the network only {', '.join(held)} is at hand")
    return EncoderError("weights-missing", f"{model} is not on this machine, and the hub cannot be reached")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
