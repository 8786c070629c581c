"""What ``figure.js`` draws beside the tables of a report: made of their rows, so that both say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Table = Mapping[str, Any]
Figure = dict[str, Any]
_CLASS_WORDS = {
    "text": "shortcut (text)",
    "image": "shortcut (image)",
    "both": "shortcut (both)",
}


def figures_of(table: Table, k: int) -> list[Figure]:
    """Return the figures of a table, with the titles of its axes; none where nothing of it can be drawn."""
    draw = _DRAWN.get(table["key"])
    return [figure for figure in draw(table, k) if _has_numbers(figure)] if draw else []


def flow_figure(title: str, sizes: Iterable[tuple[str, str, int]], order: Sequence[str]) -> Figure:
    """Return the flow from labels (left) to labels (right); ``sizes`` are (before, after, queries)."""
    flows = list(sizes)
    sides = [{name: sum(each[2] for each in flows if each[side] == name) for name in order} for side in (0, 1)]
    shown = [(side, name) for side in (0, 1) for name in order if sides[side][name]]
    place = {key: number for number, key in enumerate(shown)}
    return {
        "kind": "flow",
        "title": title,
        "nodes": [{"name": name, "side": side, "size": sides[side][name]} for side, name in shown],
        "links": [
            {"source": place[0, before], "target": place[1, after], "value": size} for before, after, size in flows
        ],
    }


def _has_numbers(figure: Figure) -> bool:
    if "series" not in figure:
        return bool(figure.get("values"))
    return any(value is not None for series in figure["series"] for value in series.get("values", series.get("x")))


def _number(cell: Any) -> float | int | None:
    return cell if isinstance(cell, int | float) else None


def _column(table: Table, key: str) -> list[Any]:
    place = [column["key"] for column in table["columns"]].index(key)
    return [row[place] for row in table["rows"]]


def _series(table: Table, keys: Iterable[str], factor: float = 1) -> list[dict[str, Any]]:
    titles = {column["key"]: column["title"] for column in table["columns"]}
    return [{"name": titles[key], "values": _scaled(_column(table, key), factor)} for key in keys]


def _scaled(cells: Iterable[Any], factor: float) -> list[float | int | None]:
    numbers = map(_number, cells)
    return [number if number is None or factor == 1 else round(number * factor, 4) for number in numbers]


def _bars(table: Table, title: str, x: str, y: str, **more: Any) -> Figure:
    return {"kind": "bars", "title": title or table["title"], "x": x, "y": y, **more}


def _counts(table: Table, k: int) -> list[Figure]:
    kinds = ("Shortcut, ", "Composition", "Unresolved")
    rows = [row for row in table["rows"] if row[0].startswith(kinds)]
    series = [{"name": "Queries", "values": [row[1] for row in rows]}]
    return [_bars(table, "", "Label", "Queries", labels=[row[0] for row in rows], series=series)]


def _rolled(table: Table, k: int) -> list[Figure]:
    series = _series(table, ("published", "rolled"))
    return [_bars(table, "", "Subset", "Queries", labels=_column(table, "subset"), series=series)]


def _planted(table: Table, k: int) -> list[Figure]:
    keys = [column["key"] for column in table["columns"] if column["key"].startswith("found_")]
    labels = [_CLASS_WORDS.get(name, name) for name in _column(table, "planted")]
    return [_bars(table, "", "Planted as", "Queries", labels=labels, series=_series(table, keys), stacked=True)]


def _by_subset(table: Table, subset: str, keys: Sequence[str], title: str, y: str, unit: str, factor: float) -> Figure:
    kept = {**table, "rows": [row for row in table["rows"] if row[1] == subset and _number(row[2]) is not None]}
    series = _series(kept, keys, factor)
    return _bars(table, title, "Model", y, labels=_column(kept, "model"), series=series, unit=unit)


def _recall(table: Table, k: int) -> list[Figure]:
    keys = ("multimodal", "text-only", "image-only", "either")
    return [
        _by_subset(table, subset, keys, f"Recall@10 by model and condition, {subset}", "Recall@10, %", "percent", 100)
        for subset in dict.fromkeys(_column(table, "subset"))
    ]


def _of_models(table: Table, key: str, y: str, unit: str, factor: float) -> list[Figure]:
    """Return bars by model, a series for each subset."""
    models, subsets = dict.fromkeys(_column(table, "model")), dict.fromkeys(_column(table, "subset"))
    numbers = {
        (model, subset): number
        for model, subset, number in zip(
            _column(table, "model"), _column(table, "subset"), _scaled(_column(table, key), factor), strict=True
        )
    }
    labels = [model for model in models if any(numbers.get((model, subset)) is not None for subset in subsets)]
    series = [{"name": subset, "values": [numbers.get((model, subset)) for model in labels]} for subset in subsets]
    return [_bars(table, "", "Model", y, labels=labels, series=series, unit=unit)]


def _gap(table: Table, k: int) -> list[Figure]:
    return _of_models(table, "gap", "Composition Gap", "number", 1)


def _leak(table: Table, k: int) -> list[Figure]:
    return _of_models(table, "leak", "Shortcut leak, %", "percent", 100)


def _support(table: Table, k: int) -> list[Figure]:
    labels = [str(number) for number in _column(table, "models")]
    series = _series(table, ("multimodal", "text-only", "image-only", "either"))
    return [_bars(table, "", "Models that solve a query", "Queries", labels=labels, series=series)]


def _ranks(table: Table, k: int) -> list[Figure]:
    return [
        {
            "kind": "heat",
            "title": table["title"],
            "x": "Best image-only rank, logarithmic bins",
            "y": "Best text-only rank",
            "labels": [column["title"] for column in table["columns"][1:]],
            "rows": [row[0] for row in table["rows"]],
            "values": [row[1:] for row in table["rows"]],
        }
    ]


def _points(table: Table, k: int) -> list[Figure]:
    """Return the points of queries that have both ranks; those without stand in the heat map only."""
    series = []
    for label in sorted(set(_column(table, "label")), key=_place):
        rows = [row for row in table["rows"] if row[1] == label and row[3] and row[4]]
        name = _CLASS_WORDS.get(label, label)
        texts, text_ranks, image_ranks = ([row[place] for row in rows] for place in (0, 3, 4))
        series.append({"name": name, "texts": texts, "x": text_ranks, "y": image_ranks})
    deepest = max((rank for row in table["rows"] for rank in row[3:5]), default=1)
    axes = {"x": "Best text-only rank", "y": "Best image-only rank"}
    return [
        {
            "kind": "points",
            "title": table["title"],
            **axes,
            "series": series,
            "limit": k + 0.5,
            "deepest": max(deepest, 10),
        }
    ]


def _place(label: str) -> int:
    order = (*_CLASS_WORDS, "composition-required", "unresolved")
    return order.index(label) if label in order else len(order)


def _by_k(table: Table, k: int) -> list[Figure]:
    series = _series(table, ("sf", "shortcut", "composition-required", "unresolved"))
    more = {"labels": _column(table, "k"), "series": series, "log": True}
    return [{"kind": "lines", "title": table["title"], "x": "K, logarithmic", "y": "Queries", **more}]


def _by_models(table: Table, k: int) -> list[Figure]:
    series = [{"name": "SF", "values": _scaled(_column(table, "share"), 100)}]
    axes = {"x": "Models in the pool", "y": "SF, % of Full"}
    labels = _column(table, "models")
    return [{"kind": "lines", "title": table["title"], **axes, "labels": labels, "series": series, "unit": "percent"}]


def _left_out(table: Table, k: int) -> list[Figure]:
    series = _series(table, ("changed", "freed", "unresolved"))
    return [_bars(table, "", "Model left out", "Queries", labels=_column(table, "model"), series=series)]


_DRAWN: Mapping[str, Callable[[Table, int], list[Figure]]] = {
    "counts": _counts,
    "rolled": _rolled,
    "planted": _planted,
    "recall": _recall,
    "support": _support,
    "ranks": _ranks,
    "points": _points,
    "gap": _gap,
    "leak": _leak,
    "by-k": _by_k,
    "by-models": _by_models,
    "leave-one-out": _left_out,
}
