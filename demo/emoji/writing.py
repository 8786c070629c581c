"""The emoji benchmark as files: pictures on white, the split's bundle, kinds of queries, and a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from demo.emoji.queries import emoji_split
from demo.emoji.records import Emoji, captions, held_out, read_emoji
from demo.emoji.source import LICENCE, PACKAGE, fetch
from demo.training import Course, Prepared, Progress, trained
from evaluator import bundle
from evaluator.encoders.small import Recipe

NAME = "Small encoder (emoji)"
SUBJECT = "other emoji of the same set"
FIT = Recipe(epochs=30, rate=1e-3, scale=10.0)
"""Slower and softer than usual: most names are seen once only."""
MANIFEST = "manifest.json"
_SKIPPED = ("Component",)
"""Categories that no caption speaks of: swatches of skin tones."""


@dataclass(frozen=True)
class Manifest:
    """What :func:`write` left in a folder. All paths are relative to it, with forward slashes."""

    recipe: str
    """Changes when the pictures, the names, or any line of this package do."""
    digest: str
    """Of the split."""
    bundle: str
    images: str
    """Folder of the pictures, RGB on white, named by their ids."""
    kinds: str
    """JSON: query id -> its kind."""
    pairs: str
    """JSON: list of pairs for training, a picture's path and a caption; no base of a query is among them."""
    count: int
    """Pictures."""
    queries: int
    source: str = PACKAGE
    licence: str = LICENCE


def write(folder: Path, package: Path, progress: Progress | None = None) -> Manifest:
    """Write the benchmark over an unpacked package into ``folder``; do nothing where it is there already.

    The manifest is written last, so a write that was cut short is done again. Raises OSError.
    """
    emoji = read_emoji(package)
    wanted = _recipe(package, emoji)
    known = _read(folder)
    if known is not None and known.recipe == wanted:
        return known
    (folder / MANIFEST).unlink(missing_ok=True)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    _write_pictures(folder / "images", package, emoji, progress)
    split, kinds = emoji_split(emoji)
    bundle.save(split, folder / "demo-emoji.zip")
    _dump(folder / "kinds.json", kinds)
    _dump(folder / "pairs.json", training_pairs(emoji))
    manifest = Manifest(
        recipe=wanted,
        digest=bundle.digest(split),
        bundle="demo-emoji.zip",
        images="images",
        kinds="kinds.json",
        pairs="pairs.json",
        count=len(emoji),
        queries=len(split),
    )
    _dump(folder / MANIFEST, asdict(manifest))
    return manifest


def training_pairs(emoji: Sequence[Emoji]) -> list[tuple[str, str]]:
    """Return pictures, as paths in the benchmark's folder, with captions; whatever queries are about is left out."""
    held = held_out(emoji)
    return [
        (f"images/{one.id}.png", caption)
        for one in emoji
        if one.base not in held and one.category not in _SKIPPED
        for caption in captions(one)
    ]


def prepare(state: Path, progress: Progress | None = None) -> Prepared:
    """Take the pictures, write the benchmark, train heads and describe the encoder below ``state``.

    Only what is not there yet is done. Raises SourceError, EncoderError and OSError.
    """
    if progress is not None:
        progress("fetching", 0, 1)
    folder = state / "emoji"
    manifest = write(folder, fetch(state / "emoji-package"), progress)

    def pairs(_: Path) -> list[tuple[Path, str]]:
        rows = json.loads((folder / manifest.pairs).read_text(encoding="utf-8"))
        return [(folder / name, caption) for name, caption in rows]

    course = Course("emoji", NAME, SUBJECT, manifest.recipe, FIT)
    spec = trained(state / "encoders", course, pairs, progress)
    return Prepared(spec, folder / manifest.bundle, folder / manifest.images, "")


def _write_pictures(folder: Path, package: Path, emoji: Sequence[Emoji], progress: Progress | None) -> None:
    from PIL import Image  # noqa: PLC0415 building the split needs NumPy only

    for number, one in enumerate(emoji):
        with Image.open(package / "img" / "google" / "64" / f"{one.id}.png") as opened:
            shown = opened.convert("RGBA")
        white = Image.new("RGBA", shown.size, "white")
        Image.alpha_composite(white, shown).convert("RGB").save(folder / f"{one.id}.png", compress_level=1)
        if progress is not None:
            progress("pictures on white", number + 1, len(emoji))


def _recipe(package: Path, emoji: Sequence[Emoji]) -> str:
    digest = hashlib.sha256((package / "emoji.json").read_bytes())
    digest.update("\n".join(one.id for one in emoji).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _read(folder: Path) -> Manifest | None:
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
