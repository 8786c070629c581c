"""``python -m evaluator check | score | ranks | audit``: a participant gets the server's own verdict at home."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evaluator import __version__, bundle
from evaluator.cli import audit, reports, tables, vectors
from evaluator.cli.progress import ProgressBar
from evaluator.encoders import EncoderError
from evaluator.errors import EvaluatorError, FaultList, SubmissionError
from evaluator.formats import DEFAULT, SourceFile, read_run
from evaluator.scoring import score
from evaluator.types import Condition, Run, Split

VALID, INVALID, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""

_EPILOG = """\
A ranking file is JSON, JSON lines, CSV or a TREC run, plain, as .gz or as a .zip with one file; the format is told from
the content. For CIRR give both files of its server. A judged-ranks file, as the command ranks writes it from vectors,
may stand in its place; with --gallery, score takes vectors of the queries instead. BUNDLE is the split as one file,
from the split kit on its page.
Exit status: 0 valid, 1 invalid, 2 wrong usage, or a file that cannot be read or written,
3 an encoder that cannot go on."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        status, report = audit.run(options) if options.command == "audit" else _verdict(options)
    except EncoderError as error:
        _complain(str(error))
        return audit.ENCODER
    except EvaluatorError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"cannot read {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        return INTERRUPTED
    return (_say(report) if report else VALID) or status


def _verdict(options: argparse.Namespace) -> tuple[int, str]:
    """Return the exit status and the report to print."""
    form = reports if options.json else tables
    split = bundle.load(options.split)
    try:
        return VALID, _REPORTS[options.command](options, split)
    except SubmissionError as error:
        return INVALID, form.invalid(error, split)


def _check(options: argparse.Namespace, split: Split) -> str:
    run = _runs(_paths(options), split)[Condition.MULTIMODAL]
    return reports.valid(run, split) if options.json else tables.valid(run, split)


def _score(options: argparse.Namespace, split: Split) -> str:
    paths = _paths(options)
    runs: Mapping[Condition, Run] = vectors.rank(options, paths, split) if options.gallery else _runs(paths, split)
    with ProgressBar(sys.stderr, "scoring") as bar:
        card = score(split, runs, breakdowns=options.json or options.breakdowns, progress=bar)
    return reports.scores(card, split) if options.json else tables.scores(card, split)


def _ranks(options: argparse.Namespace, split: Split) -> str:
    paths = vectors.write(vectors.rank(options, _paths(options), split), split, options.out)
    return reports.written(paths, split) if options.json else tables.written(paths, split)


_REPORTS: dict[str, Callable[[argparse.Namespace, Split], str]] = {"check": _check, "score": _score, "ranks": _ranks}


def _say(report: str) -> int:
    """Print a report. A reader that went away, as ``head`` does, is no error and changes no verdict; a full disk is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an id may hold what the terminal's encoding lacks
    try:
        print(report, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter's last flush fails as well
        return VALID if isinstance(error, BrokenPipeError) else _complain(f"cannot write the report: {error.strerror}")
    return VALID


def _complain(sentence: str) -> int:
    print(f"evaluator: {sentence}", file=sys.stderr)
    return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluator",
        description="Check and score rankings of composed image retrieval with the words and numbers of the server.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"evaluator {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="say whether a ranking fits a split, and list everything that does not")
    marks = commands.add_parser("score", help="check, then print every measure of the split's protocol")
    ranks = commands.add_parser("ranks", help="rank vectors over the whole gallery and write judged-ranks files")
    for command in (check, marks):
        command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="the ranking; for CIRR both files")
    ranks.add_argument(
        "--multimodal", nargs=1, dest="files", required=True, type=Path, metavar="FILE", help="multimodal query vectors"
    )
    for command in (check, marks, ranks):
        command.add_argument("--split", required=True, type=Path, metavar="BUNDLE", help="the split as one file")
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for command, word in ((marks, "ranking"), (ranks, "query vectors")):
        for condition in (Condition.TEXT_ONLY, Condition.IMAGE_ONLY):
            told = f"the {condition} {word}"
            command.add_argument(f"--{condition}", action="append", type=Path, metavar="FILE", default=[], help=told)
    told = "add to the table the groups that JSON always has: categories, skin tone"
    marks.add_argument("--breakdowns", action="store_true", help=told)
    vectors.add_options(marks, required=False)
    vectors.add_options(ranks, required=True)
    audit.add_parser(commands)
    ranks.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the files go")
    return parser


def _paths(options: argparse.Namespace) -> dict[Condition, list[Path]]:
    """Return the paths of each condition that was given."""
    paths = {Condition.MULTIMODAL: options.files}
    if options.command != "check":
        paths |= {Condition.TEXT_ONLY: options.text_only, Condition.IMAGE_ONLY: options.image_only}
    return {condition: given for condition, given in paths.items() if given}


def _read(path: Path) -> SourceFile:
    with path.open("rb") as opened:
        return SourceFile(path.name, opened.read(DEFAULT.unpacked_bytes + 1))  # enough to see that it is too large


def _runs(paths: Mapping[Condition, Sequence[Path]], split: Split) -> dict[Condition, Run]:
    """Read every run. Raises SubmissionError with the faults of all of them, and OSError with the file's name."""
    sources = {condition: [_read(path) for path in given] for condition, given in paths.items()}
    faults = FaultList()
    runs = {}
    for condition, files in sources.items():
        try:
            with ProgressBar(sys.stderr, "reading") as bar:
                runs[condition] = read_run(files, split, progress=bar)
        except SubmissionError as error:
            faults.faults += error.faults
            faults.more += error.more
    faults.raise_if_any()
    return runs


if __name__ == "__main__":
    sys.exit(main())
