"""Rolling on from CIRCUS's frozen pool: SF′ and V′ lose what a new model solves from one modality, and only that.

The queries, SF and V are CIRCO's real ones; the pool's ranks are made up in the published numbers.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from importers.made_up_pool import PoolRelease, rows_of
from members_made import BOTH, IMAGE, TEXT

from evaluator.audit.changes import flow, moves
from evaluator.audit.influence import rolled
from evaluator.audit.labels import Label, Labelling, Member, label
from evaluator.types import Condition, Split, Subset
from leaderboard.importers.circus import read_circus
from leaderboard.importers.pool_checks import read_pool


@pytest.fixture(scope="module")
def circo(data_folder: Path) -> Split:
    return read_circus("circo", data_folder / "circo", data_folder / "circus")


@pytest.fixture(scope="module")
def pool(circo: Split, data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Member:
    release = PoolRelease(tmp_path_factory.mktemp("release"))
    release.pool_traces("circo", rows_of(circo, data_folder))
    return read_pool(circo, release.folder)


def _solving(queries: int, **solved: list[int]) -> Member:
    """Return a new model that has rank 1 on the queries named for a condition and 99 elsewhere."""
    ranks = {condition: np.full(queries, 99, dtype=np.int32) for condition in Condition}
    for condition, name in ((BOTH, "both"), (TEXT, "text"), (IMAGE, "image")):
        ranks[condition][solved.get(name, [])] = 1
    return Member("new", ranks)


def _where(labelling: Labelling, name: Label) -> list[int]:
    return [int(query) for query in labelling.has(name).nonzero()[0]]


def _set(mask: np.ndarray) -> set[int]:
    return set(mask.nonzero()[0].tolist())


def test_before_anything_is_new_the_rolled_lists_are_the_published_ones(circo: Split, pool: Member) -> None:
    kept = rolled(circo, label([pool]))
    assert np.array_equal(kept[Subset.SF_ROLLED], circo.subsets[Subset.SF])
    assert np.array_equal(kept[Subset.V_ROLLED], circo.subsets[Subset.V])


def test_planted_solutions_leave_sf_and_v_and_planted_unresolved_become_composed(circo: Split, pool: Member) -> None:
    before = label([pool])
    composed, unresolved, shortcuts = (
        _where(before, name) for name in (Label.COMPOSITION_REQUIRED, Label.UNRESOLVED, Label.SHORTCUT)
    )
    text, image, freed = composed[3:7], [composed[20], unresolved[0]], unresolved[1:]
    new = _solving(len(circo), both=[*freed, *text, *shortcuts[:5]], text=text, image=[*image, *shortcuts[:9]])
    after = label([pool, new])
    kept = rolled(circo, after)
    sf, v = _set(circo.subsets[Subset.SF]), _set(circo.subsets[Subset.V])
    assert _set(kept[Subset.SF_ROLLED]) == sf - {*text, *image}
    assert _set(kept[Subset.V_ROLLED]) == v - {*text, *image}
    assert all(after.words(query) == "composition-required" for query in freed)
    assert set(freed) <= _set(kept[Subset.SF_ROLLED])
    ways = flow(moves(before, after))
    assert ways["composition-required", "shortcut (text)"] == 4
    assert ways["composition-required", "shortcut (image)"] == 1
    assert ways["unresolved", "shortcut (image)"] == 1
    assert ways["unresolved", "composition-required"] == len(freed) == 2
    moved = {move.query for move in moves(before, after)}
    assert moved - set(shortcuts) == {*text, *image, *freed}
    assert all(move.because == ("new",) for move in moves(before, after))


def test_a_model_that_needs_both_takes_nothing_out(circo: Split, pool: Member) -> None:
    everything = list(range(len(circo)))
    after = label([pool, _solving(len(circo), both=everything)])
    assert np.array_equal(rolled(circo, after)[Subset.SF_ROLLED], circo.subsets[Subset.SF])
    assert _where(after, Label.UNRESOLVED) == []


def test_a_query_that_left_never_comes_back_through_a_pool_of_other_models(circo: Split) -> None:
    """SF′ starts from the published SF: models run here do not put a published shortcut into it (decision 39)."""
    kept = rolled(circo, label([_solving(len(circo))]))
    assert np.array_equal(kept[Subset.SF_ROLLED], circo.subsets[Subset.SF])


def test_without_published_lists_sf_comes_from_full_and_there_is_no_v(circo: Split, pool: Member) -> None:
    bare = replace(circo, subsets={Subset.FULL: circo.subsets[Subset.FULL]})
    labelling = label([pool])
    assert rolled(bare, labelling).keys() == {Subset.SF_ROLLED}
    assert np.array_equal(rolled(bare, labelling)[Subset.SF_ROLLED], labelling.shortcut_free)
