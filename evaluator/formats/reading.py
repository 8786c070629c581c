"""The one door from files to a run: every fault of every file, or the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evaluator.errors import EvaluatorError, FaultList
from evaluator.formats.check import check_members, check_ranking
from evaluator.formats.judged_check import check_judged
from evaluator.formats.recognise import read_text
from evaluator.formats.source import DEFAULT, Limits, SourceFile, UnreadableError
from evaluator.formats.text import decode
from evaluator.formats.unpack import unpack
from evaluator.formats.written import Role, Written
from evaluator.types import Run, Split

Progress = Callable[[int, int], None]
_Parsed = tuple[str, Written]


def read_run(
    files: Sequence[SourceFile], split: Split, *, limits: Limits = DEFAULT, progress: Progress | None = None
) -> Run:
    """Read one run: a ranking file, and for CIRR perhaps the subset file beside it, in any order; or judged ranks.

    ``progress`` is called with (steps done, steps in all). Raises SubmissionError with all faults of all files.
    """
    faults = FaultList()
    parsed: list[_Parsed] = []
    for done, source in enumerate(files):
        parsed.extend(_parse(source, split, limits, faults))
        if progress:
            progress(done + 1, len(files) + 1)
    by_role = {role: [pair for pair in parsed if pair[1].role is role] for role in Role}
    _note_roles(by_role, len(files), split, faults)
    run = _check(by_role, split, limits, faults)
    if progress:
        progress(len(files) + 1, len(files) + 1)
    faults.raise_if_any()
    if run is None:
        raise EvaluatorError("a run without a ranking and without a fault")
    return run


def _parse(source: SourceFile, split: Split, limits: Limits, faults: FaultList) -> list[_Parsed]:
    """Return what the file holds, under the name that faults give it; nothing where it cannot be read."""
    faults.file = source.name
    parsed: list[_Parsed] = []
    try:
        for plain in unpack(source, limits):
            faults.file = plain.name
            parsed.append((plain.name, read_text(decode(plain.content), split, limits, faults)))
    except UnreadableError as error:
        faults.add(error.code, error.place, **error.facts)
    return parsed


def _note_roles(by_role: Mapping[Role, Sequence[_Parsed]], files: int, split: Split, faults: FaultList) -> None:
    """Note what does not make one run: no file, two of a kind, a subset file alone or where none belongs."""
    members = by_role[Role.MEMBERS]
    rankings = [*by_role[Role.RANKING], *by_role[Role.JUDGED]]
    faults.file = ""
    if files == 0:
        faults.add("no-file", found="no file", expected="a ranking file")
    for pairs in (rankings, members):
        if len(pairs) > 1:
            faults.add("two-rankings", found=", ".join(name for name, _ in pairs), expected="one of each kind")
    if members and by_role[Role.JUDGED]:
        expected = "judged ranks alone: the members' ranks give those in the set"
        faults.add("subset-not-taken", found=members[0][0], expected=expected)
    elif members and not split.protocol.member_list_length:
        faults.add("subset-not-taken", found=members[0][0], expected="a ranking")
    elif members and not rankings and not faults.faults:
        faults.add("no-main-ranking", found=members[0][0], expected='the file with "metric": "recall" beside it')


def _check(by_role: Mapping[Role, Sequence[_Parsed]], split: Split, limits: Limits, faults: FaultList) -> Run | None:
    ranking, members, judged = None, None, None
    for faults.file, written in by_role[Role.RANKING]:
        ranking = check_ranking(written, split, limits, faults)
    for faults.file, written in by_role[Role.JUDGED]:
        judged = check_judged(written, split, limits, faults)
    for faults.file, written in by_role[Role.MEMBERS] if split.protocol.member_list_length else ():
        members = check_members(written, split, limits, faults)
    return replace(ranking, members=members) if ranking else judged
