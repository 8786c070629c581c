"""``demo-emoji``: a benchmark over real pictures, Google's emoji: other tones, genders, hair, jobs, colours, times.

The pictures are taken from an npm package when the benchmark is set up; none is part of this project. The queries
follow from the emoji's code points and names alone, so they are the same wherever they are made.
"""

from demo.emoji.queries import KINDS, emoji_split
from demo.emoji.records import Emoji, read_emoji
from demo.emoji.source import LICENCE, PACKAGE, SourceError, fetch
from demo.emoji.writing import Manifest, prepare, write

__all__ = [
    "KINDS",
    "LICENCE",
    "PACKAGE",
    "Emoji",
    "Manifest",
    "SourceError",
    "emoji_split",
    "fetch",
    "prepare",
    "read_emoji",
    "write",
]
