"""How long a PinPoint ranking file takes from its bytes to every measure with its interval, beside its yardsticks.

    python benchmarks/scoring.py [--rounds N]

Everything is measured in one run, in turns, so that ratios hold on any machine: the floor is ``orjson.loads`` of the
same bytes; the peer is pytrec_eval computing one measure, ``map_cut.10``, from the bytes. Reads the official files from
``CIRBOARD_DATA``, default ``../shared/data`` beside the repository. Ends with status 1 when a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SLOWED_BY = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
if slowing := [name for name in SLOWED_BY if name in os.environ]:  # read when NumPy is first imported: start anew
    os.execve(sys.executable, [sys.executable, *sys.argv], {k: v for k, v in os.environ.items() if k not in slowing})
sys.path.insert(0, str(ROOT))

import orjson  # noqa: E402
import pytrec_eval  # noqa: E402

from evaluator.formats import SourceFile, read_run  # noqa: E402
from evaluator.intervals import resampling_weights  # noqa: E402
from evaluator.ranks import judged_ranks  # noqa: E402
from evaluator.scoring import score  # noqa: E402
from evaluator.types import Condition, Ranking, Scorecard, Split  # noqa: E402
from leaderboard.importers.pinpoint import read_pinpoint  # noqa: E402

FLOOR_LIMIT = 7.0
PEER_LIMIT = 1.6
Task = Callable[[], object]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the scoring of a PinPoint ranking file.")
    parser.add_argument("--rounds", type=int, default=9, help="how often each thing is timed (default %(default)s)")
    rounds = max(1, parser.parse_args().rounds)
    data = Path(os.environ.get("CIRBOARD_DATA") or ROOT.parent / "shared" / "data")
    content, split = ranking_file(data), read_pinpoint(data / "pinpoint")
    run = read_run([SourceFile("strong.json", content)], split)
    print(f"{len(split):,} queries x {run.images.shape[1]} ids, {len(content) / 1e6:.1f} MB of JSON, {rounds} rounds\n")

    seconds = timed(tasks(content, split), rounds)
    floor, peer, whole = (median(seconds[name]) for name in (FLOOR, PEER, WHOLE))
    for name, times in seconds.items():
        print(f"{name:66} {median(times):7.3f} s   least {min(times):.3f}   {median(times) / floor:5.2f} x floor")
    card = score(split, {Condition.MULTIMODAL: run}, breakdowns=False)
    own = median(seconds[WITH_GROUPS]) - median(seconds[SCORING])
    print(f"\n{len(card.scores)} scores; break-downs add {further(split, run, card)} more in {own:.3f} s of their own")
    print(f"peak memory: {peak(lambda: from_bytes(content, split)):.0f} MB for the evaluation, {resident()} in all")
    over_floor = verdict("bytes to everything / orjson.loads", whole / floor, FLOOR_LIMIT)
    over_peer = verdict("bytes to everything / pytrec_eval, one measure", whole / peer, PEER_LIMIT)
    return int(over_floor or over_peer)


FLOOR = "floor: orjson.loads of the bytes"
PEER = "peer: pytrec_eval map_cut.10 from the bytes"
SCORING = "  of it: ranks, measures and intervals"
WITH_GROUPS = "ranks, measures and intervals with all break-downs"
WHOLE = "bytes to all measures with intervals, without break-downs"


def tasks(content: bytes, split: Split) -> dict[str, Task]:
    """Return what is timed, by the name it is printed under."""
    run = read_run([SourceFile("strong.json", content)], split)
    runs = {Condition.MULTIMODAL: run}
    evaluator = pytrec_eval.RelevanceEvaluator(truth(split), {"map_cut.10"})

    def afresh() -> Scorecard:
        resampling_weights.cache_clear()
        return from_bytes(content, split)

    return {
        FLOOR: lambda: orjson.loads(content),
        PEER: lambda: evaluator.evaluate(peer_run(content)),
        WHOLE: lambda: from_bytes(content, split),
        "the same, resampling weights drawn anew": afresh,
        "  of it: reading and checking the file": lambda: read_run([SourceFile("strong.json", content)], split),
        "  of it: judged ranks": lambda: judged_ranks(split, run),
        SCORING: lambda: score(split, runs, breakdowns=False),
        WITH_GROUPS: lambda: score(split, runs),
    }


def from_bytes(content: bytes, split: Split) -> Scorecard:
    run = read_run([SourceFile("strong.json", content)], split)
    return score(split, {Condition.MULTIMODAL: run}, breakdowns=False)


def ranking_file(data: Path) -> bytes:
    """Return the bytes of the ranking that is the same on every machine."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "strong.json"
        tool = data.parent / "tools" / "make_pinpoint_rankings.py"
        subprocess.run([sys.executable, str(tool), str(data / "pinpoint"), "strong", str(target)], check=True)
        return target.read_bytes()


def truth(split: Split) -> dict[str, dict[str, int]]:
    """Return the positives as pytrec_eval wants them, by the ids of the ranking file."""
    wanted: dict[str, dict[str, int]] = {query.removeprefix("query_"): {} for query in split.query_ids}
    lines = split.judgments
    for query, image in zip(lines.query[lines.positive].tolist(), lines.image[lines.positive].tolist(), strict=True):
        wanted[split.query_ids[query].removeprefix("query_")][split.images[image]] = 1
    return wanted


def peer_run(content: bytes) -> dict[str, dict[str, float]]:
    """Return the file as pytrec_eval wants it: a falling score for each image."""
    falling = [float(50 - place) for place in range(50)]
    rows = orjson.loads(content)
    return {query: dict(zip(row["retrieved_items"], falling, strict=True)) for query, row in rows.items()}


def timed(things: dict[str, Task], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each round of each task; the tasks take turns, after one round that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in things}
    for number in range(rounds + 1):
        for name, task in things.items():
            gc.collect()
            start = time.perf_counter()
            task()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def further(split: Split, run: Ranking, card: Scorecard) -> int:
    return len(score(split, {Condition.MULTIMODAL: run}).scores) - len(card.scores)


def peak(task: Task) -> float:
    """Return the most memory, in MB, that a task holds at once beyond what was there before."""
    resampling_weights.cache_clear()
    gc.collect()
    tracemalloc.start()
    task()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def resident() -> str:
    """Return the most memory this process ever held, yardsticks included."""
    unit = 1 if sys.platform == "darwin" else 1024
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:.0f} MB"


def verdict(what: str, ratio: float, limit: float) -> bool:
    """Print a ratio beside its limit; return whether it is over."""
    print(f"{what}: {ratio:.2f} (at most {limit}): {'OVER' if ratio > limit else 'ok'}")
    return ratio > limit


if __name__ == "__main__":
    sys.exit(main())
