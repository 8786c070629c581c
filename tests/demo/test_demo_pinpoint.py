"""``demo-pinpoint``: several answers, hard negatives, paraphrases, stand-ins and groups, as PinPoint has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np

import demo
from demo.pinpoint import base_queries
from demo.scenes import ATTRIBUTES
from evaluator import bundle
from evaluator.types import BoolArray, Protocol, Subset

DIGEST = "db5c40413fb2e40fd6fdf028bb9e4aedba1b25eba6b25241a69b8f97bc8d70c1"
"""Of the content; what is measured on it is pinned elsewhere."""
SPLIT = demo.pinpoint_split()


def judged(flags: BoolArray) -> dict[int, set[int]]:
    images: dict[int, set[int]] = defaultdict(set)
    for query, image in zip(SPLIT.judgments.query[flags].tolist(), SPLIT.judgments.image[flags].tolist(), strict=True):
        images[query].add(image)
    return images


POSITIVES, NEGATIVES = judged(SPLIT.judgments.positive), judged(SPLIT.judgments.negative)


def test_the_split_is_the_one_that_was_reviewed() -> None:
    content = replace(SPLIT, protocol=Protocol("", "", Subset.FULL, (), ()))
    assert bundle.digest(content) == DIGEST


def test_sizes() -> None:
    assert 100 <= len(SPLIT) <= 200
    assert len(set(SPLIT.clusters.tolist())) == 36
    assert len(SPLIT.galleries[0].images) == 580
    assert len(set(zip(SPLIT.clusters.tolist(), SPLIT.texts, strict=True))) == len(SPLIT)


def test_every_query_has_several_right_and_many_explicitly_wrong_answers() -> None:
    assert all(2 <= len(POSITIVES[query]) <= 12 for query in range(len(SPLIT)))
    assert all(len(NEGATIVES[query]) == 16 for query in range(len(SPLIT)))
    assert not any(POSITIVES[query] & NEGATIVES[query] for query in range(len(SPLIT)))


def test_negatives_are_hard() -> None:
    """But for the references, each misses what was asked in a single attribute: some positive is one change away."""
    for query in range(len(SPLIT)):
        base = base_queries()[SPLIT.clusters[query]]
        for image in NEGATIVES[query] - set(base.originals):
            scene = demo.gallery()[image]
            asked = base.first.after(base.request.edit)
            assert sum(scene[attribute] not in asked[attribute] for attribute in ATTRIBUTES) == 1


def test_a_row_is_original_exactly_when_its_reference_is_among_its_own_negatives() -> None:
    """Decision 5 derives Original so; the demo's own subset must agree with the rule."""
    derived = [SPLIT.references[query][0] in NEGATIVES[query] for query in range(len(SPLIT))]
    assert SPLIT.subsets[Subset.ORIGINAL].tolist() == derived
    assert SPLIT.subsets[Subset.ALL].all()
    assert 0.55 < np.mean(derived) < 0.8


def test_stand_ins_come_by_whole_base_queries_and_one_serves_several() -> None:
    shown = defaultdict(set)
    for cluster, references in zip(SPLIT.clusters.tolist(), SPLIT.references, strict=True):
        shown[cluster].add(references)
    assert all(len(pairs) == 1 for pairs in shown.values())
    replaced = [base.references for base in base_queries() if not base.is_original]
    assert max(Counter(replaced).values()) >= 3


def test_paraphrases_come_in_four_to_six_and_say_the_same() -> None:
    sizes = Counter(SPLIT.clusters.tolist())
    assert set(sizes.values()) == {4, 5, 6}
    for query, cluster in enumerate(SPLIT.clusters.tolist()):
        first = SPLIT.clusters.tolist().index(cluster)
        assert POSITIVES[query] == POSITIVES[first]
        assert NEGATIVES[query] == NEGATIVES[first]


def test_paraphrase_groups_are_image_pairs_on_all_and_base_queries_on_original() -> None:
    by_pair, by_base = SPLIT.paraphrase_groups[Subset.ALL], SPLIT.paraphrase_groups[Subset.ORIGINAL]
    pairs = set(zip(SPLIT.references, by_pair.tolist(), strict=True))
    assert len(pairs) == len(set(SPLIT.references)) == by_pair.max() + 1
    original = SPLIT.subsets[Subset.ORIGINAL]
    assert (by_base[original] == SPLIT.clusters[original]).all()
    assert (by_base[~original] == -1).all()
    assert by_pair.max() + 1 < len(set(SPLIT.clusters.tolist())), "a shared stand-in merges base queries"


def test_groups_cover_every_row_once_and_have_the_protocol_s_dimensions() -> None:
    assert set(SPLIT.groups) == {part.dimension for part in SPLIT.protocol.breakdowns}
    for values in SPLIT.groups.values():
        assert (np.sum(list(values.values()), axis=0) == 1).all()
    assert list(SPLIT.groups["skin_tone"]) == ["LIGHTEST", "SECOND_LIGHTEST", "SECOND_DARKEST", "DARKEST", "UNKNOWN"]
    assert set(SPLIT.groups["category"]) == {
        "Swap",
        "Context Fit",
        "Composition",
        "Negation",
        "Complement",
        "Explore",
    }


def test_two_readings_of_two_image_differ_on_the_row_with_a_stand_in_pair() -> None:
    double, shown = SPLIT.groups["images"]["multi"], SPLIT.groups["images_signature"]["multi"]
    assert shown.tolist() == [len(references) == 2 for references in SPLIT.references]
    assert (shown >= double).all()
    assert 4 <= (shown & ~double).sum() <= 6
    assert double.sum() > 20


def test_in_a_two_image_query_the_answer_takes_from_both() -> None:
    """The shape of the first in the colour of the second, read off the pictures' scenes."""
    rows = [query for query, text in enumerate(SPLIT.texts) if text == "Paint <img1> with the colour of <img2>"]
    bases = [base_queries()[SPLIT.clusters[query]] for query in rows]
    assert rows
    for query, base in zip(rows, bases, strict=True):
        first, second = (demo.gallery()[image] for image in base.originals)
        found = [demo.gallery()[image] for image in POSITIVES[query]]
        assert {(scene.form, scene.colour, scene.number) for scene in found} == {
            (first.form, second.colour, first.number)
        }
