"""``python -m evaluator audit``: pictures, queries and encoders in, labels out, without a server."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probing.counting_api import CountingApi, Desk, counting_api

from evaluator import bundle
from evaluator.__main__ import main
from evaluator.cli.audit_progress import AuditBar, Events, duration, line
from evaluator.encoders.problems import EncoderError
from evaluator.probing import Reached
from evaluator.probing.questions import read_questions
from evaluator.types import Condition

PICTURES, QUERIES = 30, 12
INPUTS = PICTURES + 3 * QUERIES


@pytest.fixture
def api() -> Iterator[CountingApi]:
    with counting_api() as opened:
        yield opened


@pytest.fixture
def desk(tmp_path: Path, api: CountingApi) -> Desk:
    return Desk(tmp_path / "desk", api.address, PICTURES, QUERIES)


Capture = pytest.CaptureFixture[str]


def words(capsys: Capture) -> list[dict[str, Any]]:
    return [json.loads(text) for text in capsys.readouterr().out.splitlines()]


def test_labels_come_as_tables_and_as_files(desk: Desk, capsys: Capture) -> None:
    assert main([*desk.arguments(), "--out", str(desk.folder / "out")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("asked, version 1: 12 queries, 1 model, K = 10")
    for words_of in ("shortcut", "text alone", "image alone", "either alone", "composition-required", "Recall@10"):
        assert words_of in out
    assert "without" not in out  # a pool of one leaves nobody out
    report = json.loads((desk.folder / "out/labels.json").read_text(encoding="utf-8"))
    with (desk.folder / "out/labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["query"] for row in rows] == [row["query"] for row in report["labels"]] == [f"q{n}" for n in range(12)]
    for row, label in zip(rows, report["labels"], strict=True):
        assert (row["label"], row["kind"] or None) == (label["label"], label["kind"])
        assert int(row["rank:text-only"]) == label["rank"]["text-only"] >= 1
        assert row["best:image-only"] == "slow"
    counts = report["counts"]
    assert counts["shortcut"] + counts["composition-required"] + counts["unresolved"] == QUERIES
    assert counts["text"] + counts["image"] + counts["both"] == counts["shortcut"]
    solved = sum(label["rank"]["multimodal"] <= 10 for label in report["labels"])
    assert report["recall"][0]["multimodal"] == pytest.approx(solved / QUERIES)


def test_a_second_encoder_costs_its_own_probes_and_who_decides_is_said(
    desk: Desk, api: CountingApi, capsys: Capture
) -> None:
    assert main([*desk.arguments(), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert len(api.seen) == INPUTS
    desk.spec("newer", api.address)
    assert main([*desk.arguments("slow", "newer"), "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert len(api.seen) == 2 * INPUTS
    assert [row["name"] for row in after["encoders"]] == ["slow", "newer"]
    assert [row["name"] for row in after["leave_one_out"]] == ["slow", "newer"]
    assert after["counts"]["shortcut"] >= before["counts"]["shortcut"]
    moved = [one["label"] != two["label"] for one, two in zip(before["labels"], after["labels"], strict=True)]
    assert after["leave_one_out"][1]["changed"] == sum(moved)


def test_k_is_a_matter_of_labels_alone(desk: Desk, api: CountingApi, capsys: Capture) -> None:
    shortcuts = []
    for k in (1, 5, PICTURES):
        assert main([*desk.arguments(), "--json", "--k", str(k)]) == 0
        shortcuts.append(json.loads(capsys.readouterr().out)["counts"]["shortcut"])
    assert shortcuts == sorted(shortcuts)
    assert shortcuts[-1] == QUERIES
    assert len(api.seen) == INPUTS


def test_a_bundle_gives_the_same_labels_as_the_queries_it_was_made_of(desk: Desk, capsys: Capture) -> None:
    assert main([*desk.arguments(), "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)
    bundle.save(read_questions(desk.folder / "asked.jsonl", desk.folder / "pictures"), desk.folder / "split.zip")
    arguments = ["--split" if part == "--queries" else part for part in desk.arguments()]
    arguments = [str(desk.folder / "split.zip") if part.endswith("asked.jsonl") else part for part in arguments]
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == asked


def test_events_say_how_far_it_is_and_where_the_ranks_are(desk: Desk, api: CountingApi, capsys: Capture) -> None:
    assert main([*desk.arguments(), "--events", "--probes-only"]) == 0
    *progress, last = words(capsys)
    assert {tuple(word) for word in progress} == {("phase", "done", "total", "rate", "seconds_left")}
    assert list(dict.fromkeys(word["phase"] for word in progress)) == ["gallery", *map(str, Condition), "ranking"]
    assert {word["total"] for word in progress} == {INPUTS}
    assert progress[-1]["done"] == INPUTS
    assert (last["finished"], last["encoder"], last["dtype"], last["device"]) == (True, "slow", "float32", "cpu")
    assert last["card"]["model"] == "slow"
    assert set(last["card"]["conditions"]) == {str(condition) for condition in Condition}
    assert all(
        Path(path).name == f"{condition}.npz" and Path(path).exists() for condition, path in last["ranks"].items()
    )
    assert main([*desk.arguments(), "--events", "--probes-only"]) == 0
    (word, again) = words(capsys)
    assert (word["done"], word["total"], word["seconds_left"]) == (INPUTS, INPUTS, 0)
    assert again == last


def test_what_is_computed_elsewhere_has_no_dtype_here(desk: Desk, api: CountingApi, capsys: Capture) -> None:
    """To find out whether bfloat16 changes the answers of an API would cost a sample twice."""
    assert main([*desk.arguments(), "--events", "--dtype", "bfloat16"]) == 0
    *_, finished, last = words(capsys)
    assert finished["dtype"] == "float32"
    assert len(last["report"]["labels"]) == QUERIES
    assert len(api.seen) == INPUTS


def test_probes_only_says_where_the_ranks_lie(desk: Desk, capsys: Capture) -> None:
    assert main([*desk.arguments(), "--probes-only"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [text.split(":")[0] for text in lines] == [f"slow, {condition}" for condition in Condition]
    assert all(Path(text.split(": ")[1]).exists() for text in lines)


def test_an_encoder_that_cannot_go_on_is_status_3_with_what_to_do(
    desk: Desk, api: CountingApi, capsys: Capture
) -> None:
    api.status = 403
    assert main(desk.arguments()) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "The API refused a request" in err
    assert main([*desk.arguments(), "--events"]) == 3
    assert words(capsys)[-1]["error"]["code"] == "api-refused"


def test_missing_pictures_are_found_before_anything_is_encoded(desk: Desk, api: CountingApi, capsys: Capture) -> None:
    split = read_questions(desk.folder / "asked.jsonl", desk.folder / "pictures")
    bundle.save(split, desk.folder / "split.zip")
    (desk.folder / "pictures/004.png").unlink()
    arguments = ["--split", str(desk.folder / "split.zip"), *desk.arguments()[3:]]
    assert main(["audit", *arguments, "--events"]) == 3
    error = words(capsys)[-1]["error"]
    assert error["code"] == "picture-missing"
    assert "1 of 30 images" in error["message"]
    without = [part for part in arguments if part not in ("--images", str(desk.folder / "pictures"))]
    assert main(["audit", *without]) == 3
    assert not api.seen


@pytest.mark.parametrize(
    "change",
    [
        ["--k", "0"],
        ["--k", "ten"],
        ["--shard", "0"],
        ["--batch", "-1"],
        ["--dtype", "int8"],
        ["--split", "x.zip"],
    ],
)
def test_wrong_usage_is_status_2(change: list[str], desk: Desk, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*desk.arguments(), *change])
    assert refused.value.code == 2


def test_what_is_no_encoder_s_fault_is_status_2_and_a_word_among_events(desk: Desk, capsys: Capture) -> None:
    (desk.folder / "asked.jsonl").write_text('{"id": "q", "reference": "zebra"}\n', encoding="utf-8")
    assert main(desk.arguments()) == 2
    err = capsys.readouterr().err
    assert "line 1: the reference zebra is no picture of the folder" in err
    assert "line 1: no text" in err
    assert main([*desk.arguments(), "--events"]) == 3
    assert words(capsys)[-1]["error"]["code"] == "audit"
    assert main(desk.arguments("slow", "slow")) == 2
    (desk.folder / "asked.jsonl").unlink()
    assert main(desk.arguments()) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_wrong_spec_is_an_encoder_s_fault(desk: Desk, capsys: Capture) -> None:
    (desk.folder / "slow.json").write_text('{"name": "slow"}', encoding="utf-8")
    assert main(desk.arguments()) == 3
    assert "family must be a text" in capsys.readouterr().err


def test_checking_a_ranking_loads_no_encoder() -> None:
    """A participant's machine needs NumPy and nothing else."""
    code = (
        "import sys, evaluator.__main__\n"
        "print([name for name in ('torch', 'PIL', 'evaluator.encoders.remote') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_has_rate_and_time_left_and_is_wiped_out() -> None:
    now = [0.0]
    stream = Terminal()
    with AuditBar(stream, lambda: now[0]) as bar:
        for done in (1, 2, 3):
            bar(Reached("gallery", done * 1000, 4000, 12.34, 81.0))
        now[0] += 1
        bar(Reached("gallery", 3500, 4000, 12.34, 40.0))
    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn[-1] == ""
    assert len(drawn) == 4  # two of four words, and the wiping
    assert drawn[1] == "gallery    [######..................] 1,000/4,000  12.3/s  1 min 21 s left"


def test_nobody_is_shown_a_bar_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with AuditBar(stream) as bar:
        bar(Reached("gallery", 1, 2, 1.0, 1.0))
    assert stream.getvalue() == ""


def test_times_and_lines_in_words() -> None:
    assert [duration(seconds) for seconds in (0.2, 59, 61, 3600, 7325)] == [
        "0 s",
        "59 s",
        "1 min 1 s",
        "1 h 0 min",
        "2 h 2 min",
    ]
    assert line(Reached("ranking", 0, 0, 0.0, None)).endswith("0/0")


def test_an_error_is_one_line_whatever_it_says() -> None:
    stream = io.StringIO()
    Events(stream).error("spec", str(EncoderError("spec", "two\nlines ä")))
    assert len(stream.getvalue().splitlines()) == 1
