"""``demo-circus``: what each query was built to be is true, checked by reading the text and searching the gallery.

The reader below shares nothing with the demo but the names of attributes and values: it gets the text and the scenes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest

import demo
from demo import Label
from demo.scenes import ATTRIBUTES
from evaluator import bundle
from evaluator.types import Protocol, Split, Subset

DIGEST = "5c2dbd337d3729860bef471ba124a58e93e3934c5c251a2f0eb1b1a4bbbc10a2"
"""Of the content; what is measured on it is pinned elsewhere."""
K = 10
SPLIT = demo.circus_split()
QUERIES = range(len(SPLIT))


def named(text: str) -> dict[str, set[str]]:
    """Return what the words of a text say about each attribute that they mention."""
    text = text.lower()
    said: dict[str, set[str]] = {}
    for attribute, values in ATTRIBUTES.items():
        if attribute == "finish":
            continue
        found = {value for value in values if re.search(rf"\b{value}s?\b", text)}
        denied = {value for value in values if re.search(rf"\b(not|but) (on the |in the |an? )?{value}s?\b", text)}
        denied -= {value for value in values if re.search(rf"\b(same|this), but {value}", text)}
        if found:
            said[attribute] = set(values) - denied if denied else found
    if "outline" in text:
        said["finish"] = {"plain"} if re.search(r"without|remove", text) else {"outlined"}
    return said


def fitting(said: dict[str, set[str]]) -> set[int]:
    return {
        index
        for index, scene in enumerate(demo.gallery())
        if all(scene[attribute] in values for attribute, values in said.items())
    }


def difference(one: demo.Scene, other: demo.Scene) -> float:
    """Return how unlike two pictures are: a thin outline hardly counts."""
    return sum((0.25 if name == "finish" else 1.0) for name in ATTRIBUTES if one[name] != other[name])


def positives(split: Split, query: int) -> set[int]:
    judged = split.judgments
    return set(judged.image[(judged.query == query) & judged.positive].tolist())


def reference(query: int) -> demo.Scene:
    (image,) = SPLIT.references[query]
    return demo.gallery()[image]


def literal(query: int) -> set[int]:
    """Return the scenes that have what the text names and are else like the reference."""
    kept = {attribute: {reference(query)[attribute]} for attribute in ATTRIBUTES}
    return fitting({**kept, **named(SPLIT.texts[query])})


def solves(candidates: set[int], query: int) -> bool:
    """Return whether a ranking that puts ``candidates`` first, in any order, has a right answer in its first ten."""
    return len(candidates) <= K and bool(candidates & positives(SPLIT, query))


def label(query: int) -> Label:
    """Return the label by CIRCUS's rule, with three perfect but literal-minded readers as the pool."""
    shown = reference(query)
    nearest = min(difference(shown, demo.gallery()[image]) for image in positives(SPLIT, query))
    alike = {index for index, scene in enumerate(demo.gallery()) if difference(shown, scene) <= nearest}
    by_text, by_image = solves(fitting(named(SPLIT.texts[query])), query), solves(alike, query)
    if by_text or by_image:
        return Label.BOTH if by_text and by_image else Label.TEXT if by_text else Label.IMAGE
    return Label.COMPOSITION_REQUIRED if solves(literal(query), query) else Label.UNRESOLVED


def test_the_split_is_the_one_that_was_reviewed() -> None:
    content = replace(SPLIT, protocol=Protocol("", "", Subset.FULL, (), ()))
    assert bundle.digest(content) == DIGEST


@pytest.mark.parametrize("query", QUERIES)
def test_planted_labels_are_true(query: int) -> None:
    assert demo.planted_labels()[SPLIT.query_ids[query]] is label(query), (SPLIT.texts[query], str(reference(query)))


def test_every_kind_of_label_is_planted() -> None:
    assert Counter(demo.planted_labels().values()) == {
        Label.COMPOSITION_REQUIRED: 60,
        Label.TEXT: 36,
        Label.IMAGE: 24,
        Label.UNRESOLVED: 18,
        Label.BOTH: 12,
    }


@pytest.mark.parametrize("query", QUERIES)
def test_positives_are_all_that_the_text_asks_for(query: int) -> None:
    planted = demo.planted_labels()[SPLIT.query_ids[query]]
    if planted is Label.UNRESOLVED:
        assert len(positives(SPLIT, query)) == 1
    elif re.search("no matter where|position is free", SPLIT.texts[query]):
        anywhere = {**{name: {reference(query)[name]} for name in ATTRIBUTES}, **named(SPLIT.texts[query])}
        assert positives(SPLIT, query) == fitting({**anywhere, "place": set(ATTRIBUTES["place"])})
    else:
        assert positives(SPLIT, query) == literal(query)


def test_no_query_asks_for_its_reference() -> None:
    assert all(SPLIT.references[query][0] not in positives(SPLIT, query) for query in QUERIES)


def test_sf_is_what_is_no_shortcut_and_subsets_nest() -> None:
    labels = list(demo.planted_labels().values())
    full, sf, v = (SPLIT.subsets[subset] for subset in (Subset.FULL, Subset.SF, Subset.V))
    assert full.all()
    assert sf.tolist() == [not planted.is_shortcut for planted in labels]
    assert (v <= sf).all()
    assert 40 < v.sum() < sf.sum() == 78


def test_queries_have_one_or_several_targets_and_one_of_them_is_the_annotated_one() -> None:
    judged = SPLIT.judgments
    targets = Counter(judged.query[judged.target].tolist())
    numbers = Counter(len(positives(SPLIT, query)) for query in QUERIES)
    assert targets == dict.fromkeys(QUERIES, 1)
    assert (judged.positive >= judged.target).all()
    assert numbers[1] > 100
    assert sum(number > 1 for number in numbers.elements()) >= 12
    assert judged.positives_released.tolist() == [len(positives(SPLIT, query)) for query in QUERIES]


def test_queries_are_distinct_and_clusters_are_references() -> None:
    assert len(set(zip(SPLIT.references, SPLIT.texts, strict=True))) == len(SPLIT) == 150
    pairs = set(zip(SPLIT.references, SPLIT.clusters.tolist(), strict=True))
    assert len(pairs) == len(set(SPLIT.references)) == len(set(SPLIT.clusters.tolist()))
