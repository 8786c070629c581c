"""Opens ``.gz`` and one-file ``.zip`` in memory, within limits, and refuses every trick (public reports A12, A24)."""

from __future__ import annotations

import io
import re
import stat
import zipfile
import zlib
from pathlib import PurePosixPath

from evaluator.formats.source import Limits, SourceFile, UnreadableError

_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_ZIP_ENTRY = b"PK\x01\x02"
_JUNK = re.compile(r"(^|/)(__MACOSX(/|$)|\.DS_Store$|\._[^/]*$|Thumbs\.db$|desktop\.ini$)", re.IGNORECASE)
_ZEROS = re.compile(rb"\0+")
_PIECE = 4096
_CIRR_METRIC = re.compile(rb'"metric"\s*:\s*"(recall|recall_subset)"')


def unpack(source: SourceFile, limits: Limits) -> list[SourceFile]:
    """Return the plain file in ``source``; two files where a zip holds CIRR's pair. Raises UnreadableError."""
    if len(source.content) > limits.unpacked_bytes:
        raise _too_large(limits)
    if source.content.startswith(_GZIP):
        return [_plain(SourceFile(source.name, _gunzip(source.content, limits)))]
    if source.content.startswith(_ZIP):
        return [_plain(inner) for inner in _unzip(source, limits)]
    return [source]


def _plain(inner: SourceFile) -> SourceFile:
    if inner.content.startswith((_GZIP, *_ZIP)):
        raise UnreadableError("nested-archive", found=f"an archive as the content of {inner.name}", expected="text")
    return inner


def _too_large(limits: Limits) -> UnreadableError:
    limit = f"{limits.unpacked_bytes:,} bytes"
    return UnreadableError("too-large", found=f"more than {limit} (unpacked)", expected=f"at most {limit}")


def _gunzip(content: bytes, limits: Limits) -> bytes:
    """Expand all members of a gzip file, at most one byte beyond the limit.

    It is fed in small pieces: a member that has ended copies what is left of its piece, and a file can have millions.
    """
    parts: list[bytes] = []
    room, start, member = limits.unpacked_bytes, 0, zlib.decompressobj(wbits=31)
    while start < len(content):
        piece = content[start : start + _PIECE]
        try:
            part = member.decompress(piece, room + 1)
        except zlib.error as error:
            raise UnreadableError("gzip-damaged", found=str(error), expected="a complete gzip file") from error
        if len(part) > room:
            raise _too_large(limits)
        parts += [part] if part else []
        room -= len(part)
        start += len(piece) - len(member.unused_data)
        if member.eof and (start := _after_padding(content, start)) < len(content):
            member = zlib.decompressobj(wbits=31)
    if not member.eof:
        raise UnreadableError("gzip-damaged", found="an end too early", expected="a complete gzip file")
    return b"".join(parts)


def _after_padding(content: bytes, start: int) -> int:
    padding = _ZEROS.match(content, start)
    return padding.end() if padding else start


def _unzip(source: SourceFile, limits: Limits) -> list[SourceFile]:
    number = source.content.count(_ZIP_ENTRY)  # before zipfile builds an object for each
    if number > limits.archive_entries:
        raise UnreadableError(
            "zip-entries", found=f"{number:,} entries", expected=f"at most {limits.archive_entries:,}"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            files = _candidates(archive)
            unpacked = [SourceFile(f"{source.name}/{entry.filename}", _read(archive, entry, limits)) for entry in files]
    except _DAMAGED as error:
        raise UnreadableError("zip-damaged", found=str(error) or type(error).__name__) from error
    if len(unpacked) > 1 and not _is_cirr_pair(unpacked):
        raise UnreadableError(
            "zip-several-files", found=", ".join(entry.filename for entry in files), expected="one ranking file"
        )
    return unpacked


_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
"""What ``zipfile`` raises on bytes that are no sound archive; it promises no common base."""


def _candidates(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the entries that may be a ranking file: all but folders and what macOS and Windows add."""
    entries = archive.infolist()
    for entry in entries:
        _refuse_tricks(entry)
    files = [entry for entry in entries if not entry.filename.endswith("/") and not _JUNK.search(entry.filename)]
    if not files:
        raise UnreadableError("zip-empty", found=f"{len(entries)} entries, none of them a file to read")
    if len(files) > 2:
        names = ", ".join(entry.filename for entry in files[:10])
        raise UnreadableError("zip-several-files", found=f"{len(files)} files: {names}", expected="one ranking file")
    return files


def _refuse_tricks(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    path = PurePosixPath(name.replace("\\", "/"))
    place = f"entry {name}"
    if path.is_absolute() or ".." in path.parts or "\0" in name or re.match(r"[A-Za-z]:", name):
        raise UnreadableError("zip-path", place, found=name, expected="a bare file name, in one folder at most")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise UnreadableError("zip-link", place, found="a symbolic link", expected="a file")
    if entry.flag_bits & 0x2041:  # encrypted, strongly encrypted, masked headers
        raise UnreadableError("zip-encrypted", place, found="an encrypted entry", expected="a plain one")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableError("zip-method", place, found=f"method {entry.compress_type}", expected="deflate")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limits: Limits) -> bytes:
    if entry.file_size > limits.unpacked_bytes:
        raise _too_large(limits)
    with archive.open(entry) as opened:
        content = opened.read(limits.unpacked_bytes + 1)  # what the header says of the size is not believed
    if len(content) > limits.unpacked_bytes:
        raise _too_large(limits)
    return content


def _is_cirr_pair(files: list[SourceFile]) -> bool:
    metrics = sorted(_CIRR_METRIC.findall(inner.content) for inner in files)
    return metrics == [[b"recall"], [b"recall_subset"]]
