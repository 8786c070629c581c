"""Writes what CIRCUS's pool is said to have ranked: made up, of the published counts, beside real queries and lists.

Labels are the real ones where the lists are at hand (CIRR, CIRCO; V of FashionIQ). Rows that RELEASE_LAYOUT.md quotes
from the release stand where they belong, to the letter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from importers.made_up_release import FREE, SOLVABLE, Audited, Release

from evaluator.types import Split

COUNTS = {
    "cirr": (3_485, 271, 414),
    "fashioniq": (1_934, 1_462, 2_607),
    "lasco": (11_613, 2_064, 16_354),
    "circo": (164, 53, 3),
}
"""Published: shortcuts, composition-required, unresolved."""

GALLERY_SIZES = {"cirr": 21_551, "fashioniq": 74_381, "lasco": 39_826, "circo": 123_403}
NAMES = ("multimodal", "text_only", "image_only")
KEYS = (
    *("", "e5_omni", "gemini_embedding_2", "gme_qwen2vl_retriever_2", "lamra", "lamra_qwen25vl", "mmembed"),
    *("qwen3vl2b_vllm", "qwen3vl8b_vllm", "rzen_embed", "vlm2vec_v2", "voyage_multimodal_35"),
)
HEADER = (
    *("query_idx", "query_id", "selection_field", "selection_value"),
    *("aggregate_label", "aggregate_detail_label", "legacy_category"),
    *("query_text", "query_img_path", "primary_pos_cand_id"),
    *(f"{what}_{name}" for what in ("rank", "best_retriever", "support") for name in NAMES),
    "support_either_unimodal",
)
PATHS = {
    "cirr": "mbeir_images/cirr_images/dev/{}.jpg",
    "fashioniq": "mbeir_images/fashioniq_images/{}.jpg",
    "circo": "<path_to_circo_mbeir>/COCO2017_unlabeled/unlabeled2017/{:>012}.jpg",
}
Three = tuple[int, int, int]


@dataclass(frozen=True)
class Said:
    """What the pool says of one query; each triple is multimodal, text-only, image-only."""

    label: str
    detail: str
    ranks: Three
    support: Three
    either: int
    best: tuple[str, str, str] = ("", "", "")


@dataclass(frozen=True)
class Row:
    """One query with what the pool says of it."""

    query: Audited
    said: Said
    target: str = ""
    """Native id of the target image, which audit files tell."""

    def saying(self, **changes: Any) -> Row:
        return replace(self, said=replace(self.said, **changes))


COMPOSED, OPEN = FREE
QUOTED: Mapping[str, Mapping[int, Said]] = {
    "cirr": {
        2: Said(COMPOSED, COMPOSED, (2, 57, 45), (4, 0, 0), 0, ("gme_qwen2vl_retriever_2", "mmembed", "vlm2vec_v2")),
        3910: Said(
            *(OPEN, OPEN, (125, 34, 307), (0, 0, 0), 0),
            best=("voyage_multimodal_35", "qwen3vl2b_vllm", "gemini_embedding_2"),
        ),
    },
    "fashioniq": {
        0: Said(
            *(COMPOSED, COMPOSED, (8, 23, 3421), (1, 0, 0), 0),
            best=("gme_qwen2vl_retriever_2", "gme_qwen2vl_retriever_2", "qwen3vl2b_vllm"),
        ),
        5964: Said(OPEN, OPEN, (136, 8767, 79), (0, 0, 0), 0),
    },
    "lasco": {
        2: Said(
            *(SOLVABLE, "both_unimodal", (13, 3, 5), (0, 2, 1), 2),
            best=("qwen3vl2b_vllm", "qwen3vl8b_vllm", "qwen3vl8b_vllm"),
        ),
        3: Said(OPEN, OPEN, (492, 996, 460), (0, 0, 0), 0, ("", "voyage_multimodal_35", "")),
        5: Said(
            *(COMPOSED, COMPOSED, (3, 202, 114), (1, 0, 0), 0),
            best=("mmembed", "gme_qwen2vl_retriever_2", "gemini_embedding_2"),
        ),
        34: Said(
            *(SOLVABLE, "image_only", (2, 3793, 2), (12, 0, 12), 12), best=("e5_omni", "qwen3vl2b_vllm", "e5_omni")
        ),
        57: Said(SOLVABLE, "image_only", (2, 219, 2), (2, 0, 1), 1, ("", "voyage_multimodal_35", "")),
        29760: Said(OPEN, OPEN, (21, 6096, 22), (0, 0, 0), 0, ("", "qwen3vl8b_vllm", "")),
    },
    "circo": {
        12: Said(
            *(COMPOSED, COMPOSED, (1, 273, 140), (7, 0, 0), 0),
            best=("lamra_qwen25vl", "rzen_embed", "qwen3vl8b_vllm"),
        ),
        157: Said(
            *(OPEN, OPEN, (245, 1320, 1405), (0, 0, 0), 0), best=("lamra", "gme_qwen2vl_retriever_2", "rzen_embed")
        ),
        207: Said(OPEN, OPEN, (70, 60, 604), (0, 0, 0), 0, ("gemini_embedding_2", "e5_omni", "")),
    },
}
"""Rows of the release at 067e7277, as its layout quotes them."""


def said(dataset: str, index: int, label: str) -> Said:
    """Return what the pool says of a query: the quoted row, or one made up that its label follows from."""
    quoted = QUOTED[dataset].get(index)
    if quoted is not None and quoted.label == label:
        return quoted
    kind = ("text_only", "image_only", "both_unimodal")[index % 3] if label == SOLVABLE else label
    found = (
        label == COMPOSED or (label == SOLVABLE and index % 4 > 0),
        kind in ("text_only", "both_unimodal"),
        kind in ("image_only", "both_unimodal"),
    )
    beyond = GALLERY_SIZES[dataset] - 10
    ranks = [1 + (index + n) % 10 if hit else 11 + index * (7_919 + n) % beyond for n, hit in enumerate(found)]
    support = [1 + (index * 5 + n) % 12 if hit else 0 for n, hit in enumerate(found)]
    least, most = max(support[1:]), min(sum(support[1:]), 12)
    best = [KEYS[(index + 3 * n) % len(KEYS)] for n in range(3)]
    either = least if index % 2 else most
    return Said(label, kind, _three(ranks), _three(support), either, (best[0], best[1], best[2]))


def _three(numbers: Sequence[int]) -> Three:
    return numbers[0], numbers[1], numbers[2]


def labels_of(dataset: str, data_folder: Path) -> dict[int, str]:
    """Return query_idx -> label for CIRR, FashionIQ and CIRCO, in the published numbers."""
    labels = dict.fromkeys(range(sum(COUNTS[dataset])), SOLVABLE)
    if dataset == "fashioniq":
        free = _filled_around_v(data_folder)
    else:
        free = json.loads((data_folder / f"circus/{dataset}_shortcut_free_query_indices.json").read_text("utf-8"))
    return labels | {index: label for label in FREE for index in free[label]}


def _filled_around_v(data_folder: Path) -> dict[str, list[int]]:
    """Return an SF of FashionIQ around its real V and the quoted rows: the release's own list is not at hand."""
    listed = json.loads((data_folder / "circus/fashioniq_validated_query_indices.json").read_text("utf-8"))
    known = {COMPOSED: [*listed["validated_solved"], 0], OPEN: [*listed["validated_unsolved"], 5964]}
    others = iter(sorted(set(range(6_003)) - set(chain(*known.values()))))
    sizes = dict(zip(FREE, COUNTS["fashioniq"][1:], strict=True))
    return {label: [*known[label], *(next(others) for _ in range(sizes[label] - len(known[label])))] for label in FREE}


def rows_of(split: Split, data_folder: Path) -> list[Row]:
    """Return the rows of CIRR, FashionIQ or CIRCO over a split read from the real annotations."""
    dataset = split.name.removeprefix("circus-")
    target = dict(zip(split.judgments.query.tolist(), split.judgments.image.tolist(), strict=True))
    rows = []
    for index, label in sorted(labels_of(dataset, data_folder).items()):
        native = split.images[target[index]]
        positive = f"circo_img_{native}" if dataset == "circo" else f"8:{index}"
        path = PATHS[dataset].format(split.images[split.references[index][0]])
        query = Audited(index, label, split.texts[index], path, positive)
        rows.append(Row(query, said(dataset, index, label), native))
    return rows


def lasco_rows(audited: Iterable[Audited]) -> list[Row]:
    """Return the rows of the made-up LaSCo."""
    return [Row(query, said("lasco", query.index, query.label)) for query in audited]


class PoolRelease(Release):
    """A release whose traces and audit file say what the pool ranked."""

    def pool_traces(self, dataset: str, rows: Sequence[Row]) -> None:
        """Write both traces; LaSCo with the queries beside them, whose lines tell its native ids."""
        for selection, labels in (("shortcut_free", FREE), (SOLVABLE, (SOLVABLE,))):
            chosen = [row for row in rows if row.said.label in labels]
            stem = f"shortcut_free_subsets/{dataset}/{selection}/mbeir_{dataset}_task7_test_multimodal"
            self._table(f"{stem}.trace.csv", HEADER, [_cells(row, selection) for row in chosen])
            if dataset == "lasco":
                lines = [json.dumps({"query_id": row.query.native_id}) for row in chosen]
                self._write(f"{stem}.jsonl", "".join(f"{line}\n" for line in lines))

    def pool_audit(self, dataset: str, rows: Sequence[Row], gallery_paths: Sequence[str] = ()) -> None:
        """Write the audit file with its samples."""
        whole = {"gallery_paths": list(gallery_paths), "samples": [_sample(row) for row in rows]}
        name = f"shortcut_audit/retrieval_data_{dataset}_task7_aggregated_best_rank_mm_any.json"
        self._write(name, json.dumps({"metadata": {"k": 10}, "summary": {}, **whole}))


def _cells(row: Row, selection: str) -> list[object]:
    said, query = row.said, row.query
    legacy = {"both_unimodal": "either", "text_only": "text_only", "image_only": "image_only"}
    return [
        *(query.index, "", "label", selection, said.label, said.detail, legacy.get(said.detail, "multimodal_needed")),
        *(query.text, query.image_path, query.positive_id),
        *(*said.ranks, *said.best, *said.support, said.either),
    ]


def _sample(row: Row) -> dict[str, Any]:
    said, query = row.said, row.query
    return {
        "query_idx": query.index,
        "query_text": query.text,
        "query_image_path": f"<path>/{query.image_path}",
        "target_image_path": f"<path>/{row.target}.jpg",
        "ranks": dict(zip(NAMES, said.ranks, strict=True)),
        "aggregation": {
            "label": said.label,
            "detail_label": said.detail,
            "best_retriever_by_modality": {name: key or None for name, key in zip(NAMES, said.best, strict=True)},
            "retriever_support_at_k": dict(zip(NAMES, said.support, strict=True)) | {"either_unimodal": said.either},
        },
    }
