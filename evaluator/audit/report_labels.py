"""What the labels say of a split: their counts, supports, ranks, and what they depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluator.audit.influence import leave_one_out, rolled, size_by_models, sizes_by_k
from evaluator.audit.labels import KINDS, LABELS, UNIMODAL, Kind, Label, Labelling
from evaluator.audit.report_tables import Cell, Column, Table, Unit, by_condition
from evaluator.rank_counts import bin_edges
from evaluator.types import Condition, IntArray, Split, Subset

MAX_POINTS = 2_000
"""Up to so many queries a report holds each one's ranks; a page draws them as points."""
NOT_RANKED = "not ranked"
CLASSES = (*map(str, KINDS), str(Label.COMPOSITION_REQUIRED), str(Label.UNRESOLVED))
"""What a query can be, shortcuts by their kind."""
_KIND_WORDS = {Kind.TEXT: "from the text alone", Kind.IMAGE: "from the image alone", Kind.BOTH: "from either alone"}


def counts(split: Split, labelling: Labelling) -> Table:
    """Return the counts of the paper's table: labels, kinds, SF, V and Full."""
    total = len(split)
    rows: list[tuple[str, int]] = [
        (f"Shortcut, {_KIND_WORDS[kind]}", int(labelling.of_kind(kind).sum())) for kind in KINDS
    ]
    rows += [(_titled(name), int(labelling.has(name).sum())) for name in LABELS]
    rows.append(("SF by this audit", int(labelling.shortcut_free.sum())))
    if Subset.V in split.subsets:
        rows.append(("V, validated by people", int(split.subsets[Subset.V].sum())))
    rows.append(("Full", total))
    return Table(
        "counts",
        f"Queries by label, K = {labelling.k}",
        (Column("label", "Label"), Column("queries", "Queries", Unit.QUERIES), Column("share", "of Full", Unit.SHARE)),
        [[name, count, _share(count, total)] for name, count in rows],
        f"Shortcut: some model has a right image among its first {labelling.k} from the text alone or the image alone. "
        "Composition-required: no shortcut, and some model has one with both. Unresolved: neither. SF is the latter "
        "two. V is no rate of SF: on FashionIQ and LaSCo people looked at a sample of it only.",
    )


def rolled_sizes(split: Split, labelling: Labelling) -> Table:
    """Return the sizes of SF and V as published and as this audit leaves them (decision 39)."""
    kept = rolled(split, labelling)
    pairs = ((Subset.SF, Subset.SF_ROLLED), (Subset.V, Subset.V_ROLLED))
    rows: list[list[Cell]] = []
    for before, after in pairs:
        published = int(split.subsets[before].sum()) if before in split.subsets else None
        size = int(kept[after].sum()) if after in kept else None
        gone = None if published is None or size is None else published - size
        if published is not None or size is not None:
            rows.append([f"{before} → {after}", "none published" if published is None else published, size, gone])
    return Table(
        "rolled",
        "SF and V as published, and without the shortcuts of this audit",
        (
            Column("subset", "Subset"),
            Column("published", "Published", Unit.QUERIES),
            Column("rolled", "After this audit", Unit.QUERIES),
            Column("removed", "Removed", Unit.QUERIES),
        ),
        rows,
        "SF′ is SF, or Full where none was published, without the queries that this pool solves from one modality; "
        "V′ is what V keeps in SF′. The published lists stay as they are.",
    )


def support(labelling: Labelling) -> Table:
    """Return how many queries are solved by exactly 0, 1, 2, ... models under each condition."""
    sizes = {name: np.bincount(each, minlength=labelling.models + 1) for name, each in _supports(labelling).items()}
    return Table(
        "support",
        f"Queries by the number of models that solve them, K = {labelling.k}",
        (
            Column("models", "Models", Unit.MODELS),
            *by_condition(Unit.QUERIES),
            Column("either", "Text or image only", Unit.QUERIES),
        ),
        [[number, *(int(size[number]) for size in sizes.values())] for number in range(labelling.models + 1)],
        f"A model solves a query when a right image is among its first {labelling.k}. {_caution(labelling)}".strip(),
    )


def ranks_against(labelling: Labelling) -> Table:
    """Return counts by text-only rank (rows) and image-only rank (columns), in logarithmic bins."""
    text, image = (labelling.rank[condition] for condition in UNIMODAL)
    edges = bin_edges(int(max(text.max(initial=1), image.max(initial=1), 1)))
    table = np.zeros((len(edges) + 1, len(edges) + 1), dtype=np.int64)
    np.add.at(table, (_binned(text, edges), _binned(image, edges)), 1)
    names = [*_bin_names(edges), NOT_RANKED]
    used = [
        number for number in range(len(names)) if number < len(edges) or table[number].any() or table[:, number].any()
    ]
    return Table(
        "ranks",
        "Queries by best text-only rank (rows) and best image-only rank (columns)",
        (
            Column("text_rank", "Text-only rank"),
            *(Column(f"image_{names[number]}".replace(" ", "_"), names[number], Unit.QUERIES) for number in used),
        ),
        [[names[row], *(int(table[row, column]) for column in used)] for row in used],
        f"The best rank of a right image over the pool, in logarithmic bins. Shortcuts have one of the two up to "
        f"{labelling.k}.",
    )


def points(split: Split, labelling: Labelling) -> tuple[Table, ...]:
    """Return the best ranks of every query with its label; nothing for a split of more than MAX_POINTS."""
    if len(split) > MAX_POINTS:
        return ()
    classes = _classes(labelling)
    ranks = [labelling.rank[condition].tolist() for condition in Condition]
    rows = [[*cells] for cells in zip(split.query_ids, classes, *ranks, strict=True)]
    columns = (Column("query", "Query"), Column("label", "Label"), *by_condition(Unit.RANK, " rank"))
    return (Table("points", "Best text-only rank against best image-only rank, query by query", columns, rows),)


def by_k(labelling: Labelling) -> Table:
    """Return the sizes of the labels and of SF for several K."""
    total = len(labelling)
    rows: list[list[Cell]] = []
    for k, sizes in sizes_by_k(labelling):
        free = total - sizes[str(Label.SHORTCUT)]
        rows.append([k, *(sizes[str(name)] for name in LABELS), free, _share(free, total)])
    return Table(
        "by-k",
        "Size of SF by K",
        (
            Column("k", "K", Unit.RANK),
            *(Column(str(name), _titled(name), Unit.QUERIES) for name in LABELS),
            Column("sf", "SF", Unit.QUERIES),
            Column("share", "SF of Full", Unit.SHARE),
        ),
        rows,
        f"The audit's own K is {labelling.k}. A larger K calls more queries shortcuts.",
    )


def by_models(labelling: Labelling) -> Table:
    """Return the mean size of SF over all pools of m of the models."""
    total = len(labelling)
    return Table(
        "by-models",
        f"Size of SF by the number of models in the pool, K = {labelling.k}",
        (
            Column("models", "Models", Unit.MODELS),
            Column("sf", "SF, mean over all such pools", Unit.NUMBER),
            Column("share", "of Full", Unit.SHARE),
        ),
        [[number, size, _share(size, total)] for number, size in size_by_models(labelling)],
        f"Exact, over every choice of so many of the pool's models. {_caution(labelling)}".strip(),
    )


def left_out(labelling: Labelling) -> Table:
    """Return what each member decides alone."""
    return Table(
        "leave-one-out",
        f"What each model decides: the labels without it, K = {labelling.k}",
        (
            Column("model", "Left out"),
            Column("models", "Models", Unit.MODELS),
            Column("changed", "Labels changed", Unit.QUERIES),
            Column("freed", "Shortcuts by it alone", Unit.QUERIES),
            Column("unresolved", "Solved with both by it alone", Unit.QUERIES),
            Column("sf", "SF without it", Unit.QUERIES),
        ),
        [
            [each.name, each.models, each.changed, each.freed, each.unresolved, each.shortcut_free]
            for each in leave_one_out(labelling)
        ],
        f"With all of them SF has {int(labelling.shortcut_free.sum()):,} queries. A frozen pool is left out as a whole."
        if len(labelling.members) > 1
        else "A pool of one member has nothing to leave out.",
    )


def planted_found(split: Split, labelling: Labelling, planted: Mapping[str, str]) -> Table:
    """Return what queries were built to be (rows) against what the audit found (columns)."""
    built = [planted[query] for query in split.query_ids]
    found = _classes(labelling)
    rows: list[list[Cell]] = []
    for name in CLASSES:
        seen = [other for each, other in zip(built, found, strict=True) if each == name]
        right = sum(other in _FITTING.get(name, (name,)) for other in seen)
        share = _share(right, len(seen)) if seen else "none planted"
        rows.append([name, len(seen), *(seen.count(other) for other in CLASSES), right, share])
    return Table(
        "planted",
        "Planted labels (rows) against those found (columns)",
        (
            Column("planted", "Planted as"),
            Column("queries", "Queries", Unit.QUERIES),
            *(Column(f"found_{name}", f"found {name}", Unit.QUERIES) for name in CLASSES),
            Column("right", "Rightly found", Unit.QUERIES),
            Column("share", "Share found", Unit.SHARE),
        ),
        rows,
        "This split was built, so what each query needs is known. A planted text shortcut is found when the text alone "
        "solves it, whether the image alone does so too or not; the same for image shortcuts. Anything else is found "
        "under its own label only.",
    )


_FITTING = {"text": ("text", "both"), "image": ("image", "both")}


def _classes(labelling: Labelling) -> list[str]:
    """Return each query's label, of a shortcut its kind."""
    pairs = zip(labelling.label.tolist(), labelling.kind.tolist(), strict=True)
    return [str(KINDS[kind]) if kind >= 0 else str(LABELS[label]) for label, kind in pairs]


def _supports(labelling: Labelling) -> dict[str, IntArray]:
    return {**{str(condition): labelling.support[condition] for condition in Condition}, "either": labelling.either}


def _caution(labelling: Labelling) -> str:
    """Return what to say where a frozen pool's support is not known at this K."""
    other = [each for each in labelling.members if each.frozen is not None and each.frozen.k != labelling.k]
    if not other:
        return ""
    names = ", ".join(each.name for each in other)
    return (
        f"How many models of {names} solve a query is known for another K only; here each of its queries counts once."
    )


def _binned(ranks: IntArray, edges: Sequence[int]) -> IntArray:
    """Return (n,) the number of each rank's bin; the one behind all others for 0."""
    return np.where(ranks > 0, np.searchsorted(edges, ranks), len(edges)).astype(np.int32)


def _bin_names(edges: Sequence[int]) -> list[str]:
    lows = [edge + 1 for edge in (0, *edges[:-1])]
    return [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in zip(lows, edges, strict=True)]


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


def _titled(name: Label) -> str:
    return str(name).capitalize()
