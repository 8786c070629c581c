"""What single models achieve: Recall@10, Composition Gap and shortcut leak, by the measures that boards use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from evaluator.audit.labels import UNIMODAL, Labelling, Member, solved
from evaluator.audit.report_tables import Cell, Column, Table, Unit, by_condition
from evaluator.measures import UnavailableError, parse
from evaluator.measures.base import Measure
from evaluator.measures.sample import Sample, Sheet
from evaluator.measures.view import RunView
from evaluator.types import BoolArray, Condition, JudgedRanks, Split, Subset

ONLY_BEST = "not available: only best ranks were published"
AT = 10
"""Where recall and leak are cut, whatever K the labels have."""
PUBLISHED = (Subset.FULL, Subset.ALL, Subset.ORIGINAL, Subset.SF, Subset.V)
ROLLED = (Subset.SF_ROLLED, Subset.V_ROLLED)
POOL = "the whole pool, best rank"

Judged = Mapping[str, Mapping[Condition, JudgedRanks]]
Ask = Callable[[str, Condition], Cell]
"""Measure and condition -> the value on the subset at hand, or why there is none."""


def recall(split: Split, labelling: Labelling, judged: Judged) -> Table:
    """Return Recall@10 of each model under each condition, and the share that either unimodal condition solves."""

    def cells(ask: Ask) -> list[Cell]:
        return [*(ask(f"Recall_any@{AT}", each) for each in Condition), ask(f"ShortcutLeak@{AT}", Condition.TEXT_ONLY)]

    subsets = [subset for subset in PUBLISHED if subset in split.subsets]
    rows = list(_rows(split, labelling, judged, subsets, cells, 4))
    rows += [[POOL, str(subset), *_pool(labelling, split.subsets[subset])] for subset in subsets]
    return Table(
        "recall",
        f"Recall@{AT} by model and condition, percent of queries",
        (*_MODEL, *by_condition(Unit.SHARE), Column("either", "Text or image only", Unit.SHARE)),
        rows,
        f"Share of the subset's queries with a right image among the first {AT}. On SF the pool's own models solve "
        "nothing from one modality where SF comes from this pool: that is how SF is made.",
    )


def gap(split: Split, labelling: Labelling, judged: Judged) -> Table:
    """Return the Composition Gap of each model with its three means of full-gallery nDCG."""

    def cells(ask: Ask) -> list[Cell]:
        return [ask("CompositionGap", Condition.MULTIMODAL), *(ask("nDCG", condition) for condition in Condition)]

    subsets = [subset for subset in (*PUBLISHED, *ROLLED) if subset in split.subsets]
    return Table(
        "gap",
        "Composition Gap by model and subset",
        (*_MODEL, Column("gap", "Composition Gap", Unit.NUMBER), *by_condition(Unit.NUMBER, " nDCG")),
        list(_rows(split, labelling, judged, subsets, cells, 4)),
        "1 − max(image-only, text-only) / multimodal, of the mean full-gallery nDCG of one model under each condition. "
        "Below zero where a single modality does better than both.",
    )


def leak(split: Split, labelling: Labelling, judged: Judged) -> Table:
    """Return how much of SF and V each model still solves from one modality."""

    def cells(ask: Ask) -> list[Cell]:
        alone = (ask(f"Recall_any@{AT}", condition) for condition in UNIMODAL)
        return [ask(f"ShortcutLeak@{AT}", Condition.TEXT_ONLY), *alone]

    subsets = [subset for subset in (Subset.SF, Subset.V) if subset in split.subsets]
    return Table(
        "leak",
        f"Shortcut leak at {AT} by model, percent of SF and V",
        (*_MODEL, Column("leak", "Shortcut leak", Unit.SHARE), *by_condition(Unit.SHARE)[1:]),
        list(_rows(split, labelling, judged, subsets, cells, 3)),
        f"Share of the published SF and V that a model solves among the first {AT} from the text alone or the image "
        "alone. Those queries leave SF′ and V′.",
    )


_MODEL = (Column("model", "Model"), Column("subset", "Subset"))


def _rows(
    split: Split,
    labelling: Labelling,
    judged: Judged,
    subsets: Iterable[Subset],
    cells: Callable[[Ask], list[Cell]],
    width: int,
) -> Iterable[list[Cell]]:
    """Yield model, subset and ``width`` cells for every model and subset."""
    samples = {subset: _sample(split, subset) for subset in subsets}
    for member in labelling.members:
        sheet = _sheet(split, member, judged)
        for subset, sample in samples.items():
            found = [ONLY_BEST] * width if sheet is None else cells(_asking(sheet, sample))
            yield [member.name, str(subset), *found]


def _sheet(split: Split, member: Member, judged: Judged) -> Sheet | None:
    """Return a member's columns, which its subsets share; None for a frozen pool."""
    if member.name not in judged:
        return None
    return Sheet(split, {condition: RunView(split, ranks) for condition, ranks in judged[member.name].items()})


def _sample(split: Split, subset: Subset) -> Sample | str:
    try:
        return Sample(split, subset)
    except UnavailableError as error:
        return str(error)


def _asking(sheet: Sheet, sample: Sample | str) -> Ask:
    def ask(name: str, condition: Condition) -> Cell:
        return sample if isinstance(sample, str) else value(sheet, sample, parse(name), condition)

    return ask


def value(sheet: Sheet, sample: Sample, measure: Measure, condition: Condition) -> float | str:
    """Return a measure without its interval, or the reason why it has no value."""
    try:
        means = [
            np.asarray(sum(weight * sample.values(sheet, term, condition).values.mean() for weight, term in mix))
            for mix in measure.mixes(sheet.split)
        ]
    except UnavailableError as error:
        return str(error)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = float(measure.combine(*means))
    return found if np.isfinite(found) else measure.undefined


def _pool(labelling: Labelling, mask: BoolArray) -> list[Cell]:
    """Return the share of a subset that any model of the pool solves, in the order of the recall's columns."""
    if not mask.any():
        return ["not available: no query is in this subset"] * 4
    found = {condition: solved(labelling.rank[condition], AT) for condition in Condition}
    either = found[Condition.TEXT_ONLY] | found[Condition.IMAGE_ONLY]
    return [float(column[mask].mean()) for column in (*found.values(), either)]
