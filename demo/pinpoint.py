"""``demo-pinpoint``: several right answers, explicit negatives, paraphrases, two-image queries and groups.

Built like the release of PinPoint, traps included: the reference is one of its query's own negatives; in a part of the
base queries a stand-in took the place of the reference while the text and the judgments stayed, and one stand-in serves
several; in one of them a pair of images took the place of one. Subset Original is what was left alone (decision 5).

The groups are stand-ins too. ``skin_tone`` has the names of PinPoint's buckets and tells how light the *background* of
the reference is; ``interest`` follows the form of the objects. They are there so that every break-down has something to
show.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from demo.chance import between, draw, pick, shuffled
from demo.intents import DOUBLE, SINGLE, WORDINGS, Asker, Request
from demo.rows import LICENCE, Row, everything, judgments, mask, numbered
from demo.scenes import TONES, Edit, Scene, answers, gallery, image_ids, misses, position
from evaluator.protocols import PINPOINT
from evaluator.types import BoolArray, Gallery, IntArray, Split, Subset

INTERESTS = {
    "circle": "Sport",
    "square": "Architecture",
    "triangle": "Travel",
    "star": "Entertainment",
    "heart": "Wedding",
}
"""Form of the first reference -> the domain whose name it borrows."""
NEGATIVES = 16
_REPLACED_PERCENT = 34  # of the base queries; PinPoint: 45 % of the rows
_SHARED_PERCENT = 40  # of the replaced ones that get the same stand-in


@dataclass(frozen=True)
class BaseQuery:
    """What the paraphrases of one group ask, with the images that it was written for and those that are shown."""

    request: Request
    originals: tuple[int, ...]
    references: tuple[int, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]

    @property
    def is_original(self) -> bool:
        return self.references == self.originals

    @property
    def first(self) -> Scene:
        """The scene that the text was written for."""
        return gallery()[self.originals[0]]

    @property
    def tone(self) -> str:
        """The background's tone, as a stand-in for a skin tone; two-image queries have none."""
        return self.first.tone if len(self.originals) == 1 else "UNKNOWN"

    def __str__(self) -> str:
        return f"{self.originals} {self.request.phrasings[0]}"


@cache
def pinpoint_split() -> Split:
    """Return ``demo-pinpoint``: 36 base queries in four to six phrasings each, under PinPoint's protocol."""
    pairs = [(number, text) for number, base in enumerate(base_queries()) for text in _phrasings(base)]
    owners = [base_queries()[number] for number, _ in pairs]
    clusters = np.array([number for number, _ in pairs], dtype=np.int32)
    original = mask(base.is_original for base in owners)
    rows = [
        Row(text, base.references, base.positives, base.negatives)
        for base, (_, text) in zip(owners, pairs, strict=True)
    ]
    return Split(
        name="demo-pinpoint",
        version=1,
        protocol=PINPOINT,
        query_ids=tuple(f"pinpoint-{number:03d}" for number in range(1, len(rows) + 1)),
        texts=tuple(row.text for row in rows),
        references=tuple(row.references for row in rows),
        images=image_ids(),
        galleries=(Gallery("scenes", everything(len(gallery()))),),
        gallery_of=np.zeros(len(rows), dtype=np.int32),
        judgments=judgments(rows),
        subsets={Subset.ALL: np.ones(len(rows), dtype=np.bool_), Subset.ORIGINAL: original},
        clusters=clusters,
        cluster_name="base query",
        groups=_groups(owners),
        paraphrase_groups=_paraphrase_groups(rows, clusters, original),
        licence=LICENCE,
    )


def _paraphrase_groups(rows: list[Row], clusters: IntArray, original: BoolArray) -> dict[Subset, IntArray]:
    """Group as decision 11 does: on All by the reference images shown, on Original by the base query."""
    return {
        Subset.ALL: numbered(row.references for row in rows),
        Subset.ORIGINAL: np.where(original, clusters, np.int32(-1)).astype(np.int32),
    }


@cache
def base_queries() -> tuple[BaseQuery, ...]:
    """Return the base queries in the order of the split's rows."""
    single = [_base(asker, (scene,)) for asker, wanted in SINGLE.items() for scene in _scenes(wanted, asker.__name__)]
    double = [
        _base(asker, (scene, _second(scene, attribute)))
        for asker, (attribute, wanted) in DOUBLE.items()
        for scene in _scenes(wanted, asker.__name__)
    ]
    return _with_stand_ins(shuffled([*single, *double], "pinpoint order"))


def _scenes(wanted: int, name: str) -> list[Scene]:
    plain = (scene for scene in gallery() if scene.finish == "plain")
    return shuffled(plain, "pinpoint references", name)[:wanted]


def _second(first: Scene, attribute: str) -> Scene:
    """Return a second reference: unlike the first in ``attribute`` and in the form."""
    options = [
        scene
        for scene in gallery()
        if scene[attribute] != first[attribute] and scene.form != first.form and scene.finish == "plain"
    ]
    return pick(options, "second", attribute, first)


def _base(asker: Asker, scenes: tuple[Scene, ...]) -> BaseQuery:
    request = asker(scenes[0], scenes[-1])
    wanted = scenes[0].after(request.edit)
    originals = tuple(position(scene) for scene in scenes)
    return BaseQuery(request, originals, originals, answers(wanted), _negatives(request.edit, wanted, originals))


def _negatives(edit: Edit, wanted: Edit, references: tuple[int, ...]) -> tuple[int, ...]:
    """Return the references and scenes that are wrong in one attribute, first those that ignore what was asked."""

    def order(index: int) -> tuple[bool, int]:
        scene = gallery()[index]
        asked = any(attribute in edit and scene[attribute] not in values for attribute, values in wanted.items())
        return not asked, draw("negative", references, index)

    near = [index for index, scene in enumerate(gallery()) if misses(scene, wanted) == 1 and index not in references]
    return (*references, *sorted(near, key=order))[:NEGATIVES]


def _with_stand_ins(bases: list[BaseQuery]) -> tuple[BaseQuery, ...]:
    """Replace the references of some base queries, whole groups as in the release, and leave all else alone."""
    replaced = shuffled(bases, "replaced")[: len(bases) * _REPLACED_PERCENT // 100]
    judged = {image for base in replaced for image in (*base.positives, *base.negatives)}
    spare = iter(shuffled((index for index in range(len(gallery())) if index not in judged), "stand-ins"))
    shared = next(spare)
    singles = [base for base in replaced if len(base.originals) == 1]
    sharing = singles[: len(replaced) * _SHARED_PERCENT // 100]
    pairs = {str(base): tuple(next(spare) for _ in base.originals) for base in replaced}
    pairs |= {str(base): (shared,) for base in sharing}
    pairs[str(singles[-1])] = (next(spare), next(spare))  # is_single beside a second signature
    return tuple(_shown_with(base, pairs.get(str(base), base.originals)) for base in bases)


def _shown_with(base: BaseQuery, references: tuple[int, ...]) -> BaseQuery:
    return BaseQuery(base.request, base.originals, references, base.positives, base.negatives)


def _phrasings(base: BaseQuery) -> list[str]:
    wanted = between(4, WORDINGS, "phrasings", base)
    return shuffled(base.request.phrasings, "wording", base)[:wanted]


def _groups(owners: list[BaseQuery]) -> dict[str, dict[str, BoolArray]]:
    return {
        "images": _by(("single" if len(base.originals) == 1 else "multi" for base in owners), ("single", "multi")),
        "images_signature": _by(
            ("single" if len(base.references) == 1 else "multi" for base in owners), ("single", "multi")
        ),
        "category": _by(base.request.category for base in owners),
        "interest": _by(INTERESTS[base.first.form] for base in owners),
        "skin_tone": _by((base.tone for base in owners), (*TONES, "UNKNOWN")),
    }


def _by(labels: Iterable[str], values: Iterable[str] = ()) -> dict[str, BoolArray]:
    """Return value -> mask, in the order of ``values`` or, without them, of the alphabet."""
    array = np.array(list(labels))
    return {value: array == value for value in values or sorted(set(array.tolist()))}
