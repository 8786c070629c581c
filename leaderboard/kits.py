"""Split kits: everything a participant needs for one version of a split, as one zip (decision 35).

The same version always gives the same bytes, so a kit is built once and kept in storage under the version's digest.
"""

from __future__ import annotations

import csv
import io
import json
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.files.storage import default_storage

from evaluator import __version__, bundle
from evaluator.formats import templates
from evaluator.measures import describe
from evaluator.types import Protocol, Split
from leaderboard import bundles
from leaderboard.models import SplitVersion

LAYOUT = 3
"""Counted up whenever a kit of the same split would have other bytes."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry: a kit does not depend on when it was built."""


def kit_of(version: SplitVersion) -> str:
    """Return the name of a version's kit in the default storage, building it on first use."""
    name = f"kits/{version.split.slug}-v{version.number}-{version.digest[:16]}-{LAYOUT}-{__version__}.zip"
    if not default_storage.exists(name):
        _keep(name, build_kit(bundles.load(version), version.split.licence))
    return name


def _keep(name: str, content: bytes) -> None:
    """Write a kit; of two who build it at once both write the same bytes, and a reader never sees half a file."""
    path = Path(default_storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    part.write_bytes(content)
    part.replace(path)


def build_kit(split: Split, licence: str) -> bytes:
    """Return the kit of a split: queries, gallery, protocol in words, templates, the offline checker's bundle, licence.

    Nothing that a hidden truth could be read from is in it (decision 33).
    """
    shown = bundle.without_truth(split) if split.hidden_truth else split
    folder = f"{split.name}-v{split.version}"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(shown, licence or split.licence).items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def _files(split: Split, licence: str) -> Mapping[str, bytes]:
    return {
        "README.md": readme(split, licence).encode(),
        "LICENCE.txt": f"{licence or 'The licence of the data was not stated by its source.'}\n".encode(),
        "queries.jsonl": _queries_as_lines(split).encode(),
        "queries.csv": _queries_as_table(split).encode(),
        **{f"gallery/{name}": text.encode() for name, text in _galleries(split)},
        **{f"templates/{name}": content for name, content in sorted(templates(split).items())},
        "bundle.zip": _bundle(split),
    }


def _queries(split: Split) -> Iterator[dict[str, object]]:
    several = len(split.galleries) > 1
    for position, query in enumerate(split.query_ids):
        row: dict[str, object] = {
            "query": query,
            "text": split.texts[position],
            "references": [split.images[image] for image in split.references[position]],
        }
        if several:
            row["gallery"] = split.galleries[split.gallery_of[position]].name
        yield row


def _queries_as_lines(split: Split) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in _queries(split))


def _queries_as_table(split: Split) -> str:
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    several = len(split.galleries) > 1
    writer.writerow(["query", "text", "reference", "second_reference", *(["gallery"] if several else [])])
    for position, query in enumerate(split.query_ids):
        references = [split.images[image] for image in split.references[position]]
        gallery = [split.galleries[split.gallery_of[position]].name] if several else []
        writer.writerow([query, split.texts[position], *[*references, ""][:2], *gallery])
    return table.getvalue()


def _galleries(split: Split) -> Iterator[tuple[str, str]]:
    """Yield file name and content: one id a line, or the pattern where the list is not at hand (decision 42)."""
    for gallery in split.galleries:
        if gallery.is_open:
            yield f"{gallery.name}.pattern.txt", f"{gallery.pattern}\n"
        else:
            yield f"{gallery.name}.txt", "".join(f"{split.images[image]}\n" for image in gallery.images)


def _bundle(split: Split) -> bytes:
    """Return the bundle for ``python -m evaluator``, packed again so that its bytes do not depend on the time."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        bundle.save(split, path)
        with zipfile.ZipFile(path) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def readme(split: Split, licence: str) -> str:
    """Return protocol and measures in words."""
    lines = [
        f"# {split.name}, version {split.version}",
        "",
        f"{len(split):,} queries. Digest of the split: `{bundle.digest(split)}`"
        + (" (without its hidden truth)." if split.hidden_truth else "."),
        "",
        "## What to send",
        "",
        *(f"* {line}" for line in _rules(split)),
        "",
        "## Files",
        "",
        "* `queries.jsonl`, `queries.csv`: every query with its reference image or images and the exact text to use.",
        "* `gallery/`: the ids of the candidate images, one a line; or, where the list is not at hand, the regular",
        "  expression that an id must match.",
        "* `templates/`: an empty file in each format that is taken, as it is or in a `.gz` or one-file `.zip`.",
        "* `bundle.zip`: the split for the offline checker.",
        "",
        "## Check at home",
        "",
        f"    {_command(split)}",
        "",
        "says what the server would say of FILE. The checker is part of cirboard and needs nothing but NumPy:",
        "`pip install .` in a clone of the project, then run the command above in this folder.",
        "",
        "## Measures",
        "",
        *(f"* **{name}** ({describe(name).title}): {describe(name).sentence}" for name in _measures(split.protocol)),
        "",
        "## Licence of the data",
        "",
        licence or "Not stated by its source.",
        "",
    ]
    return "\n".join(lines)


def _command(split: Split) -> str:
    return f"python -m evaluator {'check' if split.hidden_truth else 'score'} FILE --split bundle.zip"


def _rules(split: Split) -> Iterator[str]:
    protocol = split.protocol
    yield f"A ranking of at least {protocol.list_length} images (or of the whole gallery) for every query, best first."
    if protocol.remove_reference:
        yield "The reference image is removed by id before anything is counted: it need not be in your list."
    else:
        yield "The reference image stays in the gallery and in your list; it is not removed."
    if protocol.member_list_length:
        yield (
            f"Optionally a second file, the subset ranking: the first {protocol.member_list_length} members of the "
            "query's image set, the reference left out."
        )
    yield "Optionally two more runs of the same method: text-only and image-only (text empty, no instruction)."
    yield "Ties in your scores are yours to break; where scores are sent, equal ones stand in the order of the gallery."
    if split.hidden_truth:
        yield "The truth of this split is hidden: files are checked here and scored on the official server."
    else:
        yield (
            "In place of a ranking, judged ranks: the rank of every judged image in the whole gallery, which "
            "`python -m evaluator ranks` writes from vectors. Only ranks over the whole gallery give full nDCG and, "
            "with three runs, the Composition Gap."
        )
        yield f"The board is ordered by {protocol.first_measure} on {protocol.first_subset}."


def _measures(protocol: Protocol) -> tuple[str, ...]:
    return (*protocol.measures, *protocol.joint_measures)
