"""CIRCUS's pool as one frozen member of a pool: its rows put in the split's order, and every published fact checked.

The labels must follow from the ranks, the supports must go with them, and the counts and lists must be the published
ones. The lists themselves stay as they were published; nothing is taken from the labels (decisions 4, 39).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluator.audit.labels import KINDS, LABELS, UNIMODAL, FrozenPool, Kind, Label, Labelling, Member, label
from evaluator.types import BoolArray, Condition, IntArray, Split, Subset
from leaderboard.importers import circo, circus, lasco, release
from leaderboard.importers.official import Folders
from leaderboard.importers.pool_ranks import CONDITIONS, MODELS, RETRIEVERS, PoolRow, read_pool_rows, shortened
from leaderboard.importers.refusal import Difference, compare_counts, refuse_any, require_none

NAME = "CIRCUS pool"
K = 10
"""Where the release counted its supports and took its labels."""

GALLERY_SIZES = {
    "cirr": circus.CIRR_GALLERY_SIZE,
    "fashioniq": circus.FASHIONIQ_GALLERY_SIZE,
    "lasco": lasco.GALLERY_SIZE,
    "circo": circo.GALLERY_SIZE,
}
"""What the pool ranked, whether or not the split's own list is at hand."""

_RELEASED = {
    Label.SHORTCUT: release.SHORTCUT_SOLVABLE,
    Label.COMPOSITION_REQUIRED: release.COMPOSITION_REQUIRED,
    Label.UNRESOLVED: release.UNRESOLVED,
}
_DETAIL = {Kind.TEXT: "text_only", Kind.IMAGE: "image_only", Kind.BOTH: "both_unimodal"}
"""What the release calls the labels, and its detail label of each kind of shortcut."""


def read_pool(split: Split, *folders: Path) -> Member:
    """Return the pool of the release as a member over the queries of ``split``, one of the four ``circus-…`` splits.

    Raises ImportRefused naming every difference from what was published, with file and row.
    """
    dataset = split.name.removeprefix("circus-")
    rows = _in_order(read_pool_rows(Folders.of(*folders), dataset), split)
    refuse_any(shortened(_other_queries(rows, split)))
    refuse_any(shortened([each for row in rows for each in _out_of_range(row, GALLERY_SIZES[dataset])]))
    member = _member(rows)
    labelling = label([member], K)
    refuse_any(
        [
            *shortened(_other_labels(rows, labelling)),
            *shortened([each for row in rows for each in _other_supports(row)]),
            *_other_counts(rows, dataset),
            *shortened(_other_lists(rows, split)),
        ]
    )
    return member


def _in_order(rows: Sequence[PoolRow], split: Split) -> list[PoolRow]:
    """Return the rows in the split's order. Its numbers have gaps on LaSCo: they are ids, not positions."""
    by_id = {str(row.index): row for row in rows}
    known = set(split.query_ids)
    require_none(f"audited queries that {split.name} lacks", [name for name in by_id if name not in known], split.name)
    absent = [name for name in split.query_ids if name not in by_id]
    require_none(f"queries of {split.name} that were not audited", absent, split.name)
    return [by_id[name] for name in split.query_ids]


def _other_queries(rows: Sequence[PoolRow], split: Split) -> list[Difference]:
    """Return what tells a numbering that is shifted, or another set of queries: text, reference and target."""
    positives: list[set[str]] = [set() for _ in rows]
    counted = split.judgments.positive
    for query, image in zip(split.judgments.query[counted], split.judgments.image[counted], strict=True):
        positives[query].add(split.images[image])
    found = []
    for number, row in enumerate(rows):
        text, reference = split.texts[number], split.images[split.references[number][0]]
        if row.text.split() != text.split():
            found.append(Difference(f"query_idx {row.index}, text", repr(text), repr(row.text)[:200], row.place))
        if row.reference != reference:
            found.append(Difference(f"query_idx {row.index}, reference image", reference, row.reference, row.place))
        if row.target and row.target not in positives[number]:
            wanted = " or ".join(sorted(positives[number]))
            found.append(Difference(f"query_idx {row.index}, target image", wanted, row.target, row.place))
    return found


def _out_of_range(row: PoolRow, gallery: int) -> list[Difference]:
    """Return the numbers and names of a row that nothing could have: ranks, supports, models."""
    found = []
    for condition, name in CONDITIONS.items():
        rank, support, best = row.ranks[condition], row.support[condition], row.best[condition]
        if not 1 <= rank <= gallery:
            found.append(_wrong(row, f"rank_{name}", f"1 to {gallery:,}", rank))
        if support > MODELS:
            found.append(_wrong(row, f"support_{name}", f"0 to {MODELS}", support))
        if best and best not in RETRIEVERS:
            found.append(_wrong(row, f"best_retriever_{name}", "a retriever of the release, or none", best))
    text, image = (row.support[condition] for condition in UNIMODAL)
    least, most = max(text, image), min(text + image, MODELS)
    if not least <= row.either <= most:
        found.append(_wrong(row, "support_either_unimodal", f"{least} to {most}", row.either))
    return found


def _other_supports(row: PoolRow) -> list[Difference]:
    """Return where a best rank among the first K has no model behind it, or models have no such rank."""
    return [
        _wrong(
            row,
            f"rank_{name}",
            f"{f'at most {K}' if row.support[condition] else f'more than {K}'}, as support_{name} is "
            f"{row.support[condition]}",
            row.ranks[condition],
        )
        for condition, name in CONDITIONS.items()
        if (row.ranks[condition] <= K) != (row.support[condition] > 0)
    ]


def _wrong(row: PoolRow, what: str, expected: str, found: object) -> Difference:
    return Difference(f"query_idx {row.index}, {what}", expected, str(found), row.place)


def _other_labels(rows: Sequence[PoolRow], labelling: Labelling) -> list[Difference]:
    """Return every query whose label, or detail label, does not follow from its ranks."""
    found = []
    for number, row in enumerate(rows):
        follows = _names(labelling, number)
        if (row.label, row.detail) != follows:
            ranks = ", ".join(f"rank_{name} {row.ranks[condition]}" for condition, name in CONDITIONS.items())
            found.append(
                Difference(
                    f"query_idx {row.index}, label by {ranks}",
                    f"{' / '.join(follows)}, which follows from these ranks",
                    f"{row.label} / {row.detail}",
                    row.place,
                )
            )
    return found


def _names(labelling: Labelling, number: int) -> tuple[str, str]:
    """Return the label and the detail label of a query, as the release would write them."""
    name, kind = LABELS[labelling.label[number]], int(labelling.kind[number])
    return _RELEASED[name], _DETAIL[KINDS[kind]] if kind >= 0 else _RELEASED[name]


def _other_counts(rows: Sequence[PoolRow], dataset: str) -> list[Difference]:
    published = {release.SHORTCUT_SOLVABLE: release.SHORTCUTS[dataset], **release.SHORTCUT_FREE[dataset]}
    labels = [row.label for row in rows]
    found = {f"queries labelled {name}": labels.count(name) for name in published}
    expected = {f"queries labelled {name}": count for name, count in published.items()}
    return compare_counts(expected, found, f"{dataset}: pool of the release")


def _other_lists(rows: Sequence[PoolRow], split: Split) -> list[Difference]:
    """Return every query whose label and the split's published SF and V, with V's strata, contradict each other."""
    found = []
    free = split.subsets.get(Subset.SF)
    validated, strata = split.subsets.get(Subset.V), split.strata.get(Subset.V)
    for number, row in enumerate(rows):
        shortcut = row.label == release.SHORTCUT_SOLVABLE
        if free is not None and bool(free[number]) == shortcut:
            found.append(_listed(row, "SF", free, number))
        if validated is not None and validated[number]:
            drawn = None if strata is None else (release.COMPOSITION_REQUIRED, release.UNRESOLVED)[strata[number]]
            if shortcut or (drawn is not None and row.label != drawn):
                found.append(_wrong(row, "label", f"{drawn or 'no shortcut'}, as it is in the published V", row.label))
    return found


def _listed(row: PoolRow, subset: str, mask: BoolArray, number: int) -> Difference:
    place = "in" if mask[number] else "outside"
    expected = "no shortcut" if mask[number] else release.SHORTCUT_SOLVABLE
    return _wrong(row, "label", f"{expected}, as it is {place} the published {subset}", row.label)


def _member(rows: Sequence[PoolRow]) -> Member:
    ranks = {condition: _column([row.ranks for row in rows], condition) for condition in Condition}
    frozen = FrozenPool(
        models=MODELS,
        k=K,
        support={condition: _column([row.support for row in rows], condition) for condition in Condition},
        either=np.array([row.either for row in rows], dtype=np.int32),
        best={condition: tuple(RETRIEVERS.get(row.best[condition], "") for row in rows) for condition in Condition},
    )
    return Member(NAME, ranks, frozen)


def _column(rows: Sequence[Mapping[Condition, int]], condition: Condition) -> IntArray:
    return np.array([row[condition] for row in rows], dtype=np.int32)
