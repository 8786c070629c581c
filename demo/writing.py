"""The demo as files: pictures, bundles, planted labels, the baselines' files, and a manifest of what is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demo.baselines import Pictures, write_rankings
from demo.circus import circus_split, planted_labels
from demo.drawing import render
from demo.pinpoint import pinpoint_split
from demo.scenes import gallery, image_ids
from demo.vectors import VectorFile, write_vectors
from evaluator import bundle
from evaluator.types import Condition, Split

if TYPE_CHECKING:
    from PIL.Image import Image

MANIFEST = "manifest.json"

Progress = Callable[[int, int], None]
"""Told how many pictures are drawn, and how many there will be."""


@dataclass(frozen=True)
class RankingFile:
    """One file of a baseline; ``file`` is relative to the folder."""

    split: str
    baseline: str
    condition: Condition
    file: str


@dataclass(frozen=True)
class Manifest:
    """What :func:`write` left in a folder. All paths are relative to it, with forward slashes."""

    digest: str
    """Changes when the splits or any line of this package do."""
    images: tuple[str, ...]
    bundles: dict[str, str]
    """Split name -> its bundle."""
    labels: str
    """JSON: query id of ``demo-circus`` -> the label it was built for."""
    rankings: tuple[RankingFile, ...]
    vectors: tuple[VectorFile, ...]

    def files(self) -> Iterator[str]:
        yield from self.images
        yield from self.bundles.values()
        yield self.labels
        yield from (ranking.file for ranking in self.rankings)
        yield from (vectors.file for vectors in self.vectors)


def splits() -> tuple[Split, ...]:
    """Return the demo's splits."""
    return circus_split(), pinpoint_split()


def write(folder: Path, progress: Progress | None = None) -> Manifest:
    """Write the whole demo into ``folder`` and return what is there; do nothing where it is there already.

    The manifest is taken away first and written last, so a write that was cut short is done again. Raises OSError.
    """
    known = whole(folder)
    if known is not None:
        return known
    (folder / MANIFEST).unlink(missing_ok=True)
    manifest = _write_files(folder, progress)
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=1), encoding="utf-8")
    return manifest


def whole(folder: Path) -> Manifest | None:
    """Return the manifest of a folder in which nothing is missing or out of date, else None."""
    known = read_manifest(folder)
    if known is None or known.digest != recipe() or not all((folder / name).exists() for name in known.files()):
        return None
    return known


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in ``folder``, None where there is none or another program wrote it."""
    try:
        row: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        rankings = tuple(
            RankingFile(**{**ranking, "condition": Condition(ranking["condition"])}) for ranking in row["rankings"]
        )
        vectors = tuple(VectorFile(**file) for file in row["vectors"])
        return Manifest(**{**row, "images": tuple(row["images"]), "rankings": rankings, "vectors": vectors})
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def recipe() -> str:
    """Return the digest of everything that decides what is written: the splits and this package's source."""
    digest = hashlib.sha256()
    for split in splits():
        digest.update(bundle.digest(split).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _write_files(folder: Path, progress: Progress | None) -> Manifest:
    for name in ("images", "bundles", "rankings", "vectors"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    pictures = _write_images(folder, progress)
    bundles = {split.name: f"bundles/{split.name}.zip" for split in splits()}
    for split in splits():
        bundle.save(split, folder / bundles[split.name])
    (folder / "labels.json").write_text(json.dumps(planted_labels(), indent=1), encoding="utf-8")
    seen = Pictures(pictures)
    written = write_rankings(folder / "rankings", splits(), seen)
    return Manifest(
        digest=recipe(),
        images=tuple(_image_file(image) for image in image_ids()),
        bundles=bundles,
        labels="labels.json",
        rankings=tuple(RankingFile(*key, file=f"rankings/{path.name}") for key, path in written.items()),
        vectors=tuple(write_vectors(folder, circus_split(), seen)),
    )


def _write_images(folder: Path, progress: Progress | None) -> list[Image]:
    drawn = []
    for name, scene in zip(image_ids(), gallery(), strict=True):
        picture = render(scene)
        picture.save(folder / _image_file(name))
        drawn.append(picture)
        if progress is not None:
            progress(len(drawn), len(gallery()))
    return drawn


def _image_file(image: str) -> str:
    return f"images/{image}.png"
