"""Two audit versions of one split: how many queries went from which label to which, and because of which model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator

from audit.figures import flow_figure
from audit.models import AuditVersion
from audit.services.probes import ProbesMissing
from audit.services.versions import labelling_of
from evaluator.audit.changes import moves
from evaluator.audit.labels import KINDS, Label, Labelling
from evaluator.types import Condition
from leaderboard import bundles

ROWS = 100
ORDER = (
    *(f"{Label.SHORTCUT} ({kind})" for kind in KINDS),
    str(Label.COMPOSITION_REQUIRED),
    str(Label.UNRESOLVED),
)
HEADS = (
    *("query", "text", "before", "after", "because"),
    *(f"{name}_rank_{side}" for name in ("multimodal", "text", "image") for side in ("before", "after")),
)


class NotComparable(Exception):  # noqa: N818 (a verdict)
    """Two versions label other queries."""


@dataclass(frozen=True)
class MovedQuery:
    """One query that another label, with its best ranks (multimodal, text-only, image-only) before and after."""

    query: str
    text: str
    before: str
    after: str
    because: tuple[str, ...]
    ranks: tuple[tuple[int | None, int | None], ...]

    def row(self) -> tuple[object, ...]:
        """Return it as a row under :data:`HEADS`."""
        ranks = [rank for pair in self.ranks for rank in pair]
        return (self.query, self.text, self.before, self.after, "; ".join(self.because), *ranks)


@dataclass(frozen=True)
class FlowPage:
    """What changed between two versions."""

    before: AuditVersion
    after: AuditVersion
    sizes: tuple[tuple[str, str, int], ...]
    """(label before, label after, queries), those that stayed among them."""
    moved: tuple[MovedQuery, ...]
    came: tuple[str, ...]
    went: tuple[str, ...]

    @property
    def figure(self) -> dict[str, Any]:
        sides = f"audit {self.before.number} (left) to audit {self.after.number} (right)"
        title = f"Queries of {self.before.split.name} by label, {sides}"
        return flow_figure(title, self.sizes, ORDER)

    @property
    def because(self) -> tuple[tuple[str, int], ...]:
        """How many moves each model has a part in, most first."""
        return tuple(Counter(name for query in self.moved for name in query.because).most_common())

    def chosen(self, before: str, after: str) -> list[MovedQuery]:
        """Return the moves from and to a label; empty for any."""
        return [m for m in self.moved if (not before or m.before == before) and (not after or m.after == after)]

    def page(self, number: str, before: str = "", after: str = "") -> Page[MovedQuery]:
        """Return one page of the moved queries."""
        return Paginator(self.chosen(before, after), ROWS).get_page(number)


def flow_page(before: AuditVersion, after: AuditVersion) -> FlowPage:
    """Return what moved. Raises NotComparable where the two label other queries, or a probe is gone."""
    if before.ranks_key != after.ranks_key:
        raise NotComparable(
            f"Audits {before.number} and {after.number} were made of versions {before.version.number} and "
            f"{after.version.number} of the split, whose queries, images or judgments differ. They cannot be compared."
        )
    try:
        old, new = labelling_of(before), labelling_of(after)
    except ProbesMissing as error:
        raise NotComparable(f"A probe that these audits were made of is gone: {error}") from error
    sizes = Counter((old.words(number), new.words(number)) for number in range(len(old)))
    names = [{row["name"] for row in each.members} for each in (before, after)]
    return FlowPage(
        before=before,
        after=after,
        sizes=tuple((*pair, sizes[pair]) for pair in sorted(sizes, key=lambda pair: tuple(map(ORDER.index, pair)))),
        moved=tuple(_moved(before, old, new)),
        came=tuple(sorted(names[1] - names[0])),
        went=tuple(sorted(names[0] - names[1])),
    )


def _moved(audit: AuditVersion, old: Labelling, new: Labelling) -> Iterator[MovedQuery]:
    split = bundles.load(audit.version)
    for move in moves(old, new):
        at = move.query
        ranks = tuple(
            (int(old.rank[condition][at]) or None, int(new.rank[condition][at]) or None) for condition in Condition
        )
        yield MovedQuery(split.query_ids[at], split.texts[at], move.before, move.after, move.because, ranks)
