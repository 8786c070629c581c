"""Which columns a board has: the first measure, then the main ones, or everything with ``?columns=all``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from evaluator.measures import describe
from evaluator.measures.base import FULL_GALLERY
from evaluator.types import Breakdown, Condition, Protocol

SHORT = {
    "circus": ("Recall@10", "Recall_any@10", "mAP@10", "nDCG@10", "CompositionGap", "ShortcutLeak@10"),
    "pinpoint": (
        "mAP@10",
        "NegRecall@10",
        "RelDeltamAP@10",
        "LingSens(Precision@10)",
        "LingSens(mAP@10)",
        "MultiDrop(mAP@10)",
        "Judged@10",
        "mAP_judged@10",
    ),
}
"""Family -> the measures its board shows at first sight; families that are not here show all."""
SHORT_BREAKDOWNS = {"fashioniq": ("category",)}
"""Family -> the group dimensions of that first sight: FashionIQ's tables have always had its categories."""


@dataclass(frozen=True)
class Column:
    """One column: a measure on a subset under a condition ("" for measures of several), for all queries or a group."""

    measure: str
    subset: str
    condition: str
    group: str = ""

    @property
    def key(self) -> str:
        """Its name in an address: ``Recall@10:V``, or ``Recall@10:Full:category=dress`` for one group."""
        return ":".join(part for part in (self.measure, self.subset, self.group) if part)

    @property
    def score_key(self) -> tuple[str, str, str, str]:
        """What identifies the score of an entry that stands in this column."""
        return self.subset, self.condition, self.group, self.measure


@dataclass(frozen=True)
class ColumnGroup:
    """Columns under one heading: a measure's subsets, a measure's group values, or a group value's measures."""

    measure: str
    """The measure in the heading; empty where the heading is a group value."""
    value: str
    """The group value in the heading; empty where it has none."""
    columns: tuple[Column, ...]


def first_column(protocol: Protocol) -> Column:
    """Return the column that ranks the board."""
    return Column(protocol.first_measure, protocol.first_subset, Condition.MULTIMODAL)


def shown_measures(protocol: Protocol, *, everything: bool) -> tuple[str, ...]:
    """Return the names of the measures with columns, the first measure first."""
    known = dict.fromkeys((protocol.first_measure, *protocol.measures, *protocol.joint_measures))
    short = SHORT.get(protocol.key)
    if everything or short is None:
        return tuple(known)
    return tuple(name for name in known if name == protocol.first_measure or name in short)


def shown_breakdowns(protocol: Protocol, *, everything: bool) -> tuple[Breakdown, ...]:
    """Return the group dimensions with columns. The others (23 interests, ...) are on the entry's own page."""
    dimensions = SHORT_BREAKDOWNS.get(protocol.key, ())
    return tuple(part for part in protocol.breakdowns if part.main and (everything or part.dimension in dimensions))


def column_groups(
    protocol: Protocol, condition: Condition, groups: Mapping[str, Iterable[str]], *, everything: bool
) -> tuple[ColumnGroup, ...]:
    """Return the board's columns in reading order. ``groups`` is dimension -> values, as found in the scores."""
    plain = [
        ColumnGroup(name, "", _subsets(protocol, name, condition))
        for name in shown_measures(protocol, everything=everything)
    ]
    for part in shown_breakdowns(protocol, everything=everything):
        plain += _breakdown_groups(protocol, part, condition, tuple(groups.get(part.dimension, ())))
    return tuple(group for group in plain if group.columns)


def chosen_groups(protocol: Protocol, condition: Condition, keys: Iterable[str]) -> tuple[ColumnGroup, ...]:
    """Return the columns that an address names, in the board's own reading order, the one that ranks it first.

    Keys that name none are left out.
    """
    first = first_column(protocol)
    wanted = {replace(first, condition=_condition(protocol, first.measure, condition))}
    wanted |= {column for key in keys if (column := find_column(protocol, key, condition))}
    values: dict[str, dict[str, None]] = {}
    for column in sorted(wanted, key=lambda column: column.group):
        dimension, _, value = column.group.partition("=")
        values.setdefault(dimension, {})[value] = None
    everything = [
        ColumnGroup(name, "", _subsets(protocol, name, condition)) for name in shown_measures(protocol, everything=True)
    ]
    for part in protocol.breakdowns:
        everything += _breakdown_groups(protocol, part, condition, tuple(values.get(part.dimension, ())))
    kept = [replace(group, columns=tuple(part for part in group.columns if part in wanted)) for group in everything]
    return tuple(group for group in kept if group.columns)


def needs_full_gallery(measure: str) -> bool:
    """Whether a list of 50 leaves a measure empty: at first sight its column is there only if a row has a value."""
    return FULL_GALLERY in describe(measure).needs


def find_column(protocol: Protocol, key: str, condition: Condition) -> Column | None:
    """Return the column that a key of an address names, or None where the protocol has no such."""
    measure, subset, group = (*key.split(":", 2), "", "")[:3]
    known = {protocol.first_measure, *protocol.measures, *protocol.joint_measures}
    in_groups = {name for part in protocol.breakdowns for name in part.measures}
    if subset not in protocol.subsets or measure not in (in_groups if group else known):
        return None
    return Column(measure, subset, _condition(protocol, measure, condition), group)


def _breakdown_groups(
    protocol: Protocol, part: Breakdown, condition: Condition, values: tuple[str, ...]
) -> list[ColumnGroup]:
    if len(protocol.subsets) > 1:
        return [
            ColumnGroup(name, value, _subsets(protocol, name, condition, f"{part.dimension}={value}"))
            for name in part.measures
            for value in values
        ]
    if len(part.measures) == 1:
        (name,) = part.measures
        cells = (_subsets(protocol, name, condition, f"{part.dimension}={value}") for value in values)
        return [ColumnGroup(name, f"by {part.dimension}", tuple(column for row in cells for column in row))]
    return [_value_group(protocol, part, condition, value) for value in values]


def _value_group(protocol: Protocol, part: Breakdown, condition: Condition, value: str) -> ColumnGroup:
    cells = (_subsets(protocol, name, condition, f"{part.dimension}={value}") for name in part.measures)
    return ColumnGroup("", value, tuple(column for row in cells for column in row))


def _subsets(protocol: Protocol, name: str, condition: Condition, group: str = "") -> tuple[Column, ...]:
    under = _condition(protocol, name, condition)
    return tuple(Column(name, str(subset), under, group) for subset in protocol.subsets)


def _condition(protocol: Protocol, name: str, condition: Condition) -> str:
    return "" if name in protocol.joint_measures else str(condition)
