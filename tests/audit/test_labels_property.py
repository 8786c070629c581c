"""Labels of drawn pools against an independent labelling in plain Python; a frozen pool stands for its models."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from members_made import Ranks, frozen, member, plain, pools

from evaluator.audit.influence import CUTOFFS, leave_one_out, size_by_models, sizes_by_k
from evaluator.audit.labels import Label, Labelling, label
from evaluator.types import Condition

KS = st.sampled_from([1, 2, 10, 11, 150, 1_000])


def _labelled(pool: dict[str, Ranks], k: int) -> Labelling:
    return label([member(name, ranks) for name, ranks in pool.items()], k)


def _said(labelling: Labelling, query: int) -> tuple[object, ...]:
    """Return everything that a labelling says of a query but whose rank is the best."""
    return (
        labelling.words(query),
        tuple(int(labelling.rank[each][query]) for each in Condition),
        tuple(int(labelling.support[each][query]) for each in Condition),
        int(labelling.either[query]),
    )


@given(pools(), KS)
def test_labels_are_those_of_plain_python(pool: dict[str, Ranks], k: int) -> None:
    labelling = _labelled(pool, k)
    for query in range(len(labelling)):
        expected = plain([ranks[query] for ranks in pool.values()], k)
        assert _said(labelling, query) == (expected.words, expected.rank, expected.support, expected.either)
        assert tuple(int(labelling.best[each][query]) for each in Condition) == expected.best


@given(pools(), KS)
def test_counts_add_up(pool: dict[str, Ranks], k: int) -> None:
    labelling = _labelled(pool, k)
    counts = labelling.counts()
    assert counts["shortcut"] + counts["composition-required"] + counts["unresolved"] == len(labelling)
    assert counts["text"] + counts["image"] + counts["both"] == counts["shortcut"]
    assert int(labelling.shortcut_free.sum()) == counts["composition-required"] + counts["unresolved"]


@given(pools(), KS)
def test_a_larger_k_and_a_larger_pool_only_add_shortcuts(pool: dict[str, Ranks], k: int) -> None:
    labelling = _labelled(pool, k)
    wider = _labelled(pool, k + 5)
    fewer = _labelled({name: pool[name] for name in list(pool)[:1]}, k)
    assert not (wider.shortcut_free & ~labelling.shortcut_free).any()
    assert not (labelling.shortcut_free & ~fewer.shortcut_free).any()


@given(pools(least=2), st.integers(1, 4))
def test_a_frozen_pool_labels_as_its_models_would(pool: dict[str, Ranks], cut: int) -> None:
    """The audit rolls on from best ranks and supports alone: nothing of what a label needs is lost (decision 39)."""
    names = list(pool)
    old, new = names[: min(cut, len(names) - 1)], names[min(cut, len(names) - 1) :]
    whole = _labelled(pool, 10)
    given_frozen = label(
        [frozen("pool", {name: pool[name] for name in old}, 10), *(member(name, pool[name]) for name in new)]
    )
    assert given_frozen.models == whole.models
    for query in range(len(whole)):
        assert _said(given_frozen, query) == _said(whole, query)
        for condition in Condition:
            assert given_frozen.best_name(condition, query) == whole.best_name(condition, query)
    assert size_by_models(given_frozen) == size_by_models(whole)


@given(pools(), KS)
def test_size_by_models_is_the_mean_over_every_sub_pool(pool: dict[str, Ranks], k: int) -> None:
    found = dict(size_by_models(_labelled(pool, k)))
    assert list(found) == list(range(1, len(pool) + 1))
    for size, mean in found.items():
        sizes = [
            int(_labelled({name: pool[name] for name in chosen}, k).shortcut_free.sum())
            for chosen in combinations(pool, size)
        ]
        assert mean == pytest.approx(fmean(sizes))


@given(pools(), KS)
def test_leave_one_out_is_the_pool_without_the_model(pool: dict[str, Ranks], k: int) -> None:
    whole = _labelled(pool, k)
    influences = leave_one_out(whole)
    assert [each.name for each in influences] == (list(pool) if len(pool) > 1 else [])
    for each in influences:
        rest = [ranks for name, ranks in pool.items() if name != each.name]
        before = [whole.words(query) for query in range(len(whole))]
        after = [plain([ranks[query] for ranks in rest], k).words for query in range(len(whole))]
        pairs = [(one.split(" ")[0], two.split(" ")[0]) for one, two in zip(before, after, strict=True)]
        assert each.changed == sum(one != two for one, two in pairs)
        assert each.freed == sum(one == "shortcut" and two != "shortcut" for one, two in pairs)
        assert each.unresolved == pairs.count(("composition-required", "unresolved"))
        assert each.shortcut_free == sum(two != "shortcut" for _, two in pairs)
        assert each.models == 1


@given(pools(), KS)
def test_sizes_by_k_are_those_of_labelling_anew(pool: dict[str, Ranks], k: int) -> None:
    sizes = dict(sizes_by_k(_labelled(pool, k)))
    assert list(sizes) == sorted({*CUTOFFS, k})
    for other, counts in sizes.items():
        fresh = _labelled(pool, other)
        assert counts == {str(name): int(fresh.has(name).sum()) for name in Label}
