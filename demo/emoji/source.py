"""Where the pictures come from: one npm package in one version, whose archive has a known digest."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

PACKAGE = "emoji-datasource-google@16.0.0"
DIGEST = "fb5fd131b362aab7a55542d2a147a79708cce0a8b1c1bbacd470172708b5c438"
"""SHA-256 of its archive."""
LICENCE = "Apache-2.0 (images: Google's Noto Emoji), MIT (names: emoji-datasource-google 16.0.0)"
_PATIENCE = 600  # seconds for the download
_TEXTS = ("emoji.json", "LICENSE", "README.md", "package.json")
_DONE = "unpacked"


class SourceError(Exception):
    """The pictures could not be had; says what to do."""


def fetch(folder: Path) -> Path:
    """Take the package into ``folder`` unless it is there, and return where it is unpacked. Raises SourceError."""
    package = folder / "package"
    if (package / _DONE).exists():
        return package
    archive = folder / "emoji-datasource-google-16.0.0.tgz"
    folder.mkdir(parents=True, exist_ok=True)
    if not archive.exists() or _digest(archive) != DIGEST:
        _pack(folder)
    if not archive.exists() or _digest(archive) != DIGEST:
        raise SourceError(f"What npm gave for {PACKAGE} is not the archive that is known. Delete {archive}, try again.")
    _unpack(archive, package)
    archive.unlink()
    return package


def _pack(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SourceError(f"npm was not found: install it, or put the archive of {PACKAGE} into {folder}.")
    command = [npm, "pack", PACKAGE, "--silent"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"npm did not answer within {_PATIENCE} seconds: try again.") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise SourceError(
            f"npm could not take {PACKAGE} ({said[-1] if said else 'no reason given'}). "
            f"Check the network, or put its archive into {folder}."
        )


def _unpack(archive: Path, package: Path) -> None:
    """Write the list and the pictures of 64 pixels, nothing else; names are rebuilt, not followed."""
    pictures = package / "img" / "google" / "64"
    pictures.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as opened:
        for member in opened:
            path = PurePosixPath(member.name)
            content = opened.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            if path.parts[1:-1] == ("img", "google", "64") and path.suffix == ".png":
                (pictures / path.name).write_bytes(content.read())
            elif path.parts[1:] in {(name,) for name in _TEXTS}:
                (package / path.name).write_bytes(content.read())
    (package / _DONE).touch()


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
