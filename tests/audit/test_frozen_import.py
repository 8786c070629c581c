"""``import_circus_pool``: one frozen encoder for four data sets, first in its pool; published ranks never change."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from importers.made_up_pool import COUNTS, PoolRelease, Row, lasco_rows, rows_of
from importers.made_up_release import lasco_audited, lasco_native

from evaluator.types import Condition, Split
from leaderboard.importers.circus import read_circus

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def circo(data_folder: Path) -> Split:
    return read_circus("circo", data_folder / "circo", data_folder / "circus")


@pytest.fixture
def release(tmp_path: Path, circo: Split, data_folder: Path) -> PoolRelease:
    """A release with the pool's traces of CIRCO."""
    folder = tmp_path / "release"
    folder.mkdir()
    made = PoolRelease(folder)
    made.pool_traces("circo", rows_of(circo, data_folder))
    return made


def _run(command: str, *arguments: object) -> str:
    output = StringIO()
    call_command(command, *map(str, arguments), stdout=output, stderr=output)
    return output.getvalue()


def _import_circo(data_folder: Path, *more: Path) -> Any:
    from leaderboard.models import SplitVersion

    _run("import_circus", *more, data_folder / "circo", data_folder / "circus", "--dataset", "circo")
    return SplitVersion.objects.get(split__slug="circus-circo", current=True)


def test_the_pool_becomes_an_encoder_with_three_probes_of_one_file(
    release: PoolRelease, circo: Split, data_folder: Path
) -> None:
    from audit.models import Encoder, Pool, Probe
    from audit.services import pools, probes

    version = _import_circo(data_folder)
    output = _run("import_circus_pool", "circo", release.folder)
    assert "circus-circo: 220 queries, 12 models, K = 10" in output
    assert "labels: shortcut 164, composition-required 53, unresolved 3" in output
    assert "CIRCUS pool: new" in output
    encoder = Encoder.objects.get()
    assert (encoder.name, encoder.is_frozen, encoder.models_in_it) == ("CIRCUS pool", True, 12)
    assert (encoder.model, encoder.revision[:8]) == ("matteoattimonelli/CIRCUS", "067e7277")
    assert "11 are named" in encoder.training
    assert "a twelfth is unnamed" in encoder.training
    assert set(encoder.conditions) == set(map(str, Condition))
    rows = Probe.objects.all()
    assert {probe.condition for probe in rows} == set(map(str, Condition))
    assert len({probe.ranks for probe in rows}) == 1
    assert {probe.ranks_key for probe in rows} == {probes.key_of(version)}
    pool = Pool.objects.get(slug="circus")
    assert (pool.name, pools.encoders_of(pool)) == ("CIRCUS pool", [encoder])
    member = probes.member(encoder, version)
    solved = {probe.condition: probe.recall for probe in rows}
    for condition in Condition:
        assert solved[condition] == pytest.approx(float((member.ranks[condition] <= 10).mean()))


def test_the_pool_of_the_release_is_an_audit_of_its_own(release: PoolRelease, data_folder: Path) -> None:
    """Labels on the site are the published ones, and say which model was best, where it is named."""
    from audit.models import Pool
    from audit.services.versions import make_version

    version = _import_circo(data_folder)
    _run("import_circus_pool", "circo", release.folder)
    audit, _ = make_version(Pool.objects.get(slug="circus"), version)
    found = [audit.labels.filter(label=name).count() for name in ("shortcut", "composition-required", "unresolved")]
    assert tuple(found) == COUNTS["circo"]
    row = audit.labels.get(query__native_id="12")
    assert (row.multimodal_rank, row.text_rank, row.image_rank) == (1, 273, 140)
    assert (row.multimodal_best, row.multimodal_support) == ("LamRA-Qwen2.5VL", 7)
    assert audit.labels.get(query__native_id="207").image_best == ""
    assert audit.members[0]["models"] == 12


def test_the_same_again_changes_nothing(release: PoolRelease, data_folder: Path) -> None:
    from audit.models import Encoder, PoolMember, Probe

    _import_circo(data_folder)
    _run("import_circus_pool", "circo", release.folder)
    before = list(Probe.objects.values())
    assert "CIRCUS pool: unchanged" in _run("import_circus_pool", "circo", release.folder)
    assert list(Probe.objects.values()) == before
    assert (Encoder.objects.count(), PoolMember.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("index", "changes"),
    [
        (207, {"ranks": (71, 60, 604)}),
        (12, {"support": (8, 0, 0)}),
        (207, {"best": ("gemini_embedding_2", "lamra", "")}),
    ],
)
def test_other_ranks_are_refused_and_the_published_ones_stay(
    index: int, changes: dict[str, Any], release: PoolRelease, circo: Split, data_folder: Path
) -> None:
    """A rank above K changed to another one above K breaks no label: only what is stored tells."""
    from audit.models import Encoder
    from audit.services import probes

    version = _import_circo(data_folder)
    _run("import_circus_pool", "circo", release.folder)
    rows = rows_of(circo, data_folder)
    release.pool_traces("circo", [row.saying(**changes) if row.query.index == index else row for row in rows])
    for more in ((), ("--dry-run",)):
        with pytest.raises(CommandError, match="Published ranks are never overwritten"):
            _run("import_circus_pool", "circo", release.folder, *more)
    member = probes.member(Encoder.objects.get(), version)
    assert member.ranks[Condition.MULTIMODAL][207] == 70
    assert member.support(Condition.MULTIMODAL, 10)[12] == 7
    assert member.best_name(Condition.TEXT_ONLY, 207) == "E5-Omni"


def test_another_number_of_models_that_solve_one_modality_is_another_pool(
    release: PoolRelease, circo: Split, data_folder: Path
) -> None:
    """The count called "either" may lie anywhere between the larger support and the sum."""
    _import_circo(data_folder)
    rows = rows_of(circo, data_folder)
    index, least = next(
        (row.query.index, max(row.said.support[1:]))
        for row in rows
        if row.said.detail == "both_unimodal" and row.said.either > max(row.said.support[1:])
    )
    _run("import_circus_pool", "circo", release.folder)
    release.pool_traces("circo", [row.saying(either=least) if row.query.index == index else row for row in rows])
    with pytest.raises(CommandError, match="Published ranks are never overwritten"):
        _run("import_circus_pool", "circo", release.folder)


def test_a_changed_rank_is_refused_by_name_and_nothing_is_written(
    release: PoolRelease, circo: Split, data_folder: Path
) -> None:
    from audit.models import Encoder, Pool, Probe

    _import_circo(data_folder)
    rows = [row.saying(ranks=(70, 9, 604)) if row.query.index == 207 else row for row in rows_of(circo, data_folder)]
    release.pool_traces("circo", rows)
    with pytest.raises(CommandError) as refusal:
        _run("import_circus_pool", "circo", release.folder)
    said = str(refusal.value)
    assert "Nothing was imported" in said
    assert "query_idx 207, label by rank_multimodal 70, rank_text_only 9, rank_image_only 604" in said
    assert "expected shortcut_solvable / text_only, which follows from these ranks, found unresolved" in said
    assert not any(table.objects.exists() for table in (Encoder, Pool, Probe))


def test_a_split_that_is_not_there_is_asked_for(release: PoolRelease) -> None:
    with pytest.raises(CommandError, match=r"manage\.py import_circus --dataset circo FOLDER"):
        _run("import_circus_pool", "circo", release.folder)


def test_a_dry_run_reads_everything_and_writes_nothing(release: PoolRelease, data_folder: Path) -> None:
    from audit.models import Encoder, Pool

    _import_circo(data_folder)
    assert "dry run: would be new" in _run("import_circus_pool", "circo", release.folder, "--dry-run")
    assert not Encoder.objects.exists()
    assert not Pool.objects.exists()
    _run("import_circus_pool", "circo", release.folder)
    assert "dry run: is there already" in _run("import_circus_pool", "circo", release.folder, "--dry-run")


def test_a_gallery_that_comes_later_takes_the_ranks_anew(
    release: PoolRelease, circo: Split, data_folder: Path, tmp_path: Path
) -> None:
    """Other images are another split for ranks: the pool is imported for it once more, beside the older probes."""
    from audit.models import Encoder, Probe
    from audit.services import probes

    _import_circo(data_folder)
    _run("import_circus_pool", "circo", release.folder)
    known = {int(name) for name in circo.images}
    others = (number for number in range(1, 600_000) if number not in known)
    listed = [*known, *(next(others) for _ in range(123_403 - len(known)))]
    gallery = tmp_path / "gallery"
    gallery.mkdir()
    (gallery / "unlabeled2017_ids.txt").write_text("\n".join(map(str, listed)))
    version = _import_circo(data_folder, gallery)
    assert (version.number, version.gallery_size) == (2, 123_403)
    assert "CIRCUS pool: new" in _run("import_circus_pool", "circo", release.folder)
    assert (Encoder.objects.count(), Probe.objects.count()) == (1, 6)
    assert probes.member(Encoder.objects.get(), version).frozen is not None


def test_it_stands_first_in_a_pool_that_was_there_and_stays_out_where_it_was_taken_out(
    release: PoolRelease, data_folder: Path
) -> None:
    from audits_made import make_encoder, make_pool

    from audit.models import Encoder
    from audit.services import pools

    pool = make_pool("circus", make_encoder("First"), make_encoder("Second"))
    _import_circo(data_folder)
    _run("import_circus_pool", "circo", release.folder)
    assert [encoder.name for encoder in pools.encoders_of(pool)] == ["CIRCUS pool", "First", "Second"]
    pools.remove(pool, Encoder.objects.get(name="CIRCUS pool"))
    _run("import_circus_pool", "circo", release.folder)
    assert [encoder.name for encoder in pools.encoders_of(pool)] == ["First", "Second"]


def test_a_name_that_somebody_else_has_is_not_taken_over(release: PoolRelease, data_folder: Path) -> None:
    from audits_made import make_encoder

    make_encoder("CIRCUS pool")
    _import_circo(data_folder)
    for more in ((), ("--dry-run",)):
        with pytest.raises(CommandError, match="the name of another encoder here"):
            _run("import_circus_pool", "circo", release.folder, *more)


def _everything(data_folder: Path, release: PoolRelease, tmp_path: Path) -> dict[str, list[Path]]:
    """Write the traces of all four data sets; return the folders that each is imported from."""
    native = tmp_path / "native"
    native.mkdir()
    rows: dict[str, list[Row]] = {"lasco": lasco_rows(lasco_audited(lasco_native(native)))}
    folders = {"lasco": [release.folder]}
    for dataset in ("cirr", "fashioniq"):
        folders[dataset] = [data_folder / dataset, data_folder / "circus"]
        rows[dataset] = rows_of(read_circus(dataset, *folders[dataset]), data_folder)
    for dataset, said in rows.items():
        release.pool_traces(dataset, said)
    return folders | {"circo": [data_folder / "circo", data_folder / "circus"]}


@pytest.mark.slow
def test_all_four_data_sets_have_the_published_labels_in_one_encoder(
    release: PoolRelease, data_folder: Path, tmp_path: Path
) -> None:
    from audit.models import Encoder, PoolMember, Probe

    for dataset, folders in _everything(data_folder, release, tmp_path).items():
        _run("import_circus", *folders, "--dataset", dataset)
        output = _run("import_circus_pool", dataset, release.folder)
        shortcut, composed, unresolved = COUNTS[dataset]
        assert f"shortcut {shortcut:,}, composition-required {composed:,}, unresolved {unresolved:,}" in output
    assert (Encoder.objects.count(), PoolMember.objects.count()) == (1, 1)
    assert Probe.objects.count() == 12
    assert len(set(Probe.objects.values_list("ranks", flat=True))) == 4
    assert np.isfinite(list(Probe.objects.values_list("recall", flat=True))).all()
