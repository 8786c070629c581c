"""Archives: what is taken, and that every trick is refused in memory (public reports A12 and A24)."""

from __future__ import annotations

import gzip
import io
import stat
import time
import tracemalloc
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from formats.format_splits import make_split
from formats.writers import cirr, codes, faults, plain, read, zipped

from evaluator import protocols
from evaluator.formats import Limits
from evaluator.types import Split

IMAGES = [f"image{number}" for number in range(6)]
LISTS = {"0": IMAGES[:4], "1": IMAGES[2:]}
GOOD = plain(LISTS)


@pytest.fixture
def split() -> Split:
    return make_split(list(LISTS), IMAGES)


def entry(
    name: str, *, mode: int = 0, flags: int = 0, method: int = zipfile.ZIP_DEFLATED, content: bytes = GOOD
) -> bytes:
    """A zip of one entry with these attributes; flags are set afterwards, since zipfile writes no such entry."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        info.compress_type = method
        archive.writestr(info, content)
    raw = bytearray(packed.getvalue())
    if flags:
        raw[6] |= flags
        raw[raw.index(b"PK\x01\x02") + 8] |= flags
    return bytes(raw)


def test_a_zip_built_on_a_mac_in_a_folder(split: Split) -> None:
    packed = zipped({"sub/": b"", "sub/ranks.json": GOOD, "__MACOSX/sub/._ranks.json": b"\0\5", "sub/.DS_Store": b"\0"})
    assert read(split, packed).images.tolist() == [[0, 1, 2, 3], [2, 3, 4, 5]]


def test_two_candidates_are_both_named(split: Split) -> None:
    (fault,) = faults(split, zipped({"a.json": GOOD, "b/c.json": GOOD}))
    assert (fault.code, fault.found) == ("zip-several-files", "a.json, b/c.json")
    (fault,) = faults(split, zipped({f"{number}.json": GOOD for number in range(40)}))
    assert fault.code == "zip-several-files"
    assert fault.found.startswith("40 files: 0.json, 1.json")


def test_two_cirr_files_of_one_kind_are_no_pair() -> None:
    members = dict.fromkeys(range(2), IMAGES[1:])
    split = make_split(list(LISTS), IMAGES, protocol=replace(protocols.CIRR, list_length=4), members=members)
    lists = dict.fromkeys(LISTS, IMAGES[1:])
    assert codes(split, zipped({"a": cirr(lists), "b": cirr(lists)})) == ["zip-several-files"]
    assert read(split, zipped({"a": cirr(lists), "b": cirr(lists, "recall_subset")})).members is not None


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc/x", "C:\\x", "C:x", "..\\..\\x", "a/../../x", "sub/../../sub-evil/x", "\\\\host\\share", "a/.."],
)
def test_paths_that_leave_their_folder(split: Split, name: str) -> None:
    """The whole upload is refused, even where the entry would be left aside as junk."""
    assert codes(split, entry(name)) == ["zip-path"]
    assert codes(split, zipped({"ranks.json": GOOD, "__MACOSX/../../x": b""})) == ["zip-path"]


def test_a_zero_byte_in_a_name(split: Split) -> None:
    assert codes(split, entry("ranks.jsonX..").replace(b"X", b"\0")) == ["zip-path"]


def test_links_and_encryption_and_methods(split: Split) -> None:
    assert codes(split, entry("ranks.json", mode=stat.S_IFLNK | 0o777, content=b"/etc/passwd")) == ["zip-link"]
    assert codes(split, entry("ranks.json", flags=1)) == ["zip-encrypted"]
    assert codes(split, entry("ranks.json", method=zipfile.ZIP_BZIP2)) == ["zip-method"]
    assert codes(split, entry("ranks.json", method=zipfile.ZIP_LZMA)) == ["zip-method"]
    assert read(split, entry("ranks.json", method=zipfile.ZIP_STORED)).format == "json"


def test_an_entry_without_a_name(split: Split) -> None:
    """Where ``zipfile`` itself fails when asked whether it is a folder."""
    assert read(split, entry("")).format == "json"


def test_nothing_to_read(split: Split) -> None:
    assert codes(split, zipped({})) == codes(split, zipped({"folder/": b"", ".DS_Store": b"\0"})) == ["zip-empty"]
    assert codes(split, zipped({"ranks.json": b""})) == codes(split, gzip.compress(b"")) == ["empty-file"]


def test_archives_within_archives(split: Split) -> None:
    for inner in (gzip.compress(GOOD), zipped({"ranks.json": GOOD})):
        assert codes(split, gzip.compress(inner)) == codes(split, zipped({"inner": inner})) == ["nested-archive"]


def test_gzip_of_several_members_and_padding(split: Split) -> None:
    """What ``cat a.gz b.gz`` and block tools write."""
    assert read(split, gzip.compress(GOOD[:20]) + gzip.compress(GOOD[20:]) + bytes(512)).format == "json"


def test_many_members_cost_no_more_than_their_bytes(split: Split) -> None:
    """Each one that ended once copied all the rest of the file: 1.6 MB of them took eight seconds, 16 MB far longer."""
    start = time.process_time()
    assert codes(split, gzip.compress(b"") * 200_000) == ["empty-file"]
    assert time.process_time() - start < 5


def test_damaged_archives(split: Split) -> None:
    gz, packed = gzip.compress(GOOD), zipped({"ranks.json": GOOD})
    assert codes(split, gz[:-12]) == codes(split, gz + b"more") == ["gzip-damaged"]
    assert codes(split, gz[:-5] + b"\0" * 5) == ["gzip-damaged"]
    assert codes(split, packed[:-30]) == ["zip-damaged"]
    middle = packed.index(b"ranks.json") + 14
    assert codes(split, packed[:middle] + b"\xff\xff\xff" + packed[middle + 3 :]) == ["zip-damaged"]


def test_a_hundred_thousand_entries_are_refused_before_they_are_listed(split: Split) -> None:
    one = entry("a", content=b"")
    central = one[one.index(b"PK\x01\x02") : one.index(b"PK\x05\x06")]
    (fault,) = faults(split, one[: one.index(b"PK\x01\x02")] + central * 100_000 + one[one.index(b"PK\x05\x06") :])
    assert (fault.code, fault.found) == ("zip-entries", "100,000 entries")


@pytest.mark.parametrize("kind", ["gz", "zip", "lying zip"])
def test_a_bomb_is_refused_within_bounded_memory(split: Split, kind: str) -> None:
    """However much the archive unpacks to: cut off at the limit, here 20 MB, long before the end."""
    limits = Limits(unpacked_bytes=20_000_000)
    bomb = _bomb(kind)
    tracemalloc.start()
    try:
        found = codes(split, bomb, limits=limits)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found in (["too-large"], ["zip-damaged"])
    assert peak < 3 * limits.unpacked_bytes + len(bomb)


def _bomb(kind: str) -> bytes:
    """Three hundred megabytes of spaces; the lying zip says in its headers that they are a thousand bytes."""
    packer = zlib.compressobj(1, wbits=31 if kind == "gz" else -15)
    block = b" " * 1_000_000
    stream = b"".join(packer.compress(block) for _ in range(300)) + packer.flush()
    if kind == "gz":
        return stream
    shell = entry("ranks.json", method=zipfile.ZIP_STORED, content=stream)
    raw = bytearray(shell)
    size = (300_000_000 if kind == "zip" else 1_000).to_bytes(4, "little")
    central = raw.rindex(b"PK\x01\x02")
    raw[8], raw[central + 10] = 8, 8  # stored -> deflated
    raw[22:26] = raw[central + 24 : central + 28] = size
    return bytes(raw)


def test_nothing_is_written_to_disk(split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for content in (GOOD, gzip.compress(GOOD), zipped({"sub/ranks.json": GOOD})):
        read(split, content)
    codes(split, entry("../x"))
    assert not list(tmp_path.iterdir())
