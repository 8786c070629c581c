"""Puts numbers printed elsewhere on their boards, as reported entries (decision 6). Idempotent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import slugify

from leaderboard.models import Entry, Method, Score, Split
from leaderboard.reported import ReportedBoard, ReportedEntry, ReportedFile, ReportedScore
from leaderboard.services.splits import ensure_boards

_SCORE_FIELDS = ("subset", "condition", "group", "measure", "value", "shown")


@dataclass
class Loaded:
    """What loading changed: names of entries, as ``method on board``."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@transaction.atomic
def load_reported(publications: Iterable[ReportedFile]) -> Loaded:
    """Make the reported entries of each publication what its file says; rows it no longer has are removed."""
    ensure_boards()
    loaded = Loaded()
    for publication in publications:
        kept = [entry.pk for part in publication.boards for entry in _load_board(publication, part, loaded)]
        for entry in _entries_of(publication).exclude(pk__in=kept):
            loaded.removed.append(str(entry))
            entry.delete()
    return loaded


def _entries_of(publication: ReportedFile) -> QuerySet[Entry]:
    """Return what stands on any board from this publication, at whichever commit it was read."""
    at_any_commit = Q(source_url=publication.url) | Q(source_url__startswith=f"{publication.url}/tree/")
    return Entry.objects.filter(at_any_commit, trust=Entry.Trust.REPORTED)


def _load_board(publication: ReportedFile, part: ReportedBoard, loaded: Loaded) -> list[Entry]:
    split = Split.objects.get(slug=part.board)
    return [_load_entry(publication, split, reported, loaded) for reported in part.entries]


def _load_entry(publication: ReportedFile, split: Split, reported: ReportedEntry, loaded: Loaded) -> Entry:
    method = _method(reported)
    entry, created = Entry.objects.get_or_create(
        split=split, method=method, trust=Entry.Trust.REPORTED, defaults={"published_at": timezone.now()}
    )
    wanted = {
        "declared": dict(reported.declared),
        "pool_member": reported.pool_member,
        "source": _source(publication, reported),
        "source_url": publication.permalink,
        "unranked_reason": reported.unranked,
    }
    changed = any(getattr(entry, name) != value for name, value in wanted.items())
    Entry.objects.filter(pk=entry.pk).update(**wanted)
    changed |= _replace_scores(entry, reported.scores)
    names = loaded.new if created else loaded.changed if changed else loaded.unchanged
    names.append(str(entry))
    return entry


def _method(reported: ReportedEntry) -> Method:
    """Return the method of that name that belongs to no team; boards share it."""
    method, _ = Method.objects.get_or_create(
        name=reported.method, team=None, defaults={"slug": _free_slug(reported.method)}
    )
    urls = {"paper_url": reported.paper_url, "code_url": reported.code_url}
    said = {name: url for name, url in urls.items() if url and getattr(method, name) != url}
    if said:
        Method.objects.filter(pk=method.pk).update(**said)
    return method


def _free_slug(name: str) -> str:
    stem = slugify(name)[:100] or "method"
    taken = set(Method.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug


def _source(publication: ReportedFile, reported: ReportedEntry) -> str:
    row = f', row "{reported.printed_as}"' if reported.printed_as else ""
    return " ".join(part for part in (f"{publication.source}{row}.", reported.note, publication.note) if part)


def _replace_scores(entry: Entry, reported: Iterable[ReportedScore]) -> bool:
    """Make the entry's scores those reported. Returns whether anything differed."""
    wanted = [
        (str(score.subset), str(score.condition or ""), score.group, score.measure, score.value, score.shown)
        for score in reported
    ]
    if sorted(entry.scores.values_list(*_SCORE_FIELDS)) == sorted(wanted):
        return False
    entry.scores.all().delete()
    Score.objects.bulk_create(Score(entry=entry, **dict(zip(_SCORE_FIELDS, values, strict=True))) for values in wanted)
    return True
