"""Bytes to text: UTF-8 with or without a byte order mark, and a fault that names whatever else it is."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.formats.source import UnreadableError

_BOM = b"\xef\xbb\xbf"
_WIDE = (  # the longer mark first: UTF-32's begins like UTF-16's
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_BINARY = (
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x02", "a Python pickle, which is never opened"),
    (b"\x80\x03", "a Python pickle, which is never opened"),
    (b"\x80\x04", "a Python pickle, which is never opened"),
    (b"\x80\x05", "a Python pickle, which is never opened"),
    (b"PAR1", "a Parquet file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)


def decode(content: bytes) -> str:
    """Return the text of a file. Raises UnreadableError: empty, binary, or another encoding than UTF-8."""
    body = content.removeprefix(_BOM)
    if not body.strip():
        raise UnreadableError("empty-file", found="no content", expected="one ranking for each query")
    _refuse_binary(body)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        offset = error.start + len(content) - len(body)
        raise UnreadableError(
            "wrong-encoding", f"byte {offset}", found=f"the byte 0x{body[error.start]:02x}", expected="UTF-8"
        ) from error


def lines(text: str) -> Iterator[str]:
    """Yield the lines of a text one by one, each with its line feed; CR and Unicode's other separators end none."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _refuse_binary(body: bytes) -> None:
    wide = next((name for mark, name in _WIDE if body.startswith(mark)), "") or _wide_without_mark(body[:64])
    if wide:
        raise UnreadableError("wrong-encoding", found=wide, expected="UTF-8")
    kind = next((name for magic, name in _BINARY if body.startswith(magic)), "")
    if body[257:262] == b"ustar":
        kind = "a tar archive"
    if kind:
        raise UnreadableError("binary-file", found=kind, expected="text")
    offset = body.find(b"\0")
    if offset >= 0:
        raise UnreadableError("binary-file", f"byte {offset}", found="a zero byte", expected="text")


def _wide_without_mark(head: bytes) -> str:
    """Return UTF-16 where every second byte of the beginning is zero, as in ASCII text of two bytes a letter."""
    halves = head[0::2], head[1::2]
    return "UTF-16" if len(head) >= 4 and any(half and not half.strip(b"\0") for half in halves) else ""
