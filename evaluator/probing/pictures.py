"""Image ids -> files in a folder of pictures."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from evaluator.digests import digest_of_file
from evaluator.encoders import EncoderError, Picture
from evaluator.types import Split

ENDINGS = frozenset((".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm"))
_NUMBERED = re.compile(r"(?:COCO_[a-z]+20\d\d_)?0*(\d+)")
"""COCO's names: the number of the image with leading zeros, in some releases behind a prefix."""
_SHOWN = 5
_READERS = 8
"""Files read at once for a digest: enough to keep a disk busy."""
_TOGETHER = 64
"""Files that one reader takes: handing them out one by one would cost as much as reading them."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """The files of a split's images, parallel to ``Split.images``; None for one that is missing or not needed."""

    folder: Path
    names: tuple[str, ...]
    paths: tuple[Path | None, ...]
    missing: tuple[str, ...] = ()
    """Ids of images in a gallery or a query that have no file."""
    ambiguous: tuple[str, ...] = ()
    """Ids for which several files, of different content, could be meant."""
    _digests: dict[int, str] = field(default_factory=dict)

    def picture(self, image: int) -> Picture:
        """Return one image as an encoder gets it; opening it fails where it has no file."""
        return Picture(self.names[image], self.paths[image])

    def demand(self) -> None:
        """Raise EncoderError, with a count and the first ids, unless every image has one file."""
        for code, ids in (("picture-missing", self.missing), ("picture-ambiguous", self.ambiguous)):
            if ids:
                shown = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
                raise EncoderError(code, f"{len(ids):,} of {len(self.names):,} images, in {self.folder}: {shown}")

    def digest(self, images: Sequence[int]) -> str:
        """Return the SHA-256 of these images, in this order: their ids and the content of their files.

        Content and not time or size: a folder that was copied has other times and the same vectors, and a picture that
        was changed must never be taken for the old one. Each file is read once for each :class:`Pictures`.
        """
        new = [image for image in dict.fromkeys(images) if image not in self._digests]
        with ThreadPoolExecutor(_READERS) as readers:
            parts = [new[start : start + _TOGETHER] for start in range(0, len(new), _TOGETHER)]
            for part, digests in zip(parts, readers.map(self._of_contents, parts), strict=True):
                self._digests.update(zip(part, digests, strict=True))
        whole = hashlib.sha256()
        for image in images:
            whole.update(f"{self.names[image]}\0{self._digests[image]}\n".encode())
        return whole.hexdigest()

    def _of_contents(self, images: list[int]) -> list[str]:
        return [self._of_content(image) for image in images]

    def _of_content(self, image: int) -> str:
        path = self.paths[image]
        try:
            return digest_of_file(path) if path else ""
        except OSError as error:
            raise EncoderError("picture-damaged", f"{path}: {error.strerror or error}") from error


def find_pictures(folder: Path, split: Split) -> Pictures:
    """Return the files below ``folder`` of all images that ``split`` shows, in its galleries and its queries.

    A file is an image's where its name without ending, or its path below the folder without ending, is the id; failing
    that, where both are the same number in COCO's spelling: ``000000000042``, ``COCO_val2014_000000000042``, or with
    the split's own prefix. Raises EncoderError where the folder cannot be read.
    """
    if not folder.is_dir():
        raise EncoderError("picture-missing", f"{folder} is no folder")
    by_name: dict[str, list[Path]] = {}
    by_number: dict[str, list[Path]] = {}
    for path in picture_files(folder):
        below = path.relative_to(folder)
        for name in {path.stem, path.name, below.with_suffix("").as_posix(), below.as_posix()}:
            by_name.setdefault(name, []).append(path)
        if (number := _number(path.stem, split.image_prefix)) is not None:
            by_number.setdefault(number, []).append(path)
    paths: list[Path | None] = [None] * len(split.images)
    missing, ambiguous = [], []
    for image in shown_images(split):
        name = split.images[image]
        number = _number(name, split.image_prefix)
        found = by_name.get(name) or by_name.get(f"{split.image_prefix}{name}") or by_number.get(number or "", [])
        if not found:
            missing.append(name)
        elif len(found) > 1 and len({digest_of_file(path) for path in found}) > 1:
            ambiguous.append(name)
        else:
            paths[image] = found[0]
    return Pictures(folder, split.images, tuple(paths), tuple(missing), tuple(ambiguous))


def picture_files(folder: Path) -> Iterator[Path]:
    """Yield every picture below ``folder``, in the order of their paths; links to folders are followed, but not round
    in circles."""
    seen = set()
    for where, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(where)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        for name in sorted(files):
            path = Path(where, name)
            if path.suffix.lower() in ENDINGS and not name.startswith("."):
                yield path


def shown_images(split: Split) -> list[int]:
    """Return the images that a model sees, ascending: those of the galleries and the references of the queries."""
    shown = {int(image) for images in split.references for image in images}
    for gallery in split.galleries:
        shown.update(gallery.images.tolist())
    return sorted(shown)


def _number(name: str, prefix: str) -> str | None:
    matched = _NUMBERED.fullmatch(name.removeprefix(prefix))
    return matched.group(1) if matched else None
