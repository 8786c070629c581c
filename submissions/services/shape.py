"""What can be said of a file without parsing it: its size and its first bytes. The worker sees the rest."""

from __future__ import annotations

from django.conf import settings

from evaluator.errors import FAULTS
from evaluator.vectors import is_vectors
from submissions.services.contents import Readable
from submissions.services.fields import Field

PICKLE = "a pickle"
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF89a", "a GIF image"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"PAR1\x15", "a Parquet file"),
    (b"\x80\x02", PICKLE),
    (b"\x80\x03", PICKLE),
    (b"\x80\x04", PICKLE),
    (b"\x80\x05", PICKLE),
    (b"\x7fELF", "a program"),
    *((b"BZh%d1AY&SY" % level, "a bzip2 file") for level in range(1, 10)),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file"),
    (b"Rar!\x1a\x07", "a RAR file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
"""First bytes -> what it is, of files that people send by mistake. None may begin a text."""
MAYBE_VECTORS = ("a NumPy array", "a Parquet file")

_HEAD = 32
_NPY = b"\x93NUMPY"
_FORM_SLACK = 2**20
"""What a request may hold beside its files."""
_MIB = 2**20


def is_oversized(content_length: str, *, vectors: bool) -> bool:
    """Whether a request is larger than any can be; such a one is refused before it is read.

    ``content_length`` is the header as it came. What is no number announces nothing, and Django reads nothing then.
    ``vectors``: whether it may hold vectors, all of which together may be as large as one file of them.
    """
    most = 6 * settings.UPLOAD_MAX_BYTES
    if vectors:
        most = max(most, settings.VECTORS_MAX_BYTES)
    return content_length.isdecimal() and int(content_length) > most + _FORM_SLACK


def wrong_with(field: Field, content: Readable, *, has_ids: bool) -> str:
    """Return what is wrong with the content of a field, or nothing. ``has_ids``: a list of ids comes beside it."""
    if not content.size:
        return f"{FAULTS['empty-file'].title}. {FAULTS['empty-file'].remedy}"
    if size := _too_large(field, content):
        return size
    beginning = content.beginning(_HEAD)
    if field.holds_vectors:
        return _wrong_vectors(beginning, content.size, has_ids=has_ids)
    return _wrong_text(field, beginning)


def _too_large(field: Field, content: Readable) -> str:
    most = settings.VECTORS_MAX_BYTES if field.holds_vectors else settings.UPLOAD_MAX_BYTES
    if content.size <= most:
        return ""
    remedy = "Save the vectors in float16." if field.holds_vectors else "Compress it with gzip or zip."
    return f"The file has {content.size / _MIB:.1f} MiB; at most {most / _MIB:g} MiB are taken. {remedy}"


def _wrong_vectors(beginning: bytes, size: int, *, has_ids: bool) -> str:
    if not is_vectors(beginning[:16], size):
        found = _kind(beginning)
        if found == PICKLE:
            return f"This is {PICKLE}, which is never opened. {FAULTS['vector-objects'].remedy}"
        title = f"This is {found}" if found else FAULTS["vector-format"].title
        return f"{title}. {FAULTS['vector-format'].remedy}"
    if beginning.startswith(_NPY) and not has_ids:
        return "A .npy file does not say whose vectors it holds: send the list of ids beside it, one a row."
    return ""


def _wrong_text(field: Field, beginning: bytes) -> str:
    found = _kind(beginning)
    if not found:
        return ""
    if field.holds_ids:
        return f"This is {found}. Send the ids as text, one a line, or as a JSON list."
    hint = " Vectors are sent as embeddings." if found in MAYBE_VECTORS else ""
    return f"This is {found}. {FAULTS['binary-file'].remedy} Each may be in a .gz or .zip.{hint}"


def _kind(beginning: bytes) -> str:
    return next((kind for signature, kind in SIGNATURES if beginning.startswith(signature)), "")
