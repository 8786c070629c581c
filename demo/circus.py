"""``demo-circus``: single and several targets, and queries that a single modality solves by construction.

Built like CIRCUS: of Full, SF keeps what neither the text nor the reference alone determines, and V is a part of SF.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from demo import changes
from demo.chance import pick, shuffled
from demo.rows import LICENCE, Row, everything, judgments, mask, numbered
from demo.scenes import Scene, answers, gallery, image_ids, position
from evaluator.protocols import CIRCUS_MULTI
from evaluator.types import Gallery, Split, Subset


class Label(StrEnum):
    """Which modality a query was built to need (CIRCUS, section 3)."""

    TEXT = "text"
    IMAGE = "image"
    BOTH = "both"
    COMPOSITION_REQUIRED = "composition-required"
    UNRESOLVED = "unresolved"

    @property
    def is_shortcut(self) -> bool:
        return self in (Label.TEXT, Label.IMAGE, Label.BOTH)


_PLAN: Mapping[Label, Mapping[changes.Maker, int]] = {
    Label.TEXT: changes.TEXT,
    Label.IMAGE: changes.IMAGE,
    Label.BOTH: changes.BOTH,
    Label.COMPOSITION_REQUIRED: changes.COMPOSITION,
    Label.UNRESOLVED: changes.UNRESOLVED,
}
_VALIDATED_PERCENT = 70


@dataclass(frozen=True)
class _Planned:
    label: Label
    row: Row

    def __str__(self) -> str:
        return f"{self.row.references} {self.row.text}"


@cache
def circus_split() -> Split:
    """Return ``demo-circus``: 150 queries over the whole gallery, under CIRCUS's protocol for several targets."""
    planned = _planned()
    rows = [query.row for query in planned]
    free = mask(not query.label.is_shortcut for query in planned)
    return Split(
        name="demo-circus",
        version=1,
        protocol=CIRCUS_MULTI,
        query_ids=tuple(f"circus-{number:03d}" for number in range(1, len(rows) + 1)),
        texts=tuple(row.text for row in rows),
        references=tuple(row.references for row in rows),
        images=image_ids(),
        galleries=(Gallery("scenes", everything(len(gallery()))),),
        gallery_of=np.zeros(len(rows), dtype=np.int32),
        judgments=judgments(rows),
        subsets={
            Subset.FULL: np.ones(len(rows), dtype=np.bool_),
            Subset.SF: free,
            Subset.V: free & mask(_is_validated(row) for row in rows),
        },
        clusters=numbered(row.references for row in rows),
        cluster_name="reference image",
        licence=LICENCE,
    )


def planted_labels() -> dict[str, Label]:
    """Return what each query of ``demo-circus`` was built to be: query id -> label."""
    labels = (query.label for query in _planned())
    return dict(zip(circus_split().query_ids, labels, strict=True))


@cache
def _planned() -> tuple[_Planned, ...]:
    queries = [
        _Planned(label, row)
        for label, makers in _PLAN.items()
        for maker, wanted in makers.items()
        for row in _rows(maker, wanted)
    ]
    return tuple(shuffled(queries, "circus order"))


def _rows(maker: changes.Maker, wanted: int) -> list[Row]:
    """Return ``wanted`` queries of one kind, each with another reference."""
    made = (row for scene in _references(maker) if (row := _row(maker, scene)) is not None)
    return [row for row, _ in zip(made, range(wanted), strict=False)]


def _references(maker: changes.Maker) -> Iterator[Scene]:
    """Yield the scenes that a kind of change may start from, in its own order.

    Only changes of the finish start from a twin, and no scene serves both of their kinds.
    """
    outlined = [scene for scene in gallery() if scene.finish == "outlined"]
    if maker not in (changes.finish, changes.finish_described):
        alone = (scene for scene in gallery() if scene.finish == "plain" and scene.twin not in outlined)
        yield from shuffled(alone, "references", maker.__name__)
        return
    twins = shuffled(outlined, "twins in use")
    for scene in twins if maker is changes.finish else reversed(twins):
        yield pick((scene, scene.twin), "starts from", scene)


def _row(maker: changes.Maker, scene: Scene) -> Row | None:
    made = maker(scene)
    if made is None:
        return None
    text, edit = made
    positives = answers(scene.after(edit))
    return Row(text, (position(scene),), positives, target=pick(positives, "target", scene, text))


def _is_validated(row: Row) -> bool:
    """Stand in for the people who looked at CIRCUS's queries: they keep most of them."""
    return pick(range(100), "validated", row.references, row.text) < _VALIDATED_PERCENT
