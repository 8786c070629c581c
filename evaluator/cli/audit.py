"""The shortcut audit without a server: pictures, queries and encoders in, labels out."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from evaluator import bundle
from evaluator.audit.labels import K, Member, best_ranks, label
from evaluator.cli import audit_report
from evaluator.cli.audit_progress import AuditBar, Events
from evaluator.encoders import Encoder, Spec, open_encoder
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import DTYPES, Opening
from evaluator.errors import EvaluatorError
from evaluator.probing import SHARD, Job, Pictures, find_pictures
from evaluator.probing.questions import read_questions
from evaluator.probing.session import Outcome, carry_out
from evaluator.search.devices import gpu_names
from evaluator.types import Split

ENCODER = 3
"""Exit status where an encoder, its weights, a picture or the state folder stops it."""
_ORPHANED = 130
_BLIND = frozenset(("files",))
"""Families that never open a picture."""
_ELSEWHERE = frozenset(("files", "remote"))
"""Families that compute nothing here: neither dtype nor device is theirs."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    command = commands.add_parser(
        "audit", help="run encoders under three conditions and label the queries by what one modality solves"
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("--split", type=Path, metavar="BUNDLE", help="the split as one file")
    told = "JSON lines or CSV with id, reference, text, targets, over the pictures of the folder"
    source.add_argument("--queries", type=Path, metavar="FILE", help=told)
    command.add_argument("--images", type=Path, metavar="FOLDER", help="pictures, named like the image ids")
    command.add_argument(
        "--encoder",
        action="append",
        required=True,
        type=Path,
        metavar="SPEC.json",
        help="a model of the pool; give it again for each",
    )
    told = "where vectors and ranks are kept; a command that was killed goes on from there"
    command.add_argument("--state", type=Path, required=True, metavar="FOLDER", help=told)
    command.add_argument("--instruction", default="", metavar="TEXT", help="instruction before every text")
    command.add_argument("--k", type=_positive, default=K, help="a query is solved up to this rank (%(default)s)")
    command.add_argument("--out", type=Path, metavar="FOLDER", help="where labels.csv and labels.json go")
    command.add_argument("--json", action="store_true", help="print JSON instead of tables")
    command.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1 (%(default)s)")
    told = "what models compute in; other than float32 only where ranks do not change (%(default)s)"
    command.add_argument("--dtype", choices=DTYPES, default=DTYPES[0], help=told)
    command.add_argument("--batch", type=_natural, default=0, metavar="N", help="inputs at a time (what suits)")
    command.add_argument("--shard", type=_positive, default=SHARD, metavar="N", help="inputs a file (%(default)s)")
    command.add_argument("--probes-only", action="store_true", help="keep ranks, label nothing")
    command.add_argument("--events", action="store_true", help="print progress and outcome as JSON lines")
    command.add_argument("--with-parent", action="store_true", help="end when standard input closes")


def run(options: argparse.Namespace) -> tuple[int, str]:
    """Return the exit status and the report. Raises EncoderError, EvaluatorError, OSError; not with ``--events``."""
    if options.with_parent:
        threading.Thread(target=_watch_parent, name="parent", daemon=True).start()
    if not options.events:
        return 0, _audit(options, AuditBar(sys.stderr))
    events = Events(sys.stdout)
    try:
        _audit(options, events)
    except OSError as error:
        events.error("file", f"cannot read {error.filename}: {error.strerror}")
    except EncoderError as error:
        events.error(error.code, str(error))
    except EvaluatorError as error:
        events.error("audit", str(error))
    else:
        return 0, ""
    return ENCODER, ""


def _audit(options: argparse.Namespace, told: AuditBar | Events) -> str:
    specs = [Spec.read(path) for path in options.encoder]
    if len({spec.name for spec in specs}) < len(specs):
        raise EvaluatorError("two encoders have one name: labels name the models that decide them")
    split, pictures = _asked(options)
    if any(spec.family not in _BLIND for spec in specs):
        if options.images is None:
            raise EncoderError("picture-missing", "no --images")
        pictures.demand()
    outcomes = []
    for path, spec in zip(options.encoder, specs, strict=True):
        dtype = DTYPES[0] if spec.family in _ELSEWHERE else options.dtype
        job = Job(spec, split, pictures, options.state, options.instruction, dtype, options.shard, path.parent)
        with told:
            outcomes.append(carry_out(job, _opener(options, spec, path), told, device=_device(options, spec)))
        told.finished(outcomes[-1])
    if options.probes_only:
        return audit_report.probes(outcomes, as_json=options.json)
    report = _labelled(options, split, outcomes)
    if isinstance(told, Events):
        told.labelled(report.as_dict())
    return report.json() if options.json else report.tables()


def _labelled(options: argparse.Namespace, split: Split, outcomes: list[Outcome]) -> audit_report.Report:
    members = [
        Member(outcome.job.spec.name, {name: best_ranks(ranks, split) for name, ranks in outcome.ranks.items()})
        for outcome in outcomes
    ]
    labelling = label(members, options.k)
    report = audit_report.Report(split, labelling, outcomes)
    if options.out:
        report.write(options.out)
    return report


def _asked(options: argparse.Namespace) -> tuple[Split, Pictures]:
    if options.queries is None:
        split = bundle.load(options.split)
    elif options.images is None:
        raise EvaluatorError("--queries needs --images: the folder's pictures are the gallery")
    else:
        split = read_questions(options.queries, options.images)
    if options.images is None:
        return split, Pictures(Path(), split.images, (None,) * len(split.images))
    return split, find_pictures(options.images, split)


def _opener(options: argparse.Namespace, spec: Spec, path: Path) -> Callable[[str], Encoder]:
    return lambda dtype: open_encoder(spec, Opening(options.device, dtype, options.batch, path.parent))


def _device(options: argparse.Namespace, spec: Spec) -> str:
    """Return what the record calls the device; the process that has no use for torch does not load it to ask."""
    if spec.family in _ELSEWHERE or options.device == "cpu":
        return "cpu"
    return ", ".join(gpu_names()) or "cpu"


def _watch_parent() -> None:
    """End this process, whatever it does, when whoever started it is gone; shards that are finished stay."""
    while os.read(0, 4096):  # not sys.stdin: a thread that waits in its buffer is fatal when the interpreter ends
        pass
    os._exit(_ORPHANED)


def _positive(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _natural(text: str) -> int:
    if (value := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value
