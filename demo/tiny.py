"""Very small splits of every protocol, for tests: 12 to 18 queries over galleries of 60 images.

All are made the same way: a query asks for its reference in another colour, and the scenes of that colour that look
most like the reference are right. They keep the structure of the real benchmarks, with their oddities: image sets,
categories with their own galleries, semantic aspects, subsets, strata, repeated judgments, images judged both right and
wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from demo.chance import between, pick
from demo.phrases import phrase
from demo.rows import LICENCE, Row, everything, judgments, mask, numbered
from demo.scenes import ATTRIBUTES, TONES, Scene, gallery, image_ids, others
from evaluator.bundle import without_truth
from evaluator.protocols import CIRCO, CIRCUS_MULTI, CIRCUS_SINGLE, CIRR, FASHIONIQ, PINPOINT
from evaluator.types import BoolArray, Gallery, IntArray, Protocol, Split, Subset

QUERIES = 12
IMAGES = 60
CATEGORIES = ("dress", "shirt", "toptee")
ASPECTS = (
    "cardinality",
    "addition",
    "negation",
    "direct_addressing",
    "compare_change",
    "comparative_statement",
    "statement_with_conjunction",
    "spatial_relations_background",
    "viewpoint",
)
"""CIRCO's nine semantic aspects; here the queries carry them by chance."""

IMAGE_PATTERN = r"scene-\d{4}"
"""What an image id of an open gallery looks like."""


def tiny_split(kind: str, *, open_gallery: bool = False, hidden_truth: bool = False) -> Split:
    """Return the tiny split of one of :data:`KINDS`, named ``tiny-KIND``.

    ``open_gallery``: the list of candidates is not at hand, only images that queries or judgments name are known
    (decision 42).
    ``hidden_truth``: as it is handed out where the truth is elsewhere. Raises KeyError for an unknown kind.
    """
    split = KINDS[kind]()
    if open_gallery:
        split = _opened(split)
    return without_truth(split) if hidden_truth else split


def tiny_cirr() -> Split:
    """CIRR: one target and four more members of the image set; the reference is removed from rankings."""
    rows = [_with_members(_row(query)) for query in range(QUERIES)]
    sets = numbered(frozenset(row.members) for row in rows)
    return _split("cirr", CIRR, rows, clusters=sets, cluster_name="image set")


def tiny_fashioniq() -> Split:
    """FashionIQ: six queries in each of three categories, each with a gallery of its own."""
    owner = np.repeat(np.arange(3, dtype=np.int32), 6)
    rows = [_row(query, first_image=IMAGES * int(category)) for query, category in enumerate(owner)]
    galleries = tuple(
        Gallery(name, everything(IMAGES) + np.int32(IMAGES * number)) for number, name in enumerate(CATEGORIES)
    )
    groups = {"category": {name: owner == number for number, name in enumerate(CATEGORIES)}}
    return replace(
        _split("fashioniq", FASHIONIQ, rows, images=3 * IMAGES),
        galleries=galleries,
        gallery_of=owner,
        groups=groups,
    )


def tiny_circo() -> Split:
    """CIRCO: one to four ground truths, the single target among them, overlapping semantic aspects."""
    rows = [_row(query, positives=between(1, 4, "truths", query)) for query in range(QUERIES)]
    return replace(_split("circo", CIRCO, rows), groups={"aspect": _aspects(len(rows))})


def tiny_circus_single() -> Split:
    """CIRCUS with one target: Full ⊇ SF ⊇ V, and V drawn within strata, as for FashionIQ and LaSCo."""
    rows = [_row(query) for query in range(QUERIES)]
    return replace(
        _split("circus-single", CIRCUS_SINGLE, rows),
        query_ids=tuple(str(100 + query) for query in range(QUERIES)),
        subsets=_circus_subsets(),
        strata={Subset.V: np.arange(QUERIES, dtype=np.int32) % 2},
    )


def tiny_circus_multi() -> Split:
    """CIRCUS with several targets: the queries of ``tiny-circo``, so that one upload fits both (decision 3)."""
    return replace(tiny_circo(), name="tiny-circus-multi", protocol=CIRCUS_MULTI, subsets=_circus_subsets(), groups={})


def tiny_pinpoint() -> Split:
    """PinPoint: four base queries of four rows; one with two references, one shown with the reference of another.

    Every third row's judgments are repeated in the release, and one row judges an image both right and wrong.
    """
    rows = [_pinpoint_row(query) for query in range(16)]
    bases = np.repeat(np.arange(4, dtype=np.int32), 4)
    original = bases != 3
    return replace(
        _split("pinpoint", PINPOINT, rows, clusters=bases, cluster_name="base query"),
        query_ids=tuple(f"query_{query:05d}" for query in range(16)),
        query_aliases={f"{query:05d}": query for query in range(16)},
        subsets={Subset.ALL: np.ones(16, dtype=np.bool_), Subset.ORIGINAL: original},
        groups=_pinpoint_groups(bases),
        paraphrase_groups={
            Subset.ALL: numbered(row.references for row in rows),
            Subset.ORIGINAL: np.where(original, bases, np.int32(-1)).astype(np.int32),
        },
    )


KINDS: Mapping[str, Callable[[], Split]] = {
    "cirr": tiny_cirr,
    "fashioniq": tiny_fashioniq,
    "circo": tiny_circo,
    "circus-single": tiny_circus_single,
    "circus-multi": tiny_circus_multi,
    "pinpoint": tiny_pinpoint,
}
"""Kind -> its tiny split."""


def _split(
    kind: str,
    protocol: Protocol,
    rows: Sequence[Row],
    *,
    images: int = IMAGES,
    clusters: IntArray | None = None,
    cluster_name: str = "query",
) -> Split:
    return Split(
        name=f"tiny-{kind}",
        version=1,
        protocol=protocol,
        query_ids=tuple(str(query) for query in range(len(rows))),
        texts=tuple(row.text for row in rows),
        references=tuple(row.references for row in rows),
        images=image_ids()[:images],
        galleries=(Gallery("scenes", everything(images)),),
        gallery_of=np.zeros(len(rows), dtype=np.int32),
        judgments=judgments(rows),
        subsets={Subset.FULL: np.ones(len(rows), dtype=np.bool_)},
        clusters=everything(len(rows)) if clusters is None else clusters,
        cluster_name=cluster_name,
        licence=LICENCE,
    )


def _row(query: int, *, positives: int = 1, first_image: int = 0) -> Row:
    """Return a query whose answers are the ``positives`` scenes of another colour that look most like the reference."""
    reference = first_image + between(0, IMAGES - 1, "tiny reference", query, first_image)
    scene = gallery()[reference]
    colour = pick(sorted(others("colour", scene.colour)), "tiny colour", query)
    near = [image for image in _nearest(reference, first_image) if gallery()[image].colour == colour]
    text = phrase(("make it {colour}.", "the same in {colour}."), query, colour=colour)
    return Row(text, (reference,), tuple(near[:positives]), target=near[0])


def _nearest(reference: int, first_image: int) -> list[int]:
    """Return a tiny gallery but for the reference, most alike first."""
    scene = gallery()[reference]
    images = (image for image in range(first_image, first_image + IMAGES) if image != reference)
    return sorted(images, key=lambda image: (_difference(scene, gallery()[image]), image))


def _difference(one: Scene, other: Scene) -> int:
    return sum(one[attribute] != other[attribute] for attribute in ATTRIBUTES)


def _with_members(row: Row) -> Row:
    near = (image for image in _nearest(row.references[0], 0) if image not in row.positives)
    return replace(row, members=(*row.positives, *(image for image, _ in zip(near, range(4), strict=False))))


def _aspects(queries: int) -> dict[str, BoolArray]:
    """Return overlapping masks: each query has one aspect, and each of the others with a chance of a third."""
    return {
        aspect: mask(
            query % len(ASPECTS) == number or between(0, 2, "aspect", aspect, query) == 0 for query in range(queries)
        )
        for number, aspect in enumerate(ASPECTS)
    }


def _circus_subsets() -> dict[Subset, BoolArray]:
    """Full, every query but the first of each four, and of these all but the second of each four."""
    turn = np.arange(QUERIES) % 4
    return {Subset.FULL: turn >= 0, Subset.SF: turn >= 1, Subset.V: turn >= 2}


def _pinpoint_row(query: int) -> Row:
    """Return one of the four phrasings of base query ``query // 4``."""
    base, wording = divmod(query, 4)
    made = _row(base, positives=3)
    wrong = [image for image in _nearest(made.references[0], 0) if image not in made.positives][:8]
    text = ("{}", "{} Please.", "I would like this: {}", "Could you do this? {}")[wording].format(made.text)
    shown = {2: (*made.references, wrong[-1]), 3: _row(0).references}.get(base, made.references)
    contradictory = made.positives[-1:] if query == 5 else ()
    return Row(
        text,
        shown,
        made.positives,
        (*made.references, *wrong, *contradictory),
        repeats=int(query % 3 == 0),
    )


def _pinpoint_groups(bases: IntArray) -> dict[str, dict[str, BoolArray]]:
    double = {"single": bases != 2, "multi": bases == 2}
    return {
        "images": double,
        "images_signature": double,
        "category": {"Composition": bases == 2, "Swap": bases != 2},
        "interest": {"Art": bases % 2 == 0, "Travel": bases % 2 == 1},
        "skin_tone": {name: bases == number for number, name in enumerate((*TONES[:3], "UNKNOWN"))},
    }


def _opened(split: Split) -> Split:
    """Return ``split`` as if its gallery lists were not at hand: only what queries and judgments name is known."""
    used = {image for references in split.references for image in references} | set(split.judgments.image.tolist())
    known = sorted(used)
    new = {image: number for number, image in enumerate(known)}
    moved = np.array([new[image] for image in split.judgments.image.tolist()], dtype=np.int32)
    return replace(
        split,
        name=f"{split.name}-open",
        images=tuple(split.images[image] for image in known),
        references=tuple(tuple(new[image] for image in references) for references in split.references),
        galleries=tuple(Gallery(old.name, everything(len(known)), IMAGE_PATTERN) for old in split.galleries),
        judgments=replace(split.judgments, image=moved),
    )
