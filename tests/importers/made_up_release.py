"""Writes a CIRCUS release folder of the published layout, and a LaSCo of the published size with made-up content."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRACE_COLUMNS = (
    *("query_idx", "query_id", "selection_field", "selection_value"),
    *("aggregate_label", "aggregate_detail_label", "legacy_category"),
    *("query_text", "query_img_path", "primary_pos_cand_id"),
    *("rank_multimodal", "rank_text_only", "rank_image_only"),
)


@dataclass(frozen=True)
class Audited:
    """One row of a made-up trace."""

    index: int
    label: str
    text: str
    image_path: str
    positive_id: str
    native_id: str = ""


class Release:
    """Writes the files of a CIRCUS release, as its layout describes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def trace(self, dataset: str, selection: str, rows: Sequence[Audited], *, with_queries: bool = True) -> None:
        stem = f"shortcut_free_subsets/{dataset}/{selection}/mbeir_{dataset}_task7_test_multimodal"
        cells = [
            (
                *(row.index, "", "label", selection, row.label, row.label, "either"),
                *(row.text, row.image_path, row.positive_id, 3, 20, 30),
            )
            for row in rows
        ]
        self._table(f"{stem}.trace.csv", TRACE_COLUMNS, cells)
        if with_queries:
            lines = [json.dumps({"query_id": row.native_id, "query_text": row.text}) for row in rows]
            self._write(f"{stem}.jsonl", "".join(f"{line}\n" for line in lines))

    def export(self, dataset: str, rows: Sequence[Audited]) -> None:
        header = ["query_idx", "query_id", "aggregate_label", "query_text", "query_image_ref", "primary_pos_cand_id"]
        cells = [[row.index, "", row.label, row.text, row.image_path, row.positive_id] for row in rows]
        self._table(f"croissant/exports/{dataset}_shortcut_free.csv", header, cells)

    def validated_export(self, dataset: str, labelled: Mapping[str, Iterable[int]]) -> None:
        header = ["dataset", "hidden_category", "validated", "query_idx", "query_text", "full_text"]
        cells = [
            [dataset, label, "true", index, "text", "instruction\ntext"]
            for label, indices in labelled.items()
            for index in indices
        ]
        self._table(f"croissant/exports/{dataset}_validated.csv", header, cells)

    def query_indices(self, dataset: str, solved: Sequence[int], unsolved: Sequence[int]) -> None:
        for human, indices in (("solved", solved), ("unsolved", unsolved)):
            name = f"final_dataset/query_indices/{dataset}_validated_{human}_query_indices.json"
            self._write(name, json.dumps({"dataset": dataset, "query_indices": list(indices)}, indent=2))

    def audit(self, dataset: str, gallery_paths: Sequence[str]) -> None:
        name = f"shortcut_audit/retrieval_data_{dataset}_task7_aggregated_best_rank_mm_any.json"
        self._write(
            name, json.dumps({"metadata": {}, "summary": {}, "gallery_paths": list(gallery_paths), "samples": []})
        )

    def _table(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        path = self._path(name)
        with path.open("w", encoding="utf-8", newline="") as opened:
            writer = csv.writer(opened, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)

    def _write(self, name: str, text: str) -> None:
        self._path(name).write_text(text, encoding="utf-8")

    def _path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


SKIPPED = (7, 126, 5_000, 12_345, 20_000, 29_999)
"""Rows of lasco_val.json that the audit left out, so that 30,031 of 30,037 remain."""
ROWS = 30_037
SOLVABLE, FREE = "shortcut_solvable", ("composition_required", "unresolved")


def lasco_id(number: int) -> int:
    """Return the number-th image id of the made-up corpus; ids have gaps, as COCO's have."""
    return 9 + 13 * number


def lasco_native(folder: Path) -> list[dict[str, Any]]:
    """Write and return ``lasco_val.json``: skipped rows have no text, or an image that the corpus lacks."""
    rows = []
    for row in range(ROWS):
        reference, target = lasco_id(row // 3), lasco_id((7 * row) % 39_826)
        if row in SKIPPED[3:]:
            target = 599_999
        text = "" if row in SKIPPED[:3] else f"change {row}"
        images = {
            name: [image, f"val2014/COCO_val2014_{image:012}.jpg"]
            for name, image in (("query-image", reference), ("target-image", target))
        }
        rows.append({"qid": -row if row % 2 else row, "query-text": text, **images})
    (folder / "lasco_val.json").write_text(json.dumps(rows), encoding="utf-8")
    return rows


def lasco_corpus(folder: Path) -> None:
    """Write ``lasco_val_corpus.json`` with its 39,826 images."""
    images = [{"id": lasco_id(number), "path": f"val/{number}.jpg"} for number in range(39_826)]
    (folder / "lasco_val_corpus.json").write_text(json.dumps(images), encoding="utf-8")


def lasco_audited(native: Sequence[Mapping[str, Any]]) -> list[Audited]:
    """Return the 30,031 audited rows with labels of the published sizes: 2,064, 16,354 and 11,613."""
    kept = [row for row in range(ROWS) if row not in SKIPPED]
    shuffled = sorted(kept, key=lambda row: (row * 7_919) % 30_047)
    label = dict.fromkeys(kept, SOLVABLE)
    label |= dict.fromkeys(shuffled[:2_064], FREE[0]) | dict.fromkeys(shuffled[2_064:18_418], FREE[1])
    return [
        Audited(
            index=row,
            label=label[row],
            text=native[row]["query-text"],
            image_path=f"<path_to_lasco_mbeir>/{native[row]['query-image'][1]}",
            positive_id=f"lasco_img_{native[row]['target-image'][0]}",
            native_id=f"lasco_q_test_{native[row]['qid']}",
        )
        for row in kept
    ]
