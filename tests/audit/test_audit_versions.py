"""Pools label splits; a newer version stands beside the older one; freezing rolls SF and V forward."""

from __future__ import annotations

from typing import Any

import pytest
from audits_made import give_probes, make_encoder, make_pool, solving

pytestmark = pytest.mark.django_db
N = 12


@pytest.fixture
def audited(version: Any) -> tuple[Any, Any]:
    """A pool of one model that solves 4 and 5 with both, 0 from the text, 8 from both alone; and its audit."""
    from audit.services.versions import make_version

    first = make_encoder("First")
    give_probes(first, version, solving(N, multimodal=[0, 4, 5], text=[0, 8], image=[8]))
    pool = make_pool("house", first)
    return pool, make_version(pool, version)[0]


def labels(audit: Any) -> dict[int, str]:
    return {
        row.query.position: f"{row.label} ({row.kind})" if row.kind else row.label
        for row in audit.labels.select_related("query")
    }


def test_every_query_gets_its_label_with_ranks_support_and_best_model(audited: tuple[Any, Any]) -> None:
    _, audit = audited
    found = labels(audit)
    assert {found[query] for query in (4, 5)} == {"composition-required"}
    assert found[0] == "shortcut (text)"
    assert found[8] == "shortcut (both)"
    assert {found[query] for query in set(range(N)) - {0, 4, 5, 8}} == {"unresolved"}
    row = audit.labels.get(query__position=0)
    assert (row.multimodal_rank, row.text_rank, row.image_rank) == (1, 1, 50)
    assert (row.text_support, row.image_support, row.either_support) == (1, 0, 1)
    assert row.text_best == "First"


def test_the_same_audit_again_is_the_same_version(audited: tuple[Any, Any], version: Any) -> None:
    from audit.services.versions import make_version

    pool, audit = audited
    again, created = make_version(pool, version)
    assert (again.pk, created) == (audit.pk, False)
    other, created = make_version(pool, version, k=50)
    assert (other.number, created) == (2, True)


def test_a_model_that_was_not_run_is_named_and_nothing_is_made(audited: tuple[Any, Any], version: Any) -> None:
    from audit.models import AuditVersion
    from audit.services import pools
    from audit.services.probes import ProbesMissing
    from audit.services.versions import make_version

    pool, _ = audited
    pools.add(pool, make_encoder("Second"))
    with pytest.raises(ProbesMissing, match="Second was not run over tiny-circus-single"):
        make_version(pool, version)
    assert AuditVersion.objects.count() == 1


def test_a_second_encoder_shows_what_it_changed_and_the_old_version_stays(
    audited: tuple[Any, Any], version: Any
) -> None:
    """Query 4 becomes a shortcut because of the image alone, unresolved 9 is solved with both; the rest stays."""
    from audit.services import pools
    from audit.services.versions import labelling_of, make_version
    from evaluator.audit.changes import flow, moves

    pool, old = audited
    before = labels(old)
    second = make_encoder("Second")
    give_probes(second, version, solving(N, multimodal=[9], image=[4]))
    pools.add(pool, second)
    new, _ = make_version(pool, version)
    moved = moves(labelling_of(old), labelling_of(new))
    assert [(move.query, move.before, move.after, move.because) for move in moved] == [
        (4, "composition-required", "shortcut (image)", ("Second",)),
        (9, "unresolved", "composition-required", ("Second",)),
    ]
    assert flow(moved)["unresolved", "composition-required"] == 1
    assert labels(old) == before
    assert [row["name"] for row in old.members] == ["First"]
    assert [row["name"] for row in new.members] == ["First", "Second"]


def test_freezing_takes_new_shortcuts_out_of_sf_and_v_and_leaves_the_published_lists(
    audited: tuple[Any, Any], version: Any
) -> None:
    from audit.services.freezing import freeze
    from leaderboard import bundles

    _, audit = audited
    frozen, created = freeze(audit)
    assert created
    assert (frozen.number, frozen.current) == (2, True)
    before, after = bundles.load(version), bundles.load(frozen)
    for name, mask in before.subsets.items():
        assert (after.subsets[name] == mask).all(), f"{name} was published and changed"
    kept = {str(name): set(mask.nonzero()[0].tolist()) for name, mask in after.subsets.items()}
    assert kept["SF′"] == kept["SF"] - {0, 8}
    assert kept["V′"] == kept["V"] & kept["SF′"]
    assert freeze(audit) == (frozen, False)
    audit.refresh_from_db()
    assert audit.frozen == frozen


def test_probes_outlive_freezing_and_a_later_audit_replaces_the_rolled_subsets(
    audited: tuple[Any, Any], version: Any
) -> None:
    """Freezing changes the split's digest, not what a rank depends on: nothing is run again (decision 36)."""
    from audit.services import pools
    from audit.services.freezing import freeze
    from audit.services.versions import make_version
    from leaderboard import bundles

    pool, audit = audited
    frozen, _ = freeze(audit)
    second = make_encoder("Second")
    give_probes(second, frozen, solving(N, image=[1]))
    pools.add(pool, second)
    later, created = make_version(pool, frozen)
    assert created
    newest, _ = freeze(later)
    assert newest.number == 3
    assert 1 not in bundles.load(newest).subsets["SF′"].nonzero()[0]
    assert list(bundles.load(newest).protocol.subsets) == ["Full", "SF", "V", "SF′", "V′"]


def test_a_split_without_published_lists_gets_sf_from_full_and_no_v(db: None) -> None:
    from audit.services.freezing import freeze
    from audit.services.versions import make_version
    from demo import tiny_split
    from leaderboard.models import Benchmark, Split
    from leaderboard.services.splits import freeze_split

    content = tiny_split("circo")
    benchmark, _ = Benchmark.objects.get_or_create(slug="tiny", defaults={"name": "Tiny"})
    Split.objects.create(slug=content.name, name=content.name, benchmark=benchmark)
    version, _ = freeze_split(content)
    encoder = make_encoder("Only")
    give_probes(encoder, version, solving(N, text=[2]))
    frozen, _ = freeze(make_version(make_pool("p", encoder), version)[0])
    rows = {row.name: row for row in frozen.subsets.all()}
    assert rows["SF′"].size == N - 1
    assert rows["V′"].size is None
    assert "validated" in rows["V′"].absent_reason


def test_an_audit_of_other_queries_cannot_be_frozen(audited: tuple[Any, Any], version: Any) -> None:
    from dataclasses import replace

    from audit.services.freezing import freeze
    from audit.services.versions import AuditRefused
    from leaderboard import bundles
    from leaderboard.services.splits import freeze_split

    _, audit = audited
    split = bundles.load(version)
    freeze_split(replace(split, texts=("another text", *split.texts[1:])))
    with pytest.raises(AuditRefused, match="other queries, images or judgments"):
        freeze(audit)


def test_entries_are_scored_on_the_rolled_subsets(audited: tuple[Any, Any], version: Any) -> None:
    """The evaluator takes SF′ and V′ like any subset, intervals and Composition Gap included."""
    from audits_made import judged_of

    from audit.services.freezing import freeze
    from evaluator.scoring import score
    from evaluator.types import Condition, Subset
    from leaderboard import bundles

    _, audit = audited
    split = bundles.load(freeze(audit)[0])
    ranks = {condition: judged_of(split, [1 + query for query in range(N)]) for condition in Condition}
    card = score(split, ranks)
    found = card.find("Recall@10", Subset.SF_ROLLED)
    free = split.subsets[Subset.SF_ROLLED].nonzero()[0]
    assert found.n == len(free)
    assert found.value == pytest.approx(sum(query < 10 for query in free) / len(free))
    assert card.find("CompositionGap", Subset.V_ROLLED, None).value is not None
