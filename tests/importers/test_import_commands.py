"""The commands: what they write, that a second run changes nothing, and how they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError

from evaluator import bundle
from evaluator.types import Split as FrozenSplit
from leaderboard import bundles
from leaderboard.models import Entry, Judgment, Method, Score, SplitVersion
from leaderboard.reported import read_reported
from leaderboard.services.reported import load_reported

pytestmark = pytest.mark.django_db


def _run(command: str, *arguments: object) -> str:
    output = StringIO()
    call_command(command, *map(str, arguments), stdout=output, stderr=output)
    return output.getvalue()


def test_circo_becomes_two_boards_and_a_second_run_changes_nothing(
    data_folder: Path, circo_val: FrozenSplit, circo_test: FrozenSplit
) -> None:
    first = _run("import_circo", data_folder / "circo")
    second = _run("import_circo", data_folder / "circo")
    assert "circo-val: 220 queries" in first
    assert "open, its list is not at hand" in first
    assert first.count("version 1: new") == second.count("version 1: unchanged") == 2
    assert SplitVersion.objects.count() == 2
    version = SplitVersion.objects.get(split__slug="circo-val", current=True)
    assert (version.digest, version.query_count, version.gallery_size) == (bundle.digest(circo_val), 220, None)
    assert Judgment.objects.filter(query__version=version, positive=True).count() == 916
    assert not Judgment.objects.filter(query__version__split__slug="circo-test").exists()
    assert bundle.digest(bundles.load(version)) == bundle.digest(circo_val)


def test_a_dry_run_writes_nothing(data_folder: Path) -> None:
    output = _run("import_fashioniq", data_folder / "fashioniq", "--dry-run")
    assert "fashioniq-val: 6,016 queries, 4,315 clusters (reference image)" in output
    assert "dress (3,817 images), shirt (6,346 images), toptee (5,373 images)" in output
    assert "would be a new version" in output
    assert not SplitVersion.objects.exists()


def test_a_dry_run_knows_what_is_there_already(data_folder: Path) -> None:
    _run("import_circo", data_folder / "circo")
    assert _run("import_circo", data_folder / "circo", "--dry-run").count("is version 1 already") == 2


def test_importing_the_gallery_later_makes_a_new_version(
    copy_of: Callable[[str], Path], circo_val: FrozenSplit
) -> None:
    folder = copy_of("circo")
    _run("import_circo", folder)
    known = {int(name) for name in circo_val.images} | _test_references(folder)
    others = (number for number in range(1, 600_000) if number not in known)
    ids = [*known, *(next(others) for _ in range(123_403 - len(known)))]
    (folder / "unlabeled2017_ids.txt").write_text("\n".join(map(str, ids)))
    output = _run("import_circo", folder)
    assert output.count("version 2: new") == 2
    current = SplitVersion.objects.get(split__slug="circo-val", current=True)
    assert (current.number, current.gallery_size) == (2, 123_403)


def _test_references(folder: Path) -> set[int]:
    return {row["reference_img_id"] for row in json.loads((folder / "annotations/test.json").read_text("utf-8"))}


def test_circus_imports_what_is_there_and_names_what_is_not(data_folder: Path) -> None:
    folders = [data_folder / name for name in ("circus", "circo", "cirr")]
    output = _run("import_circus", *folders, "--dry-run")
    assert "circus-cirr: 4,170 queries, 503 clusters (image set)" in output
    assert "subsets: Full 220, SF 56, V 42" in output
    assert "circus-lasco: skipped" in output
    assert "circus-fashioniq: skipped" in output


def test_circus_of_one_data_set_is_imported_or_fails(data_folder: Path) -> None:
    folders = [data_folder / name for name in ("circus", "circo")]
    output = _run("import_circus", *folders, "--dataset", "circo")
    assert "circus-circo: 220 queries" in output
    assert SplitVersion.objects.get().split.slug == "circus-circo"
    with pytest.raises(CommandError, match=r"lasco_val\.json"):
        _run("import_circus", *folders, "--dataset", "lasco")


def test_circus_without_any_annotations_fails(data_folder: Path) -> None:
    with pytest.raises(CommandError, match=r"cap\.rc2\.val\.json"):
        _run("import_circus", data_folder / "pinpoint")


def test_one_upload_fits_both_boards_in_the_database(data_folder: Path) -> None:
    _run("import_circo", data_folder / "circo")
    _run("import_circus", data_folder / "circus", data_folder / "circo", "--dataset", "circo")
    keys = dict(SplitVersion.objects.values_list("split__slug", "fit_key"))
    assert keys["circo-val"] == keys["circus-circo"] != keys["circo-test"]


def test_pinpoint_is_read_for_both_boards(data_folder: Path) -> None:
    output = _run("import_pinpoint", data_folder / "pinpoint", "--dry-run")
    assert "subsets: All 7,635, Original 4,225" in output
    assert "subsets: All 7,325, Original 4,026" in output


def test_cirr_is_read_for_both_boards(data_folder: Path) -> None:
    output = _run("import_cirr", data_folder / "cirr", "--dry-run")
    assert "cirr-val: 4,181 queries, 503 clusters (image set)" in output
    assert "cirr-test1: 4,148 queries" in output
    assert "hidden truth" in output


@pytest.mark.django_db(transaction=True)  # a command that ends closes the connection
def test_a_refusal_is_a_list_a_status_and_no_traceback(
    copy_of: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_of("circo")
    path = folder / "annotations/test.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))[:-1]))
    command = load_command_class("leaderboard", "import_circo")
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", "import_circo", str(folder)])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "queries: expected 800, found 799" in said
    assert "annotations/test.json" in said
    assert "Traceback" not in said
    assert not SplitVersion.objects.exists(), "circo-val was fine, but nothing is imported by halves"


def test_lasco_without_its_queries_is_refused(data_folder: Path) -> None:
    with pytest.raises(CommandError, match=r"lasco_val\.json"):
        _run("import_lasco", data_folder / "lasco", data_folder / "circus")


def test_reported_numbers_stand_on_their_boards() -> None:
    first = _run("load_reported")
    assert "new: 65" in first
    entries = Entry.objects.filter(trust=Entry.Trust.REPORTED)
    assert {entry.split.slug for entry in entries.select_related("split")} == {
        *("circus-cirr", "circus-fashioniq", "circus-lasco", "circus-circo"),
        *("pinpoint", "pinpoint-paper"),
    }
    assert not entries.filter(published_at=None).exists()
    score = Score.objects.get(
        entry__method__name="LamRA", entry__split__slug="circus-cirr", subset="V", condition="multimodal"
    )
    assert (score.measure, score.value, score.shown) == ("Recall@10", 0.226, "22.6")
    assert Method.objects.get(name="LamRA").entries.count() == 4
    assert entries.filter(split__slug="pinpoint").exclude(unranked_reason="").count() == 3
    assert entries.filter(split__slug__startswith="circus", pool_member=True).count() == 44


def test_loading_again_changes_nothing_and_keeps_the_permanent_links() -> None:
    _run("load_reported")
    links = set(Entry.objects.values_list("public_id", "published_at"))
    scores = set(Score.objects.values_list("pk", flat=True))
    assert "unchanged: 65" in _run("load_reported")
    assert set(Entry.objects.values_list("public_id", "published_at")) == links
    assert set(Score.objects.values_list("pk", flat=True)) == scores


def test_a_number_that_changed_and_a_row_that_went_are_followed() -> None:
    load_reported(read_reported())
    paper = next(reported for reported in read_reported() if reported.name == "PinPoint paper")
    (part,) = paper.boards
    first, *others = part.entries
    changed = replace(first, scores=(replace(first.scores[0], value=0.5), *first.scores[1:]))
    smaller = replace(paper, boards=(replace(part, entries=(changed, *others[:-1])),))
    loaded = load_reported([smaller])
    assert loaded.changed == [f"{first.method} on pinpoint-paper"]
    assert loaded.removed == [f"{others[-1].method} on pinpoint-paper"]
    assert len(loaded.unchanged) == len(others) - 1
    scores = Score.objects.filter(entry__split__slug="pinpoint-paper", entry__method__name=first.method)
    assert scores.get(measure="mAP@10", group="").shown == "50.0"


def test_a_publication_read_at_another_commit_takes_its_old_rows_along() -> None:
    """Rows were once looked for at the new commit only, and on the boards still named: those that went stayed."""
    load_reported(read_reported())
    circus = next(reported for reported in read_reported() if reported.name == "CIRCUS")
    first, *others = circus.boards
    moved = replace(circus, commit="f" * 40, boards=(replace(first, entries=first.entries[1:]),))
    loaded = load_reported([moved])
    assert len(loaded.removed) == 1 + sum(len(part.entries) for part in others)
    assert len(loaded.changed) == len(first.entries) - 1
    boards = {entry.split.slug for entry in Entry.objects.filter(trust=Entry.Trust.REPORTED).select_related("split")}
    assert boards == {first.board, "pinpoint", "pinpoint-paper"}


def test_a_broken_file_of_numbers_loads_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr("leaderboard.reported.FOLDER", tmp_path)
    read_reported.cache_clear()
    try:
        with pytest.raises(CommandError, match=r"broken\.json"):
            _run("load_reported")
    finally:
        read_reported.cache_clear()
    assert not Entry.objects.exists()


def test_a_method_of_the_same_slug_gets_another() -> None:
    Method.objects.create(name="Lamra!", slug="lamra")
    load_reported(read_reported())
    assert Method.objects.get(name="LamRA").slug not in ("", "lamra")
