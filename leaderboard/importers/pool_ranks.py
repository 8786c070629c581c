"""What CIRCUS's pool said of every audited query: best ranks, how many of its models solve it, which was best.

Read from the traces of the release (all four data sets) or from its audit file; where both are at hand they must
agree. Nothing is derived here: :mod:`.pool_checks` tells whether the labels follow from the ranks (decision 39).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluator.types import Condition
from leaderboard.importers import release
from leaderboard.importers.assemble import require_distinct
from leaderboard.importers.official import Folders, Record, coco_id, file_stem, read_object, read_table, whole_number
from leaderboard.importers.refusal import MAX_LISTED, Difference, FileMissing, refuse_any

COMMIT = "067e7277e67283105a683a8b3ad1297009908166"
"""Commit of matteoattimonelli/CIRCUS whose layout is read."""

COCO_DATASETS = ("lasco", "circo")
"""Their images are COCO's: named by number, and the traces name the target so too."""

CONDITIONS = {
    Condition.MULTIMODAL: "multimodal",
    Condition.TEXT_ONLY: "text_only",
    Condition.IMAGE_ONLY: "image_only",
}
"""What the release calls each condition."""

RETRIEVERS = {
    "e5_omni": "E5-Omni",
    "gemini_embedding_2": "Gemini Emb. 2",
    "gme_qwen2vl_retriever_2": "GME-Qwen2VL",
    "lamra": "LamRA",
    "lamra_qwen25vl": "LamRA-Qwen2.5VL",
    "mmembed": "MM-Embed",
    "qwen3vl2b_vllm": "Qwen3-VL-2B",
    "qwen3vl8b_vllm": "Qwen3-VL-8B",
    "rzen_embed": "Rzen-Embed",
    "vlm2vec_v2": "VLM2Vec-V2",
    "voyage_multimodal_35": "Voyage MM-3.5",
}
"""The eleven named retrievers as the release spells them -> as the paper's tables do."""

MODELS = len(RETRIEVERS) + 1
"""Supports reach twelve, and some best ranks are nobody's: one retriever of the pool is not named."""

_SUPPORT, _EITHER = "retriever_support_at_k", "either_unimodal"
_COLUMNS = (
    *("query_idx", "aggregate_label", "aggregate_detail_label", "query_text", "query_img_path", "primary_pos_cand_id"),
    *(f"{what}_{name}" for what in ("rank", "best_retriever", "support") for name in CONDITIONS.values()),
    f"support_{_EITHER}",
)


@dataclass(frozen=True)
class PoolRow:
    """What the pool said of one query."""

    index: int
    """``query_idx``."""
    text: str
    reference: str
    """Native id of the reference image."""
    target: str
    """Native id of the target; empty where the file has M-BEIR's pool number only."""
    label: str
    detail: str
    ranks: Mapping[Condition, int]
    support: Mapping[Condition, int]
    either: int
    best: Mapping[Condition, str]
    """Key of the retriever that reached the rank; empty where the unnamed one did."""
    place: str
    """File and row, for refusals."""


def read_pool_rows(folders: Folders, dataset: str) -> tuple[PoolRow, ...]:
    """Return every audited query by ``query_idx``. Raises ImportRefused; FileMissing where neither source is there."""
    traced = _read_traces(folders, dataset)
    audited = _read_audit(folders, dataset)
    if traced is None and audited is None:
        wanted = f"{release.trace_name(dataset, 'shortcut_{free,solvable}')}.trace.csv or {release.audit_name(dataset)}"
        where = ", ".join(map(str, folders.paths))
        raise FileMissing(Difference("file", wanted, "no such file", where))
    if traced is not None and audited is not None:
        refuse_any(_disagreements(traced, audited))
    return traced or audited or ()


def _read_traces(folders: Folders, dataset: str) -> tuple[PoolRow, ...] | None:
    """Return the rows of both traces; None where one is missing, since they say all only together."""
    labels = ("shortcut_free", release.SHORTCUT_SOLVABLE)
    found = [folders.find(f"{release.trace_name(dataset, label)}.trace.csv") for label in labels]
    paths = [path for path in found if path is not None]
    if len(paths) < len(labels):
        return None
    return _sorted([row for path in paths for row in _trace_rows(path, dataset)], f"{dataset} traces")


def _sorted(rows: list[PoolRow], file: str) -> tuple[PoolRow, ...]:
    require_distinct("query_idx", [str(row.index) for row in rows], file)
    return tuple(sorted(rows, key=lambda row: row.index))


def _trace_rows(path: Path, dataset: str) -> list[PoolRow]:
    table = [{column: row[column] or "" for column in _COLUMNS} for row in read_table(path, *_COLUMNS)]
    return [_trace_row(row, dataset, path, number) for number, row in enumerate(table, start=1)]


def _trace_row(row: Mapping[str, str], dataset: str, path: Path, number: int) -> PoolRow:
    def whole(column: str) -> int:
        return whole_number(row[column], f"row {number}, {column}", path)

    coco = dataset in COCO_DATASETS
    return PoolRow(
        index=whole("query_idx"),
        text=row["query_text"],
        reference=_image(row["query_img_path"], dataset),
        target=row["primary_pos_cand_id"].removeprefix(f"{dataset}_img_") if coco else "",
        label=row["aggregate_label"],
        detail=row["aggregate_detail_label"],
        ranks={condition: whole(f"rank_{name}") for condition, name in CONDITIONS.items()},
        support={condition: whole(f"support_{name}") for condition, name in CONDITIONS.items()},
        either=whole(f"support_{_EITHER}"),
        best={condition: row[f"best_retriever_{name}"] for condition, name in CONDITIONS.items()},
        place=f"row {number} of {path}",
    )


def _read_audit(folders: Folders, dataset: str) -> tuple[PoolRow, ...] | None:
    path = folders.find(release.audit_name(dataset))
    if path is None:
        return None
    samples = read_object(path).items("samples")
    records = [Record({"object": one}, str(path), f"sample {number}") for number, one in enumerate(samples)]
    return _sorted([_audit_row(record.record("object"), dataset) for record in records], str(path))


def _audit_row(sample: Record, dataset: str) -> PoolRow:
    said = sample.record("aggregation")
    ranks, support = sample.record("ranks"), said.record(_SUPPORT)
    best = said.record("best_retriever_by_modality")
    return PoolRow(
        index=sample.whole("query_idx"),
        text=sample.text("query_text"),
        reference=_image(sample.text("query_image_path"), dataset),
        target=_image(sample.text("target_image_path"), dataset),
        label=said.text("label"),
        detail=said.text("detail_label"),
        ranks={condition: ranks.whole(name) for condition, name in CONDITIONS.items()},
        support={condition: support.whole(name) for condition, name in CONDITIONS.items()},
        either=support.whole(_EITHER),
        best={
            condition: "" if best.fields.get(name) is None else best.text(name)
            for condition, name in CONDITIONS.items()
        },
        place=f"{sample.place} of {sample.file}",
    )


def _image(path: str, dataset: str) -> str:
    return coco_id(path) if dataset in COCO_DATASETS else file_stem(path)


def _disagreements(traced: tuple[PoolRow, ...], audited: tuple[PoolRow, ...]) -> list[Difference]:
    """Return where the audit file says other things of a query than the traces."""
    by_index = {row.index: row for row in audited}
    apart = sorted({row.index for row in traced} ^ by_index.keys())
    found = [Difference(f"query_idx {index}", "in the traces and in the audit file", "in one only") for index in apart]
    for row in traced:
        other = by_index.get(row.index)
        found += [] if other is None else _unequal(row, other)
    return shortened(found)


def _unequal(row: PoolRow, other: PoolRow) -> list[Difference]:
    where = f"{row.place}; {other.place}"
    return [
        Difference(f"query_idx {row.index}, {what}", f"{one!r} as in the trace", f"{two!r} in the audit file", where)
        for (what, one), two in zip(_content(row).items(), _content(other).values(), strict=True)
        if one != two
    ]


def _content(row: PoolRow) -> dict[str, object]:
    """Return what traces and audit file both say, under the names that a trace has for it."""
    said: dict[str, object] = {
        "query_text": row.text,
        "query_img_path": row.reference,
        "aggregate_label": row.label,
        "aggregate_detail_label": row.detail,
    }
    for condition, name in CONDITIONS.items():
        said[f"rank_{name}"] = row.ranks[condition]
        said[f"support_{name}"] = row.support[condition]
        said[f"best_retriever_{name}"] = row.best[condition]
    return said | {f"support_{_EITHER}": row.either}


def shortened(differences: list[Difference]) -> list[Difference]:
    """Return the first differences of one kind, and how many more there are."""
    more = len(differences) - MAX_LISTED
    rest = [Difference("further differences of the same kind", "none", f"{more:,}")] if more > 0 else []
    return differences[:MAX_LISTED] + rest
