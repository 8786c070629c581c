"""Readers of ranking files: bytes and a split in, a checked run or every fault out (decisions 20 to 26).

A file goes ``unpack`` -> ``text`` -> ``recognise`` (its syntax, by content) -> ``lists`` (ids to indices) -> ``check``.
Nothing is written to disk, nothing is executed, and the file's name is never looked at.
"""

from evaluator.formats.judged_files import KEY as JUDGED
from evaluator.formats.judged_files import write_judged
from evaluator.formats.reading import read_run
from evaluator.formats.register import FORMATS, Format, templates
from evaluator.formats.source import DEFAULT, Limits, SourceFile

__all__ = [
    "DEFAULT",
    "FORMATS",
    "JUDGED",
    "Format",
    "Limits",
    "SourceFile",
    "read_run",
    "templates",
    "write_judged",
]
