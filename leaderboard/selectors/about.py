"""The page about one split: its protocol in words, its sizes, its measures, its versions, its traps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.types import Protocol
from leaderboard import boards
from leaderboard.models import Split, SplitVersion
from leaderboard.selectors.measures import MeasureWords, words
from leaderboard.selectors.notes import NOTES
from leaderboard.selectors.ordering import Board


@dataclass(frozen=True)
class AboutPage:
    """Everything the page prints."""

    board: Board
    rules: tuple[tuple[str, str], ...]
    """(name of a rule, the rule in words)."""
    measures: tuple[MeasureWords, ...]
    reference_rule: str
    versions: tuple[SplitVersion, ...]
    fits: tuple[Split, ...]
    """Other boards that the same upload is scored on (decision 3)."""
    notes: tuple[str, ...]
    reported_only: bool


def about_page(board: Board) -> AboutPage:
    """Return the page about a board."""
    protocol = board.protocol
    fits: tuple[Split, ...] = ()
    if board.version:
        same = SplitVersion.objects.filter(current=True, fit_key=board.version.fit_key).exclude(pk=board.version.pk)
        fits = tuple(version.split for version in same.select_related("split"))
    known = dict.fromkeys((protocol.first_measure, *protocol.measures, *protocol.joint_measures))
    return AboutPage(
        board=board,
        rules=tuple(_rules(board)),
        measures=tuple(words(name) for name in known),
        reference_rule=reference_rule(protocol),
        versions=tuple(board.split.versions.all()),
        fits=fits,
        notes=NOTES.get(board.split.slug, ()),
        reported_only=any(one.slug == board.split.slug and one.reported_only for one in boards.BOARDS),
    )


def reference_rule(protocol: Protocol) -> str:
    """Say what happens to the reference image; printed wherever the measures are (public report A28)."""
    if protocol.remove_reference:
        return (
            "The reference image is removed from every ranking by its id, and nothing else is. "
            "A file that lists it is accepted."
        )
    return "The reference image stays in the ranking: it is a candidate like any other."


def _rules(board: Board) -> Iterable[tuple[str, str]]:
    protocol = board.protocol
    ranks = words(protocol.first_measure)
    yield (
        "Ranks by",
        f"{ranks.title} on {protocol.first_subset}, {'higher' if ranks.higher_is_better else 'lower'} first.",
    )
    yield "Reference image", reference_rule(protocol)
    yield "List length", _length_rule(protocol)
    yield (
        "Ties",
        "Equal scores keep the gallery's order, the byte order of image ids in the frozen split. Nothing that looks at "
        "relevance ever breaks a tie.",
    )
    yield (
        "Queries",
        "Every query exactly once. A file that misses one is refused; it is never skipped and never scored as zero.",
    )
    if board.split.hidden_truth:
        yield "Truth", "Hidden. Files are checked here and scored on the official server."
    if board.version:
        yield (
            "Intervals",
            f"95 %, by bootstrap over {board.version.cluster_count:,} clusters ({board.version.cluster_name}) with a "
            "fixed seed. Against the first scored entry: a paired sign-flip test over the same clusters, level 0.05, "
            "Holm's correction.",
        )


def _length_rule(protocol: Protocol) -> str:
    rule = f"{protocol.list_length} images for each query, best first, or the whole gallery."
    if protocol.remove_reference:
        rule = f"{protocol.list_length} images for each query once the reference is dropped, or the whole gallery."
    if protocol.member_list_length:
        rule += f" The subset file holds {protocol.member_list_length} for each query."
    return rule
