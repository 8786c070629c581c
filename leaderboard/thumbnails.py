"""A picture file → a small WebP in the state folder, made once. The file itself is never handed out.

So what a browser gets is always a picture of a known kind, without the metadata that cameras write, whatever the folder
holds. The folder ``thumbnails`` may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import warnings
from pathlib import Path

from django.conf import settings
from PIL import Image, ImageOps

log = logging.getLogger(__name__)

WIDTHS = (160, 320, 640)
"""Widths and heights that a picture is fitted into. No others are made."""
MOST_PIXELS = 50_000_000
"""A picture of more is not opened: unpacked it would take 150 MB and more."""
MOST_BYTES = 64 * 2**20
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
"""What is opened, by content; nothing here runs another program."""
CONTENT_TYPE = "image/webp"
_QUALITY = 82


class NoThumbnail(Exception):  # noqa: N818 (a verdict)
    """The file is no picture that can be shown; says why."""


def tag_of(path: Path, width: int) -> str:
    """Return what identifies a file's state and a width: another one when the file changed."""
    state = path.stat()
    whole = hashlib.sha256(f"{path}\0{state.st_mtime_ns}\0{state.st_size}\0{_QUALITY}".encode())
    return f"{whole.hexdigest()[:40]}-{width}"


def thumbnail(path: Path, width: int) -> bytes:
    """Return a picture fitted into ``width`` × ``width`` as WebP. Raises NoThumbnail."""
    tag = tag_of(path, width)
    kept = Path(settings.VAR) / "thumbnails" / tag[:2] / f"{tag}.webp"
    try:
        return kept.read_bytes()
    except FileNotFoundError:
        return _make(path, width, kept)


def _make(path: Path, width: int, kept: Path) -> bytes:
    kept.parent.mkdir(parents=True, exist_ok=True)
    small = _small(path, width)
    with tempfile.NamedTemporaryFile(dir=kept.parent, suffix=".part", delete=False) as part:
        part.close()
        written = Path(part.name)
        try:
            small.save(written, "WEBP", quality=_QUALITY, method=4)
            made = written.read_bytes()
            written.replace(kept)  # whole or not at all, also where two processes make it at once
        except BaseException:
            written.unlink(missing_ok=True)
            raise
    return made


def _small(path: Path, width: int) -> Image.Image:
    if path.stat().st_size > MOST_BYTES:
        raise NoThumbnail(f"{path} has more than {MOST_BYTES:,} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the bound below is tighter
            opened = Image.open(path, formats=FORMATS)
        with opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise NoThumbnail(f"{path} has {opened.width:,} × {opened.height:,} pixels")
            opened.draft("RGB", (width, width))  # JPEG: unpacks no more than is needed
            turned = ImageOps.exif_transpose(opened)
            see_through = turned.has_transparency_data
            small = turned.convert("RGBA" if see_through else "RGB")
            small.thumbnail((width, width))
            return small
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NoThumbnail(f"{path}: {error}") from error
