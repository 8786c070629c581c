"""M-BEIR's row rules: how CIRR val and FashionIQ val became the query files that CIRCUS audits (protocols.md 4.2).

The rules are those of UniIR's preprocessors, stated in words: clean each text, drop rows without a positive, merge rows
of equal text and reference. A query's CIRCUS ``query_idx`` is its row number here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from leaderboard.importers import cirr, fashioniq
from leaderboard.importers.refusal import require_counts

PUBLISHED = {"cirr": 4_170, "fashioniq": 6_003}
"""Rows that M-BEIR's test files have."""

_SENTENCE_ENDS = (".", "?", "!")


@dataclass(frozen=True)
class Row:
    """One merged row."""

    text: str
    reference: str
    positives: tuple[str, ...]
    """The first one is the only positive that CIRCUS counts."""
    sources: tuple[str, ...]
    """Native ids of the merged rows: pairids, or ``dress-0``."""


def cirr_rows(captions: Iterable[cirr.Caption]) -> tuple[Row, ...]:
    """Return CIRR val's 4,170 rows. Positives are the images valued 1.0; five rows have none and are dropped."""
    rows = _merge(
        Row(clean_text(caption.text), caption.reference, caption.soft_targets, (caption.pairid,))
        for caption in captions
        if caption.soft_targets
    )
    require_counts({"M-BEIR rows of CIRR val": PUBLISHED["cirr"]}, {"M-BEIR rows of CIRR val": len(rows)}, "CIRR")
    return rows


def fashioniq_rows(captions: Iterable[fashioniq.Caption]) -> tuple[Row, ...]:
    """Return FashionIQ val's 6,003 rows: dress, shirt, toptee in order, both captions joined by "and"."""
    rows = _merge(
        Row(_joined(caption), caption.reference, (caption.target,), (f"{caption.category}-{caption.row}",))
        for caption in captions
    )
    what = "M-BEIR rows of FashionIQ val"
    require_counts({what: PUBLISHED["fashioniq"]}, {what: len(rows)}, "FashionIQ")
    return rows


def clean_text(text: str) -> str:
    """Drop carriage returns, outer blanks and outer double quotes, capitalise, and end with a full stop."""
    bare = text.replace("\r", "").strip().strip('"')
    if not bare:
        return ""
    sentence = bare[0].upper() + bare[1:]
    return sentence if sentence.endswith(_SENTENCE_ENDS) else sentence + "."


def _joined(caption: fashioniq.Caption) -> str:
    parts = [part for part in map(clean_text, caption.captions) if part]
    return clean_text(" and ".join(part[0].lower() + part[1:].removesuffix(".") for part in parts))


def _merge(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Merge rows of equal text and reference into the first of them."""
    merged: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row.text, row.reference)
        first = merged.get(key)
        merged[key] = row if first is None else _joined_rows(first, row)
    return tuple(merged.values())


def _joined_rows(first: Row, second: Row) -> Row:
    fresh = tuple(image for image in second.positives if image not in first.positives)
    return replace(first, positives=first.positives + fresh, sources=first.sources + second.sources)
