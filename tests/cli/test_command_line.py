"""``python -m evaluator``: the server's verdict at home, for people and for programs."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from formats import format_splits
from formats.format_splits import make_split
from formats.writers import cirr, plain

from evaluator import bundle, protocols
from evaluator.__main__ import main
from evaluator.cli import tables
from evaluator.cli.progress import ProgressBar
from evaluator.types import Condition, Score, Scorecard, Split, Subset

ROOT = Path(__file__).parents[2]
QUERIES = tuple("012")
IMAGES = tuple("abcdef")
GOOD = dict.fromkeys(QUERIES, IMAGES[:4])


@pytest.fixture
def split() -> Split:
    return make_split(QUERIES, IMAGES, positives=dict.fromkeys(range(3), IMAGES[1:3]))


@pytest.fixture
def packed(split: Split, tmp_path: Path) -> str:
    return str(saved(split, tmp_path))


@pytest.fixture(scope="module")
def circo(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(saved(format_splits.circo(data_folder, "val"), tmp_path_factory.mktemp("circo")))


def saved(split: Split, folder: Path) -> Path:
    path = folder / "split.zip"
    bundle.save(split, path)
    return path


def write(folder: Path, content: bytes, name: str = "ranking.json") -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status, out, err = run(capsys, *arguments, "--json")
    assert err == ""
    return status, json.loads(out, parse_constant=lambda token: pytest.fail(f"{token} is not JSON"))


def test_check_of_a_good_file(packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = write(tmp_path, plain(GOOD))
    status, out, err = run(capsys, "check", name, "--split", packed)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "OK: valid for tiny, version 1",
        "  format          Plain JSON",
        "  queries         3",
        "  images a query  4",
    ]
    status, report = run_json(capsys, "check", name, "--split", packed)
    assert (status, report["valid"], report["format"], report["queries"]) == (0, True, "json", 3)
    assert report["images"] == {"fewest": 4, "most": 4}


def test_check_of_a_bad_file_lists_every_fault(packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = write(tmp_path, plain({"0": IMAGES[:2], "1": "aabcd", "3": IMAGES[:4]} | {"1": list("aabcd")}))
    status, out, _ = run(capsys, "check", name, "--split", packed)
    assert status == 1
    assert out.startswith("INVALID for tiny, version 1: 4 faults\n")
    for line in (
        "unknown-query: A query that the split does not have",
        '  ranking.json, query "2"  no ranking  one',
        '  ranking.json, query "1"  "a" at ranks 1 and 2  each image once',
        "  -> Lengthen the list; the protocol says how far.",
    ):
        assert line in out.splitlines()
    status, report = run_json(capsys, "check", name, "--split", packed)
    assert (status, report["valid"], report["more"]) == (1, False, 0)
    assert [fault["code"] for fault in report["faults"]] == [
        "unknown-query",
        "missing-query",
        "repeated-image",
        "list-too-short",
    ]


def test_a_thousand_faults_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = [str(query) for query in range(1_001)]
    packed = str(saved(make_split(queries, IMAGES), tmp_path))
    name = write(tmp_path, plain({"0": IMAGES[:4]}))
    _, out, _ = run(capsys, "check", name, "--split", packed)
    assert out.startswith("INVALID for tiny, version 1: 1,000 faults, 100 of them listed\n")
    assert run_json(capsys, "check", name, "--split", packed)[1]["more"] == 900


def test_cirr_takes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = dict.fromkeys(range(3), IMAGES[1:])
    packed = str(saved(make_split(QUERIES, IMAGES, protocol=protocols.CIRR, members=members), tmp_path))
    lists = dict.fromkeys(QUERIES, IMAGES[1:])
    main_file = write(tmp_path, cirr(lists), "recall.json")
    subset = write(tmp_path, cirr(lists, "recall_subset"), "subset.json")
    _, out, _ = run(capsys, "check", subset, main_file, "--split", packed)
    assert "  subset file     yes" in out.splitlines()


def test_circo_scores_are_those_of_the_published_formula(
    circo: str, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(data_folder / "submissions/circo_val_example.json")
    expected = json.loads((data_folder / "submissions/circo_val_example.expected.json").read_text())
    status, report = run_json(capsys, "score", name, "--split", circo)
    assert status == 0
    found = {row["measure"]: row for row in report["scores"] if not row["group"]}
    for k in (5, 10, 25, 50):
        assert found[f"mAP@{k}"]["value"] == pytest.approx(expected[f"mAP@{k}"], abs=1e-12)
        assert found[f"Recall_target@{k}"]["value"] == pytest.approx(expected[f"Recall@{k}"], abs=1e-12)
    assert found["mAP@5"]["low"] <= found["mAP@5"]["value"] <= found["mAP@5"]["high"]
    assert found["mAP@5"]["n"] == 220


def test_the_table_of_scores_is_in_percent(circo: str, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(data_folder / "submissions/circo_val_example.json")
    status, out, err = run(capsys, "score", name, "--split", circo)
    assert (status, err) == (0, "")
    assert out.startswith("circo-val, version 1, evaluator ")
    (row,) = [line for line in out.splitlines() if line.strip().startswith("mAP@5 ")]
    assert row.split()[:3] == ["mAP@5", "%", "0.49"]
    assert row.split()[3].startswith("[")


def test_a_cell_is_written_as_the_board_writes_it(split: Split) -> None:
    """The command line once had its own decimals: a ratio of 4.836 was 4.84, and a bound of -1e-6 was "-0.00"."""
    found = [
        Score(Subset.ALL, Condition.MULTIMODAL, "", "MultiRatio(mAP@10)", 4.8361, 4.5, 5.1, 9),
        Score(Subset.ALL, Condition.MULTIMODAL, "", "DeltamAP@10", 0.0, -1e-6, 0.01, 9),
    ]
    table = tables.scores(Scorecard(tuple(found), {}, "1"), split)
    assert "4.836 [4.500, 5.100]" in table
    assert "0.00 [0.00, 1.00]" in table


def test_conditions_are_scored_side_by_side(packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path, plain(GOOD))
    text = write(tmp_path, plain(dict.fromkeys(QUERIES, IMAGES[::-1])), "text.json")
    status, report = run_json(capsys, "score", good, "--split", packed, "--text-only", text, "--image-only", good)
    assert status == 0
    assert {row["condition"] for row in report["scores"]} >= {"multimodal", "text-only", "image-only"}
    _, out, _ = run(capsys, "score", good, "--split", packed, "--text-only", text)
    assert [line.split()[0] for line in out.splitlines() if line.endswith("Full")] == ["multimodal", "text-only"]


def test_faults_of_every_condition_are_listed(packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, worse = write(tmp_path, b"[]", "bad.json"), write(tmp_path, b"", "worse.json")
    status, report = run_json(capsys, "score", bad, "--split", packed, "--text-only", worse)
    assert status == 1
    assert [(fault["file"], fault["code"]) for fault in report["faults"]] == [
        ("bad.json", "wrong-top-type"),
        ("worse.json", "empty-file"),
    ]


def test_hidden_truth_is_said_in_one_sentence(split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = str(saved(bundle.without_truth(split), tmp_path))
    name = write(tmp_path, plain(GOOD))
    assert run(capsys, "check", name, "--split", packed)[0] == 0
    status, out, err = run(capsys, "score", name, "--split", packed)
    assert (status, out) == (2, "")
    assert err == "evaluator: the truth of tiny is hidden: nothing can be scored\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read"),
        (b"", "is not a split bundle"),
        (b"PK\x05\x06" + bytes(18), "is not a split bundle"),
        (b"{}", "is not a split bundle"),
    ],
)
def test_a_broken_bundle_is_said_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    path = tmp_path / "broken.zip"
    if content is not None:
        path.write_bytes(content)
    status, out, err = run(capsys, "check", write(tmp_path, plain(GOOD)), "--split", str(path))
    assert (status, out) == (2, "")
    assert words in err
    assert "broken.zip" in err
    assert err.count("\n") == 1


def test_a_truncated_bundle_is_never_a_traceback(
    packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Path(packed).read_bytes()
    for size in range(0, len(whole), 97):
        Path(packed).write_bytes(whole[:size])
        assert run(capsys, "check", write(tmp_path, plain(GOOD)), "--split", packed)[0] == 2
    for position in range(0, len(whole), 61):
        Path(packed).write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        assert run(capsys, "check", write(tmp_path, plain(GOOD)), "--split", packed)[0] in (0, 1, 2)


def test_a_missing_file_is_said_in_one_sentence(packed: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "check", "nowhere.json", "--split", packed)
    assert (status, out, err) == (2, "", "evaluator: cannot read nowhere.json: No such file or directory\n")


@pytest.mark.parametrize("beginning", [b"", b"\x1f\x8b", b"PK\x03\x04"])
def test_of_an_enormous_file_only_the_beginning_is_read(
    packed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], beginning: bytes
) -> None:
    name = write(tmp_path, beginning)
    os.truncate(name, 2**33)  # 8 GiB, of which the disk holds nothing
    status, report = run_json(capsys, "check", name, "--split", packed)
    assert (status, [fault["code"] for fault in report["faults"]]) == (1, ["too-large"])


@pytest.mark.parametrize("arguments", [[], ["check"], ["check", "a.json"], ["rank", "a.json", "--split", "b"]])
def test_wrong_usage(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m evaluator" in capsys.readouterr().err


def test_help_names_the_commands_and_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    for words in ("check", "score", "Exit status", "BUNDLE"):
        assert words in out


def test_numpy_is_all_it_needs(packed: str, tmp_path: Path) -> None:
    name = write(tmp_path, plain(GOOD))
    program = (
        "import sys; from evaluator.__main__ import main; "
        f"status = main(['score', {name!r}, '--split', {packed!r}]); "
        "print([name for name in ('torch', 'django', 'pandas', 'scipy', 'faiss') if name in sys.modules]); "
        "sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("[]\n")


def test_the_module_runs(packed: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evaluator", "check", write(tmp_path, b"[]"), "--split", packed]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "wrong-top-type" in done.stdout


def test_a_reader_that_went_away_changes_no_verdict(packed: str, tmp_path: Path) -> None:
    """``| head -1`` once ended in "cannot read None: Broken pipe" and the status of wrong usage."""
    for content, status in ((plain(GOOD), 0), (b"[]", 1)):
        command = _evaluator("check", write(tmp_path, content), packed)
        done = _shell(f"({command}; echo $? >&2) | true")
        assert done.stderr == f"{status}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_in_one_sentence(packed: str, tmp_path: Path) -> None:
    name = write(tmp_path, plain(GOOD))
    done = _shell(f"{_evaluator('score', name, packed)} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "evaluator: cannot write the report: No space left on device\n"


def _evaluator(verb: str, name: str, packed: str) -> str:
    """Return a command for the shell, whatever folder this is: its name may hold spaces."""
    return shlex.join([sys.executable, "-m", "evaluator", verb, name, "--split", packed])


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_id_can_be_printed_in_any_encoding(encoding: str, packed: str, tmp_path: Path) -> None:
    name = write(tmp_path, plain({**GOOD, "0": ["a", "b", "c", "d\u2026\u6f22"]}))
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    for form, fault in ((["--json"], '"d\\u2026\\u6f22"'), ([], "unknown-image")):
        command = [sys.executable, "-m", "evaluator", "check", name, "--split", packed, *form]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (1, b"")
        assert fault in done.stdout.decode(encoding).replace('\\"', '"')


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


class TestProgressBar:
    def draw(self, stream: io.StringIO, seconds: Sequence[float]) -> str:
        clock = iter((0.0, *seconds))
        with ProgressBar(stream, "reading", clock=lambda: next(clock)) as bar:
            for done, _ in enumerate(seconds, start=1):
                bar(done, len(seconds))
        return stream.getvalue()

    def test_nothing_within_a_second(self) -> None:
        assert self.draw(Terminal(), [0.2, 0.9]) == ""

    def test_a_bar_after_a_second_that_is_wiped_out_at_the_end(self) -> None:
        drawn = self.draw(Terminal(), [0.5, 1.5])
        assert drawn == "\rreading [" + "#" * 30 + "] 2/2\r\x1b[K"

    def test_nothing_where_nobody_looks(self) -> None:
        assert self.draw(io.StringIO(), [5.0, 6.0]) == ""
