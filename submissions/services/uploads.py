"""What can be said of a file without parsing it: its size and its first bytes; and where it is stored."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile

from evaluator.digests import BlockDigest
from evaluator.errors import FAULTS
from evaluator.types import Condition, Protocol
from submissions.models import SentFile
from submissions.services import references
from submissions.services.leftovers import UPLOADS
from submissions.services.refusals import NotStored

log = logging.getLogger(__name__)

Runs: TypeAlias = "Mapping[Condition, Sequence[UploadedFile[bytes]]]"
Messages = dict[str, list[str]]

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF89a", "a GIF image"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"PAR1\x15", "a Parquet file"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"\x7fELF", "a program"),
    *((b"BZh%d1AY&SY" % level, "a bzip2 file") for level in range(1, 10)),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file"),
    (b"Rar!\x1a\x07", "a RAR file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
"""First bytes -> what it is, of files that people send by mistake. None may begin a text: the worker sees the rest."""

_HEAD = max(len(signature) for signature, _ in SIGNATURES)
_FORM_SLACK = 2**20
"""What a request may hold beside its files."""


@dataclass(frozen=True)
class Uploaded:
    """One file of a run, with its digest."""

    condition: Condition
    role: SentFile.Role
    file: UploadedFile[bytes]
    digest: str

    @property
    def name(self) -> str:
        """The author's name for it, which is only ever shown: without folders, printable, short."""
        bare = PurePosixPath(str(self.file.name or "").replace("\\", "/")).name
        return "".join(char for char in bare if char.isprintable())[-200:] or "file"


def field_of(condition: Condition, position: int) -> str:
    """Return the name that form and API use: ``multimodal``, ``multimodal_subset``, ``text_only``, ..."""
    return str(condition).replace("-", "_") + ("_subset" if position else "")


def is_oversized(content_length: str) -> bool:
    """Whether a request is larger than any upload can be; such a one is refused before it is read.

    ``content_length`` is the header as it came. What is no number announces nothing, and Django reads nothing then.
    """
    return (
        content_length.isdecimal()
        and int(content_length) > len(Condition) * 2 * settings.UPLOAD_MAX_BYTES + _FORM_SLACK
    )


def check_shape(runs: Runs, protocol: Protocol) -> Messages:
    """Return field -> what is wrong with the files: one to three runs, multimodal among them, each of a sane size."""
    messages: Messages = {}
    if not runs.get(Condition.MULTIMODAL):
        messages["multimodal"] = ["Choose the ranking file of the multimodal run; text-only and image-only are extra."]
    most = 2 if protocol.member_list_length else 1
    for condition, files in runs.items():
        for position, file in enumerate(files):
            field = field_of(condition, position)
            if position >= most:
                messages[field] = [_too_many(most)]
            elif wrong := _wrong_with(file):
                messages[field] = [wrong]
    return messages


def _too_many(most: int) -> str:
    return "Send the ranking and, beside it, one subset file." if most == 2 else FAULTS["subset-not-taken"].title + "."


def _wrong_with(file: UploadedFile[bytes]) -> str:
    size = file.size or 0
    if size == 0:
        return f"{FAULTS['empty-file'].title}. {FAULTS['empty-file'].remedy}"
    if size > settings.UPLOAD_MAX_BYTES:
        limit = settings.UPLOAD_MAX_BYTES / 2**20
        return f"The file has {size / 2**20:.1f} MiB; at most {limit:g} MiB are taken. Compress it with gzip or zip."
    file.seek(0)
    head = file.read(_HEAD)
    for signature, kind in SIGNATURES:
        if head.startswith(signature):
            return f"This is {kind}. {FAULTS['binary-file'].remedy} Each may be in a .gz or .zip."
    return ""


def digested(runs: Runs) -> tuple[Uploaded, ...]:
    """Return every file with its digest, in the order of conditions."""
    roles = (SentFile.Role.RANKING, SentFile.Role.SUBSET)
    return tuple(
        Uploaded(condition, role, file, _digest(file))
        for condition in Condition
        for role, file in zip(roles, runs.get(condition, ()), strict=False)
    )


def _digest(file: UploadedFile[bytes]) -> str:
    whole = BlockDigest()
    file.seek(0)
    for chunk in file.chunks():
        whole.update(chunk)
    return whole.hexdigest()


def digest_of(files: Sequence[Uploaded]) -> str:
    """Return the digest of a whole upload: of its files with their conditions, in any order (decision 29)."""
    lines = sorted(f"{part.condition} {part.digest}" for part in files)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def store(files: Sequence[Uploaded]) -> list[str]:
    """Write the files to storage in chunks, under names that say nothing. Returns the names.

    Raises NotStored when there is no place for them; then nothing is kept, half a file neither.
    """
    names = [f"{UPLOADS}/{uuid.uuid4().hex}" for _ in files]
    try:
        for name, part in zip(names, files, strict=True):
            part.file.seek(0)
            default_storage.save(name, part.file)
    except OSError as error:
        with suppress(OSError):
            discard(names)
        reference = references.new()
        log.exception("%s: an upload was not stored", reference)
        raise NotStored(reference) from error
    return names


def discard(names: Sequence[str]) -> None:
    """Delete stored files that nothing refers to."""
    for name in names:
        default_storage.delete(name)


def conditions_of(files: Sequence[Uploaded]) -> Iterator[Condition]:
    """Yield each condition that has files, once."""
    yield from dict.fromkeys(part.condition for part in files)
