"""What the commands do with vectors: exact ranks over the whole gallery, scored or written as judged-ranks files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evaluator.cli.progress import ProgressBar
from evaluator.errors import EvaluatorError
from evaluator.formats import write_judged
from evaluator.search import judged_ranks
from evaluator.types import Condition, JudgedRanks, Similarity, Split
from evaluator.vectors import VectorFile, read_embeddings

_WHOLE = 100
SIMILARITIES = {"cosine": Similarity.COSINE, "inner": Similarity.INNER_PRODUCT}


def add_options(command: argparse.ArgumentParser, *, required: bool) -> None:
    """Add what says where the vectors are and how they are compared."""
    told = "vectors of the gallery: .npz with ids and vectors, .npy, .safetensors or Parquet"
    command.add_argument("--gallery", type=Path, required=required, metavar="FILE", help=told)
    for side in ("gallery", "query"):
        ids = f"the ids of the {side} vectors, one a line or a JSON list, where their files have none"
        command.add_argument(f"--{side}-ids", type=Path, metavar="FILE", help=ids)
    command.add_argument("--similarity", choices=SIMILARITIES, default="cosine", help="how vectors are compared")


def rank(
    options: argparse.Namespace, files: Mapping[Condition, Sequence[Path]], split: Split
) -> dict[Condition, JudgedRanks]:
    """Return the ranks of every condition whose query vectors are given.

    Raises SubmissionError with the faults of all files, EvaluatorError where the split cannot be ranked, OSError.
    """
    if split.hidden_truth:
        raise EvaluatorError(f"the truth of {split.name} is hidden: which images are judged is not known here")
    if any(len(given) > 1 for given in files.values()):
        raise EvaluatorError("give one file of query vectors for each condition")
    queries = {condition: VectorFile(given[0], options.query_ids) for condition, given in files.items()}
    gallery = VectorFile(options.gallery, options.gallery_ids)
    runs: dict[Condition, JudgedRanks] = {}
    with ProgressBar(sys.stderr, "ranking") as bar:
        bar(0, _WHOLE)
        read = read_embeddings(gallery, queries, split, similarity=SIMILARITIES[options.similarity])
        for number, (condition, embeddings) in enumerate(read.items()):
            runs[condition] = judged_ranks(embeddings, split, progress=_share(bar, number, len(read)))
    return runs


def _share(bar: ProgressBar, number: int, count: int) -> Callable[[int, int], None]:
    """Return what draws the progress of one of ``count`` conditions as its share of the bar, in percent."""
    return lambda done, total: bar(_WHOLE * (number * total + done) // max(count * total, 1), _WHOLE)


def write(runs: Mapping[Condition, JudgedRanks], split: Split, folder: Path) -> list[Path]:
    """Write a judged-ranks file for each condition. Raises EvaluatorError where the disk does not take it."""
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for condition, ranks in runs.items():
            path = folder / f"{split.name}.{condition}.ranks.csv"
            path.write_text(write_judged(ranks, split), encoding="utf-8", newline="\n")
            paths.append(path)
    except OSError as error:
        raise EvaluatorError(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return paths
