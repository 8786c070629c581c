"""CIRCUS on CIRR, FashionIQ, LaSCo and CIRCO: the audited queries, Full ⊇ SF ⊇ V as masks (decision 4).

Queries come from the original annotations by M-BEIR's row rules (LaSCo: from its own file or the release's traces);
subsets and missing gallery lists from CIRCUS's release folder or the index lists (:mod:`.release`). Give all folders
at once: each file is taken from the first folder that has it. A list that is nowhere makes its subset absent, with
the reason (decision 43).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator import protocols
from evaluator.types import BoolArray, IntArray, Judgments, Lookalike, Split, Subset
from leaderboard.importers import circo, cirr, fashioniq, lasco, mbeir, release
from leaderboard.importers.assemble import Images, Judged, dense_numbers, every, mask
from leaderboard.importers.official import Folders, coco_id, file_stem
from leaderboard.importers.pool import ASIN, Pool
from leaderboard.importers.refusal import require_counts, require_none

DATASETS = ("cirr", "fashioniq", "lasco", "circo")
CIRR_GALLERY_SIZE, FASHIONIQ_GALLERY_SIZE = 21_551, 74_381

_STRATIFIED = ("fashioniq", "lasco")
"""V was drawn there from samples of solved and of unsolved queries: strata of its intervals (decisions 4, 17)."""


@dataclass(frozen=True)
class _Query:
    """One audited query."""

    index: int
    """``query_idx``: its row in the source file, not always its position in the split."""
    alias: str
    text: str
    reference: str
    positives: tuple[str, ...]
    """All that count; the first is the single target."""
    cluster: Hashable


@dataclass(frozen=True)
class _Audited:
    """What differs between the four data sets."""

    dataset: str
    queries: tuple[_Query, ...]
    pool: Pool
    licence: str
    cluster_name: str
    image_prefix: str = ""
    lookalikes: tuple[Lookalike, ...] = ()


def read_circus(dataset: str, *folders: Path) -> Split:
    """Return ``circus-{dataset}`` from the folders of the annotations and of CIRCUS. Raises ImportRefused.

    ``dataset`` is one of :data:`DATASETS`; anything else is a KeyError.
    """
    given = Folders.of(*folders)
    audited = _READERS[dataset](given)
    lists = release.read_lists(given, dataset)
    position = {query.index: number for number, query in enumerate(audited.queries)}
    _require_audited(lists, position, dataset)
    _require_same_references(lists, audited, position)
    return _split(audited, lists, position)


def _read_cirr(folders: Folders) -> _Audited:
    captions = cirr.read_captions(folders, "val")
    image_set = {caption.pairid: caption.image_set for caption in captions}
    queries = tuple(
        _Query(number, f"8:{number + 1}", row.text, row.reference, row.positives[:1], image_set[row.sources[0]])
        for number, row in enumerate(mbeir.cirr_rows(captions))
    )
    images = tuple(name for part in cirr.PUBLISHED for name in cirr.read_images(folders, part))
    require_counts({"images": CIRR_GALLERY_SIZE}, {"images": len(set(images))}, "image_splits of CIRR")
    pool = Pool("all CIRR images", "", images)
    lookalikes = tuple(cirr.lookalike(folders, part, cirr.CIRCUS_TAKES) for part in ("val", "test1"))
    return _Audited("cirr", queries, pool, cirr.LICENCE, "image set", lookalikes=lookalikes)


def _read_fashioniq(folders: Folders) -> _Audited:
    queries = tuple(
        _Query(number, f"7:{number + 1}", row.text, row.reference, row.positives[:1], row.reference)
        for number, row in enumerate(mbeir.fashioniq_rows(fashioniq.read_captions(folders)))
    )
    paths = release.read_gallery_paths(folders, "fashioniq")
    images = None if paths is None else tuple(map(file_stem, paths))
    if images is not None:
        require_counts({"images": FASHIONIQ_GALLERY_SIZE}, {"images": len(set(images))}, "gallery_paths of FashionIQ")
    pool = Pool("all FashionIQ images", ASIN, images)
    return _Audited("fashioniq", queries, pool, fashioniq.LICENCE, "reference image")


def _read_lasco(folders: Folders) -> _Audited:
    pool = lasco.read_pool(folders)
    rows = lasco.read_queries(folders, pool)
    known = lasco.aliases(rows)
    queries = tuple(
        _Query(
            row.index, row.alias if row.alias in known else "", row.text, row.reference, (row.target,), row.reference
        )
        for row in rows
    )
    return _Audited("lasco", queries, pool, lasco.LICENCE, "reference image", lasco.IMAGE_PREFIX)


def _read_circo(folders: Folders) -> _Audited:
    queries = tuple(
        _Query(row.index, f"circo_q_test_{row.index}", row.text, row.reference, row.ground_truths, row.index)
        for row in circo.read_queries(folders, "val")
    )
    pool = circo.read_pool(folders)
    test = (circo.lookalike("test"),)
    return _Audited("circo", queries, pool, circo.LICENCE, "query", circo.IMAGE_PREFIX, test)


_READERS: Mapping[str, Callable[[Folders], _Audited]] = {
    "cirr": _read_cirr,
    "fashioniq": _read_fashioniq,
    "lasco": _read_lasco,
    "circo": _read_circo,
}


def _split(audited: _Audited, lists: release.Lists, position: Mapping[int, int]) -> Split:
    queries = audited.queries
    images = audited.pool.images(name for query in queries for name in (query.reference, *query.positives))
    return Split(
        name=f"circus-{audited.dataset}",
        version=1,
        protocol=protocols.CIRCUS_MULTI if audited.dataset == "circo" else protocols.CIRCUS_SINGLE,
        query_ids=tuple(str(query.index) for query in queries),
        texts=tuple(query.text for query in queries),
        references=tuple((images.index[query.reference],) for query in queries),
        images=images.names,
        galleries=(audited.pool.gallery(images),),
        gallery_of=np.zeros(len(queries), dtype=np.int32),
        judgments=_judgments(queries, images),
        subsets=_subsets(lists, position),
        clusters=dense_numbers(query.cluster for query in queries),
        cluster_name=audited.cluster_name,
        strata=_strata(audited.dataset, lists, position),
        absent=_absent(audited.dataset, lists),
        query_aliases={query.alias: number for number, query in enumerate(queries) if query.alias},
        image_prefix=audited.image_prefix,
        lookalikes=audited.lookalikes,
        licence=audited.licence,
    )


def _judgments(queries: tuple[_Query, ...], images: Images) -> Judgments:
    positive = [(q, images.index[name]) for q, query in enumerate(queries) for name in query.positives]
    target = [(q, images.index[query.positives[0]]) for q, query in enumerate(queries)]
    return Judged(positive=positive, target=target).lines(len(queries))


def _labelled(lists: release.Lists) -> dict[Subset, release.Labelled]:
    both = {Subset.SF: lists.shortcut_free, Subset.V: lists.validated}
    return {subset: labelled for subset, labelled in both.items() if labelled is not None}


def _subsets(lists: release.Lists, position: Mapping[int, int]) -> dict[Subset, BoolArray]:
    masks = {
        subset: mask(len(position), (position[index] for indices in labelled.values() for index in indices))
        for subset, labelled in _labelled(lists).items()
    }
    return {Subset.FULL: every(len(position)), **masks}


def _strata(dataset: str, lists: release.Lists, position: Mapping[int, int]) -> dict[Subset, IntArray]:
    """Return 0 for V's solved and 1 for its unsolved queries, -1 outside V."""
    if dataset not in _STRATIFIED or lists.validated is None:
        return {}
    strata = np.full(len(position), -1, dtype=np.int32)
    for number, label in enumerate((release.COMPOSITION_REQUIRED, release.UNRESOLVED)):
        strata[[position[index] for index in lists.validated[label]]] = number
    return {Subset.V: strata}


def _absent(dataset: str, lists: release.Lists) -> dict[Subset, str]:
    sizes = {Subset.SF: release.SHORTCUT_FREE[dataset], Subset.V: release.VALIDATED[dataset]}
    return {
        subset: f"CIRCUS's list of these {sum(labels.values()):,} queries was not in the imported folders."
        for subset, labels in sizes.items()
        if subset not in _labelled(lists)
    }


def _require_audited(lists: release.Lists, position: Mapping[int, int], dataset: str) -> None:
    for subset, labelled in _labelled(lists).items():
        unknown = sorted({index for indices in labelled.values() for index in indices} - position.keys())
        require_none(f"{subset} queries that are not in Full", [str(index) for index in unknown], dataset)


def _require_same_references(lists: release.Lists, audited: _Audited, position: Mapping[int, int]) -> None:
    """Refuse lists that number other rows than ours: the reference image beside each number tells."""
    name = coco_id if audited.dataset in ("lasco", "circo") else file_stem
    shifted = [
        str(index)
        for index, path in lists.references.items()
        if path and name(path) != audited.queries[position[index]].reference
    ]
    require_none("query_idx with another reference image", shifted, f"SF list of {audited.dataset}")
