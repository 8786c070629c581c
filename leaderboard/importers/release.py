"""The release folder of CIRCUS (matteoattimonelli/CIRCUS): gallery lists, audit traces, subset lists.

Index lists typed over from it are read too, ``{dataset}_shortcut_free_query_indices.json`` and
``{dataset}_validated_query_indices.json``. Lists are taken as published and never derived again (decisions 4, 39).
Paths inside these files carry other people's prefixes: images are known by base name only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.importers.assemble import require_distinct
from leaderboard.importers.official import Folders, read_json_lines, read_object, read_table, whole_number
from leaderboard.importers.refusal import Difference, ImportRefused, compare_counts, refuse_any, require_none

COMPOSITION_REQUIRED, UNRESOLVED = "composition_required", "unresolved"
_HUMAN_NAMES = {COMPOSITION_REQUIRED: "solved", UNRESOLVED: "unsolved"}
"""What the release calls the validated queries of each label."""

SHORTCUT_FREE = {
    "cirr": {COMPOSITION_REQUIRED: 271, UNRESOLVED: 414},
    "fashioniq": {COMPOSITION_REQUIRED: 1_462, UNRESOLVED: 2_607},
    "lasco": {COMPOSITION_REQUIRED: 2_064, UNRESOLVED: 16_354},
    "circo": {COMPOSITION_REQUIRED: 53, UNRESOLVED: 3},
}
"""Published sizes of SF by label; SF is their union."""

SHORTCUT_SOLVABLE = "shortcut_solvable"
SHORTCUTS = {"cirr": 3_485, "fashioniq": 1_934, "lasco": 11_613, "circo": 164}
"""Published numbers of shortcuts: Full without SF."""

VALIDATED = {
    "cirr": {COMPOSITION_REQUIRED: 147, UNRESOLVED: 156},
    "fashioniq": {COMPOSITION_REQUIRED: 368, UNRESOLVED: 218},
    "lasco": {COMPOSITION_REQUIRED: 452, UNRESOLVED: 306},
    "circo": {COMPOSITION_REQUIRED: 39, UNRESOLVED: 3},
}
"""Published sizes of V by label: 303, 586, 758 and 42."""

Labelled = Mapping[str, tuple[int, ...]]
"""label -> query_idx of its queries."""


@dataclass(frozen=True)
class Lists:
    """The subset lists of one data set; None where a list is not at hand."""

    shortcut_free: Labelled | None
    validated: Labelled | None
    references: Mapping[int, str] = field(default_factory=dict)
    """query_idx -> path of its reference image, where the list's file says it: tells a shifted numbering."""


@dataclass(frozen=True)
class TraceRow:
    """One audited query of a trace file."""

    index: int
    text: str
    reference_path: str
    positive_id: str
    native_id: str
    """``lasco_q_test_...`` from the query file beside the trace; empty where that file is missing."""


def audit_name(dataset: str) -> str:
    """Return the name of the audit file, which LaSCo's release lacks."""
    return f"shortcut_audit/retrieval_data_{dataset}_task7_aggregated_best_rank_mm_any.json"


def read_gallery_paths(folders: Folders, dataset: str) -> tuple[str, ...] | None:
    """Return the gallery list of the audit file, as its paths; None where that file is not at hand."""
    path = folders.find(audit_name(dataset))
    if path is None:
        return None
    paths = read_object(path).texts("gallery_paths")
    require_distinct("gallery_paths", paths, str(path))
    return tuple(paths)


def read_lists(folders: Folders, dataset: str) -> Lists:
    """Return SF and V with their published sizes and V inside SF, label by label. Raises ImportRefused."""
    shortcut_free, references = _read_shortcut_free(folders, dataset)
    validated = _read_validated(folders, dataset)
    if shortcut_free is not None and validated is not None:
        _require_nested(shortcut_free, validated, dataset)
    return Lists(shortcut_free, validated, references)


def read_traces(folders: Folders, dataset: str) -> tuple[TraceRow, ...] | None:
    """Return every audited query by query_idx (shortcut_free and shortcut_solvable); None where a trace is missing."""
    names = [trace_name(dataset, label) for label in ("shortcut_free", SHORTCUT_SOLVABLE)]
    paths = [path for name in names if (path := folders.find(f"{name}.trace.csv")) is not None]
    if len(paths) < len(names):
        return None
    rows = [row for path in paths for row in _trace_rows(path)]
    require_distinct("query_idx", [str(row.index) for row in rows], f"{dataset} traces")
    return tuple(sorted(rows, key=lambda row: row.index))


def trace_name(dataset: str, label: str) -> str:
    """Return the name of the files about the queries of one label, without their endings."""
    return f"shortcut_free_subsets/{dataset}/{label}/mbeir_{dataset}_task7_test_multimodal"


def _trace_rows(path: Path) -> list[TraceRow]:
    rows = read_table(path, "query_idx", "query_text", "query_img_path", "primary_pos_cand_id")
    natives = _native_ids(path.with_name(path.name.removesuffix(".trace.csv") + ".jsonl"), len(rows))
    return [
        TraceRow(
            whole_number(row["query_idx"], "query_idx", path),
            row["query_text"],
            row["query_img_path"],
            row["primary_pos_cand_id"],
            native,
        )
        for row, native in zip(rows, natives, strict=True)
    ]


def _native_ids(path: Path, rows: int) -> list[str]:
    """Return the ids of the query file, whose line n belongs to row n of the trace."""
    if not path.is_file():
        return [""] * rows
    ids = [str(record.fields.get("query_id", "")) for record in read_json_lines(path)]
    refuse_any(compare_counts({"lines beside the trace": rows}, {"lines beside the trace": len(ids)}, str(path)))
    return ids


def _read_shortcut_free(folders: Folders, dataset: str) -> tuple[Labelled | None, Mapping[int, str]]:
    table = folders.find(
        f"{trace_name(dataset, 'shortcut_free')}.trace.csv", f"croissant/exports/{dataset}_shortcut_free.csv"
    )
    listed = folders.find(f"{dataset}_shortcut_free_query_indices.json")
    references: dict[int, str] = {}
    if table is not None:
        labelled, references = _from_table(table, "aggregate_label")
    elif listed is not None:
        labelled = {label: tuple(read_object(listed).wholes(label)) for label in _HUMAN_NAMES}
    else:
        return None, {}
    _require_sizes("SF", labelled, SHORTCUT_FREE[dataset], str(table or listed))
    return labelled, references


def _read_validated(folders: Folders, dataset: str) -> Labelled | None:
    names = {
        label: f"final_dataset/query_indices/{dataset}_validated_{human}_query_indices.json"
        for label, human in _HUMAN_NAMES.items()
    }
    table = folders.find(f"croissant/exports/{dataset}_validated.csv")
    listed = folders.find(f"{dataset}_validated_query_indices.json")
    if any(folders.find(name) for name in names.values()):
        lists = {label: read_object(folders.require(name)).wholes("query_indices") for label, name in names.items()}
        labelled: Labelled = {label: tuple(indices) for label, indices in lists.items()}
    elif table is not None:
        labelled = _from_table(table, "hidden_category")[0]
    elif listed is not None:
        record = read_object(listed)
        labelled = {label: tuple(record.wholes(f"validated_{human}")) for label, human in _HUMAN_NAMES.items()}
    else:
        return None
    _require_sizes("V", labelled, VALIDATED[dataset], f"{dataset}: validated query indices")
    return labelled


def _from_table(path: Path, label_column: str) -> tuple[Labelled, dict[int, str]]:
    rows = read_table(path, "query_idx", label_column)
    labelled: dict[str, list[int]] = {label: [] for label in _HUMAN_NAMES}
    references: dict[int, str] = {}
    for row in rows:
        index = whole_number(row["query_idx"], "query_idx", path)
        if row[label_column] not in labelled:
            raise ImportRefused(Difference(label_column, " or ".join(labelled), repr(row[label_column]), str(path)))
        labelled[row[label_column]].append(index)
        references[index] = row.get("query_img_path") or row.get("query_image_ref") or ""
    return {label: tuple(indices) for label, indices in labelled.items()}, references


def _require_sizes(subset: str, labelled: Labelled, published: Mapping[str, int], file: str) -> None:
    expected = {f"{subset} queries, {label}": count for label, count in published.items()}
    found = {f"{subset} queries, {label}": len(set(labelled[label])) for label in published}
    refuse_any(compare_counts(expected, found, file))
    both = set(labelled[COMPOSITION_REQUIRED]) & set(labelled[UNRESOLVED])
    require_none(f"{subset} queries with two labels", [str(index) for index in sorted(both)], file)


def _require_nested(shortcut_free: Labelled, validated: Labelled, dataset: str) -> None:
    for label, indices in validated.items():
        outside = sorted(set(indices) - set(shortcut_free[label]))
        require_none(f"V queries that are not {label} in SF", [str(index) for index in outside], dataset)
