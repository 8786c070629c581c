"""CIRCUS's release folder: made up, of the published size and layout, beside real annotations where needed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from importers.made_up_release import (
    FREE,
    ROWS,
    SKIPPED,
    SOLVABLE,
    Audited,
    Release,
    lasco_audited,
    lasco_corpus,
    lasco_native,
)

from evaluator import bundle
from evaluator.types import Split, Subset
from leaderboard.importers.circus import read_circus
from leaderboard.importers.refusal import ImportRefused


@dataclass(frozen=True)
class Lasco:
    """Folders of a made-up LaSCo: its own two files, each in a folder, and the release."""

    native: Path
    corpus: Path
    release: Release
    rows: tuple[Audited, ...]

    def write_traces(self, rows: Sequence[Audited], *, with_queries: bool = True) -> None:
        free = [row for row in rows if row.label in FREE]
        self.release.trace("lasco", "shortcut_free", free, with_queries=with_queries)
        solvable = [row for row in rows if row.label == SOLVABLE]
        self.release.trace("lasco", SOLVABLE, solvable, with_queries=with_queries)


@pytest.fixture(scope="module")
def lasco_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, tuple[Audited, ...]]:
    """Return the folder of ``lasco_val.json``, that of the corpus, and the audited rows; written once."""
    native, corpus = tmp_path_factory.mktemp("native"), tmp_path_factory.mktemp("corpus")
    rows = lasco_audited(lasco_native(native))
    lasco_corpus(corpus)
    return native, corpus, tuple(rows)


@pytest.fixture
def lasco(lasco_files: tuple[Path, Path, tuple[Audited, ...]], release: Release) -> Lasco:
    native, corpus, rows = lasco_files
    return Lasco(native, corpus, release, rows)


def _write_v(lasco: Lasco) -> None:
    solved, unsolved = ([row.index for row in lasco.rows if row.label == label] for label in FREE)
    lasco.release.query_indices("lasco", solved[:452], unsolved[:306])


def _sizes(split: Split) -> dict[Subset, int]:
    return {subset: int(mask.sum()) for subset, mask in split.subsets.items()}


def test_lasco_comes_from_the_release_alone(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    _write_v(lasco)
    split = read_circus("lasco", lasco.release.folder, lasco.corpus)
    assert _sizes(split) == {Subset.FULL: 30_031, Subset.SF: 18_418, Subset.V: 758}
    assert [gallery.size for gallery in split.galleries] == [39_826]
    assert split.image_prefix == "lasco_img_"
    assert int(split.clusters.max()) + 1 == len({row.image_path for row in lasco.rows})
    validated = split.subsets[Subset.V]
    assert np.bincount(split.strata[Subset.V][validated]).tolist() == [452, 306]


def test_lasco_is_numbered_by_row_with_gaps_never_by_position(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    split = read_circus("lasco", lasco.release.folder, lasco.corpus)
    assert split.query_ids[-1] == str(ROWS - 1)
    assert not {str(row) for row in SKIPPED} & set(split.query_ids)
    position = split.query_index["30036"]
    assert split.texts[position] == "change 30036"
    assert split.query_index["lasco_q_test_30036"] == position
    assert split.query_index["lasco_q_test_-1"] == split.query_index["1"]


def test_lasco_reads_the_same_split_with_its_own_file_beside_the_release(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    alone = read_circus("lasco", lasco.release.folder, lasco.corpus)
    both = read_circus("lasco", lasco.native, lasco.release.folder, lasco.corpus)
    assert bundle.digest(alone) == bundle.digest(both)


def test_lasco_without_traces_skips_rows_by_rule_and_lacks_sf(lasco: Lasco) -> None:
    _write_v(lasco)
    split = read_circus("lasco", lasco.native, lasco.release.folder, lasco.corpus)
    assert _sizes(split) == {Subset.FULL: 30_031, Subset.V: 758}
    assert "18,418" in split.absent[Subset.SF]
    assert split.query_ids == tuple(str(row.index) for row in lasco.rows)


def test_lasco_without_a_corpus_has_an_open_gallery(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows, with_queries=False)
    split = read_circus("lasco", lasco.release.folder)
    assert [gallery.size for gallery in split.galleries] == [None]
    assert not split.query_aliases


def test_lasco_takes_its_gallery_from_the_audit_file(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    ids = [image["id"] for image in json.loads((lasco.corpus / "lasco_val_corpus.json").read_text())]
    lasco.release.audit("lasco", [f"<path>/val2014/COCO_val2014_{number:012}.jpg" for number in ids])
    split = read_circus("lasco", lasco.release.folder)
    assert bundle.digest(split) == bundle.digest(read_circus("lasco", lasco.release.folder, lasco.corpus))


def test_a_repeated_qid_is_no_alias(lasco: Lasco) -> None:
    rows = [replace(row, native_id="lasco_q_test_5") if row.index in (5, 9) else row for row in lasco.rows]
    lasco.write_traces(rows)
    split = read_circus("lasco", lasco.release.folder, lasco.corpus)
    assert "lasco_q_test_5" not in split.query_index
    assert len(split.query_aliases) == 30_031 - 2


def test_lasco_traces_that_number_other_rows_are_refused(lasco: Lasco) -> None:
    lasco.write_traces([replace(row, index=row.index + 1) for row in lasco.rows])
    with pytest.raises(ImportRefused, match="query_idx whose row differs from the trace"):
        read_circus("lasco", lasco.native, lasco.release.folder, lasco.corpus)


def test_a_lasco_file_with_another_number_of_queries_is_refused(lasco: Lasco) -> None:
    solvable = next(row for row in lasco.rows if row.label == SOLVABLE)
    lasco.write_traces([row for row in lasco.rows if row != solvable])
    with pytest.raises(ImportRefused, match="audited queries: expected 30,031, found 30,030"):
        read_circus("lasco", lasco.release.folder, lasco.corpus)


def test_a_lasco_row_that_is_no_id_and_path_is_refused(lasco: Lasco, tmp_path: Path) -> None:
    rows = json.loads((lasco.native / "lasco_val.json").read_text("utf-8"))
    rows[3]["target-image"] = ["COCO_val2014_000000000042.jpg"]
    (tmp_path / "lasco_val.json").write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(ImportRefused, match=r"row 3, field 'target-image': expected \[id, path\]"):
        read_circus("lasco", tmp_path, lasco.corpus)


def test_lasco_without_its_queries_is_refused_by_name(lasco: Lasco) -> None:
    with pytest.raises(ImportRefused, match=r"lasco_val\.json"):
        read_circus("lasco", lasco.corpus)


def _labels(data_folder: Path, dataset: str) -> dict[str, list[int]]:
    lists = json.loads((data_folder / f"circus/{dataset}_shortcut_free_query_indices.json").read_text("utf-8"))
    return {label: lists[label] for label in FREE}


def _free_rows(split: Split, labels: Mapping[str, Sequence[int]], image_path: str) -> list[Audited]:
    """Return SF's rows as the release would list them; ``image_path`` holds a ``{}`` for the reference."""
    label_of = {index: label for label, indices in labels.items() for index in indices}
    return [
        Audited(
            index,
            label_of[index],
            split.texts[index],
            image_path.format(split.images[split.references[index][0]]),
            f"8:{index}",
        )
        for index in sorted(label_of)
    ]


CIRR_PATH = "mbeir_images/cirr_images/dev/{}.jpg"


def test_cirr_reads_the_same_subsets_from_traces_exports_and_index_lists(
    circus_cirr: Split, data_folder: Path, release: Release
) -> None:
    labels = _labels(data_folder, "cirr")
    rows = _free_rows(circus_cirr, labels, CIRR_PATH)
    listed = json.loads((data_folder / "circus/cirr_validated_query_indices.json").read_text("utf-8"))
    release.export("cirr", rows)
    validated = dict(zip(FREE, (listed["validated_solved"], listed["validated_unsolved"]), strict=True))
    release.validated_export("cirr", validated)
    exported = read_circus("cirr", data_folder / "cirr", release.folder)
    assert bundle.digest(exported) == bundle.digest(circus_cirr)
    release.trace("cirr", "shortcut_free", rows)
    release.query_indices("cirr", *validated.values())
    traced = read_circus("cirr", data_folder / "cirr", release.folder)
    assert bundle.digest(traced) == bundle.digest(circus_cirr)


def test_a_list_whose_numbers_name_other_references_is_refused(
    circus_cirr: Split, data_folder: Path, release: Release
) -> None:
    rows = _free_rows(circus_cirr, _labels(data_folder, "cirr"), CIRR_PATH)
    release.trace("cirr", "shortcut_free", [replace(row, index=row.index + 1) for row in rows])
    with pytest.raises(ImportRefused, match="query_idx with another reference image"):
        read_circus("cirr", data_folder / "cirr", release.folder)


def test_fashioniq_has_its_pool_and_sf_with_the_release(
    circus_fashioniq: Split, data_folder: Path, release: Release
) -> None:
    """The SF list is made up around the real V: the release's own is not at hand."""
    listed = json.loads((data_folder / "circus/fashioniq_validated_query_indices.json").read_text("utf-8"))
    validated = (listed["validated_solved"], listed["validated_unsolved"])
    others = iter(sorted(set(range(6_003)) - {index for indices in validated for index in indices}))
    sizes = (1_462, 2_607)
    filled = [
        sorted([*indices, *(next(others) for _ in range(size - len(indices)))])
        for indices, size in zip(validated, sizes, strict=True)
    ]
    labels = dict(zip(FREE, filled, strict=True))
    release.export("fashioniq", _free_rows(circus_fashioniq, labels, "mbeir_images/fashioniq_images/{}.jpg"))
    release.query_indices("fashioniq", *validated)
    made_up = (f"Z{number:09}" for number in range(74_381 - len(circus_fashioniq.images)))
    pool = sorted([*circus_fashioniq.images, *made_up])
    release.audit("fashioniq", [f"<path_to_M-BEIR>/mbeir_images/fashioniq_images/{name}.jpg" for name in pool])
    split = read_circus("fashioniq", data_folder / "fashioniq", release.folder)
    assert _sizes(split) == {Subset.FULL: 6_003, Subset.SF: 4_069, Subset.V: 586}
    assert [gallery.size for gallery in split.galleries] == [74_381]
    assert not split.absent
    assert split.images == tuple(pool)
    assert bundle.fit_key(split) != bundle.fit_key(circus_fashioniq)


def test_circo_takes_its_gallery_from_the_audit_file(circus_circo: Split, data_folder: Path, release: Release) -> None:
    known = {int(name) for name in circus_circo.images}
    others = (number for number in range(1, 600_000) if number not in known)
    ids = sorted([*known, *(next(others) for _ in range(123_403 - len(known)))])
    release.audit(
        "circo", [f"<path_to_user_home>/CIRCO/COCO2017_unlabeled/unlabeled2017/{number:012}.jpg" for number in ids]
    )
    split = read_circus("circo", data_folder / "circo", data_folder / "circus", release.folder)
    assert [gallery.size for gallery in split.galleries] == [123_403]
    assert split.images[split.judgments.image[0]] in circus_circo.images


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["a/000000000008.jpg"], "images: expected 123,403, found 1"),
        (["a/000000000008.jpg"] * 2, "repeated gallery_paths"),
    ],
)
def test_another_gallery_list_is_refused(data_folder: Path, release: Release, paths: list[str], message: str) -> None:
    release.audit("circo", paths)
    with pytest.raises(ImportRefused, match=re.escape(message)):
        read_circus("circo", data_folder / "circo", release.folder)


def test_a_label_that_does_not_exist_is_refused(circus_cirr: Split, data_folder: Path, release: Release) -> None:
    rows = _free_rows(circus_cirr, _labels(data_folder, "cirr"), CIRR_PATH)
    release.export("cirr", [replace(rows[0], label="solved"), *rows[1:]])
    with pytest.raises(
        ImportRefused, match="aggregate_label: expected composition_required or unresolved, found 'solved'"
    ):
        read_circus("cirr", data_folder / "cirr", release.folder)


def test_a_query_idx_that_is_no_number_is_refused(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    path = next(lasco.release.folder.rglob("shortcut_free/*.trace.csv"))
    header, _, rest = path.read_text("utf-8").split("\n", 2)
    path.write_text(f"{header}\n-1,,label,x\n{rest}", encoding="utf-8")
    with pytest.raises(ImportRefused, match="query_idx: expected a whole number, found '-1'"):
        read_circus("lasco", lasco.release.folder, lasco.corpus)


def test_a_query_file_that_is_not_parallel_to_its_trace_is_refused(lasco: Lasco) -> None:
    lasco.write_traces(lasco.rows)
    path = next(lasco.release.folder.rglob("shortcut_solvable/*.jsonl"))
    path.write_text(path.read_text("utf-8").split("\n", 1)[1], encoding="utf-8")
    with pytest.raises(ImportRefused, match="lines beside the trace: expected 11,613, found 11,612"):
        read_circus("lasco", lasco.release.folder, lasco.corpus)
