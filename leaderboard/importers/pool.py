"""A gallery's list, or, where the list is not at hand, the form of its ids (decision 42)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from evaluator.types import Gallery
from leaderboard.importers.assemble import Images, require_known
from leaderboard.importers.refusal import require_none

COCO_ID = r"[1-9][0-9]{0,5}"
"""A COCO image id without leading zeros; the largest of 2014 and 2017 is below 600,000."""
ASIN = r"[0-9A-Z]{10}"
"""An Amazon item number, the id of a FashionIQ image."""


@dataclass(frozen=True)
class Pool:
    """The candidates of a split: ``members``, or None and then every id that fully matches ``pattern``."""

    name: str
    pattern: str
    members: tuple[str, ...] | None

    @cached_property
    def lookup(self) -> frozenset[str]:
        """The members as a set."""
        return frozenset(self.members or ())

    def images(self, named: Iterable[str]) -> Images:
        """Return the image table, having checked that every image that the annotations name can be a candidate."""
        names = sorted(set(named))
        if self.members is not None:
            require_known(f"references or targets of {self.name}", names, self.lookup, self.name)
            return Images.of(self.members)
        whole = re.compile(self.pattern)
        require_none("malformed image ids", [name for name in names if not whole.fullmatch(name)], self.name)
        return Images.of(names)

    def gallery(self, images: Images) -> Gallery:
        """Return the gallery over ``images``; open where the list is not at hand."""
        return images.gallery(self.name, images.names, None if self.members is not None else self.pattern)
