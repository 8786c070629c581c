"""The audit rolls on from CIRCUS's pool on the site: SF′, V′ and labels after a new model, beside what was published.

Queries, SF and V are CIRCO's real ones; the pool's ranks are made up in the published numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from audits_made import give_probes, make_encoder, solving
from importers.made_up_pool import PoolRelease, rows_of

from evaluator.types import Split
from leaderboard.importers.circus import read_circus

pytestmark = pytest.mark.django_db
N = 220


@dataclass
class Rolling:
    """CIRCO with CIRCUS's pool and the audit that it is."""

    version: Any
    pool: Any
    audit: Any

    def queries(self, label: str) -> list[int]:
        """Return the positions of the queries that CIRCUS's pool labels so."""
        rows = self.audit.labels.filter(label=label).order_by("query__position")
        return list(rows.values_list("query__position", flat=True))

    def add(self, name: str, **solved: list[int]) -> Any:
        """Let a new model into the pool that solves these queries under a condition, and label anew."""
        from audit.services import pools
        from audit.services.versions import make_version

        encoder = make_encoder(name)
        give_probes(encoder, self.version, solving(N, **solved))
        pools.add(self.pool, encoder)
        return make_version(self.pool, self.version)[0]


@pytest.fixture(scope="module")
def circo(data_folder: Path) -> Split:
    return read_circus("circo", data_folder / "circo", data_folder / "circus")


@pytest.fixture
def rolling(circo: Split, data_folder: Path, tmp_path: Path) -> Rolling:
    from audit.models import Pool
    from audit.services.frozen import import_pool
    from audit.services.versions import make_version
    from leaderboard.services.splits import freeze_split

    PoolRelease(tmp_path).pool_traces("circo", rows_of(circo, data_folder))
    version, _ = freeze_split(circo)
    import_pool("circo", [tmp_path])
    pool = Pool.objects.get(slug="circus")
    return Rolling(version, pool, make_version(pool, version)[0])


def _subset(version: Any, name: str) -> set[int]:
    return set(version.subsets.get(name=name).queries.values_list("position", flat=True))


def test_a_new_model_takes_exactly_its_shortcuts_out_of_sf_and_v(rolling: Rolling) -> None:
    from audit.services.freezing import freeze

    composed, unresolved = rolling.queries("composition-required"), rolling.queries("unresolved")
    shortcuts = rolling.queries("shortcut")
    text, image = composed[:3], [composed[9], unresolved[0]]
    later = rolling.add("New", text=[*text, *shortcuts[:4]], image=image, multimodal=[*unresolved[1:], *text])
    frozen, created = freeze(later)
    assert created
    sf, v = _subset(frozen, "SF"), _subset(frozen, "V")
    assert (sf, v) == (_subset(rolling.version, "SF"), _subset(rolling.version, "V"))
    assert _subset(frozen, "SF′") == sf - {*text, *image}
    assert _subset(frozen, "V′") == v - {*text, *image}
    assert len(_subset(frozen, "SF′")) == 56 - 5


def test_planted_unresolved_queries_become_composition_required_because_of_the_new_model(rolling: Rolling) -> None:
    from audit.services.versions import labelling_of
    from evaluator.audit.changes import moves

    unresolved = rolling.queries("unresolved")
    later = rolling.add("New", multimodal=unresolved[:2])
    moved = moves(labelling_of(rolling.audit), labelling_of(later))
    assert [(move.query, move.before, move.after, move.because) for move in moved] == [
        (query, "unresolved", "composition-required", ("New",)) for query in unresolved[:2]
    ]
    rows = later.labels.filter(query__position__in=unresolved[:2])
    assert {(row.label, row.multimodal_rank, row.multimodal_best) for row in rows} == {
        ("composition-required", 1, "New")
    }
    assert later.labels.filter(label="unresolved").count() == 1
    assert rolling.audit.labels.filter(label="unresolved").count() == 3


def test_the_pool_counts_as_twelve_and_the_new_model_as_one(rolling: Rolling) -> None:
    from audit.services.versions import labelling_of

    query = rolling.queries("composition-required")[0]
    before = rolling.audit.labels.get(query__position=query)
    later = rolling.add("New", multimodal=[query], text=[query])
    after = later.labels.get(query__position=query)
    assert labelling_of(later).models == 13
    assert after.multimodal_support == before.multimodal_support + 1
    assert (after.text_support, after.either_support) == (1, 1)
    assert [row["models"] for row in later.members] == [12, 1]


def test_it_rolls_on_from_version_to_version(rolling: Rolling) -> None:
    """A second model takes more out; the first one's stay out, and what CIRCUS published stands in every version."""
    from audit.services.freezing import freeze

    composed = rolling.queries("composition-required")
    first, _ = freeze(rolling.add("One", text=composed[:2]))
    second, _ = freeze(rolling.add("Two", image=composed[5:8]))
    sf = _subset(second, "SF")
    assert _subset(first, "SF′") == sf - set(composed[:2])
    assert _subset(second, "SF′") == sf - {*composed[:2], *composed[5:8]}
    assert (len(sf), len(_subset(second, "V"))) == (56, 42)


def test_importing_the_pool_after_freezing_changes_nothing(
    rolling: Rolling, circo: Split, data_folder: Path, tmp_path: Path
) -> None:
    """SF′ makes no rank stale: the new version of the split has the same probes."""
    from audit.models import Probe
    from audit.services.freezing import freeze
    from audit.services.frozen import import_pool

    frozen, _ = freeze(rolling.add("One", text=rolling.queries("composition-required")[:2]))
    release = PoolRelease(tmp_path / "again")
    release.pool_traces("circo", rows_of(circo, data_folder))
    imported = import_pool("circo", [tmp_path / "again"])
    assert (imported.version, imported.created) == (frozen, False)
    assert Probe.objects.filter(encoder=imported.encoder).count() == 3
