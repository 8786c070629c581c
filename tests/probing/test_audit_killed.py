"""``kill -9`` at ten random moments of an audit, then resume: identical ranks, and no finished shard done twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from probing.counting_api import CountingApi, Desk, counting_api

from evaluator.store import load_run
from evaluator.types import Condition, JudgedRanks

PICTURES, QUERIES, SHARD = 72, 60, 8
KILLS = 10
INPUTS = PICTURES + 3 * QUERIES
PAUSE = 0.02
"""Seconds of a request for two inputs: an audit of 2.5 seconds."""


def started(desk: Desk) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evaluator", *desk.arguments(shard=SHARD), "--probes-only", "--events"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finished_ranks(process: subprocess.Popen[str]) -> dict[Condition, JudgedRanks]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    last = json.loads(out.splitlines()[-1])
    assert last["finished"]
    found = {}
    for condition in Condition:
        run = load_run(Path(last["ranks"][condition]))
        assert isinstance(run, JudgedRanks)
        found[condition] = run
    return found


def finished_inputs(state: Path) -> set[str]:
    """Return the names of all inputs whose shard is noted as finished."""
    found = set()
    for log in state.glob("vectors/*/*/done.log"):
        phase = log.parent.name.rsplit("-", 1)[0]
        for text in log.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except ValueError:
                continue  # the line that the kill cut
            found |= {f"{phase} {number}" for number in range(line["start"], line["start"] + line["rows"])}
    return found


def kill_at_some_moment(desk: Desk, api: CountingApi, chance: random.Random) -> None:
    """Start the audit, let it encode for a moment, and kill it: while it encodes, writes, or has just begun."""
    before = len(api.seen)
    with started(desk) as process:
        wanted = before + chance.randint(0, 2 * INPUTS // KILLS)
        while len(api.seen) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(chance.random() * 2 * PAUSE)
        process.kill()
    time.sleep(0.1)  # what it had sent is counted before the next one begins


@pytest.mark.slow
def test_ten_kills_cost_no_finished_shard_and_change_no_rank(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"the moments of this run: seed {seed}")  # noqa: T201 shown where it fails
    chance = random.Random(seed)
    with counting_api(PAUSE) as api:
        desk = Desk(tmp_path / "killed", api.address, PICTURES, QUERIES)
        wasted = 0
        for _ in range(KILLS):
            done = finished_inputs(desk.folder / "state")
            start = len(api.seen)
            kill_at_some_moment(desk, api, chance)
            again = done.intersection(api.seen[start:])
            assert not again
            gained = len(finished_inputs(desk.folder / "state") - done)
            wasted += len(api.seen) - start - gained
        done, start = finished_inputs(desk.folder / "state"), len(api.seen)
        ranks = finished_ranks(started(desk))
        assert not done.intersection(api.seen[start:])
        assert len(done) + len(api.seen) - start == INPUTS
        counted = Counter(api.seen)
        assert len(counted) == INPUTS
        assert counted.total() - INPUTS == wasted <= KILLS * SHARD

        api.pause = 0.0
        whole = Desk(tmp_path / "whole", api.address, PICTURES, QUERIES)
        start = len(api.seen)
        undisturbed = finished_ranks(started(whole))
        assert len(api.seen) - start == INPUTS
        for condition in Condition:
            np.testing.assert_array_equal(ranks[condition].rank, undisturbed[condition].rank)


def test_a_second_process_says_who_works_there(tmp_path: Path) -> None:
    with counting_api(0.05) as api:
        desk = Desk(tmp_path / "desk", api.address, 16, 8)
        with started(desk) as first:
            while not api.seen:
                time.sleep(0.01)
            second = started(desk)
            out, _ = second.communicate(timeout=60)
            assert second.returncode == 3
            error = json.loads(out.splitlines()[-1])["error"]
            assert error["code"] == "state-in-use"
            assert f"process {first.pid} on" in error["message"]
            finished_ranks(first)
        assert len(api.seen) == 16 + 3 * 8


def test_it_ends_with_its_parent_and_goes_on_later(tmp_path: Path) -> None:
    with counting_api(0.05) as api:
        desk = Desk(tmp_path / "desk", api.address, 16, 8)
        command = [sys.executable, "-m", "evaluator", *desk.arguments(shard=2), "--with-parent", "--events"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            while not finished_inputs(desk.folder / "state"):
                time.sleep(0.01)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(timeout=10) == 130
        done, start = finished_inputs(desk.folder / "state"), len(api.seen)
        finished_ranks(started(desk))
        assert len(done) + len(api.seen) - start == 16 + 3 * 8
