"""Where a page finds the pictures of a split: here, at a host that the maintainer named, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.urls import reverse

from leaderboard.models import SplitVersion
from leaderboard.picture_files import files_of
from leaderboard.thumbnails import WIDTHS

_ID = re.compile(r"\{id(?::0(\d{1,2}))?\}")


@dataclass(frozen=True)
class Shown:
    """One image on a page. Without ``source`` the page has a placeholder with the id."""

    image: str
    source: str
    larger: str
    """The same, larger; what a click leads to."""


@dataclass(frozen=True)
class Addresses:
    """The pictures of one split."""

    slug: str
    files: Mapping[str, str] | None
    pattern: str

    @property
    def origin(self) -> str:
        """The host that pages must allow pictures from; empty for this one."""
        parts = urlsplit(self.pattern)
        return f"{parts.scheme}://{parts.netloc}" if self.pattern and self.files is None else ""

    @property
    def any(self) -> bool:
        """Whether pictures of this split are shown at all."""
        return self.files is not None or bool(self.pattern)

    def shown(self, image: str, width: int = WIDTHS[0]) -> Shown:
        """Return an image as a page shows it, fitted into one of :data:`WIDTHS`."""
        if self.files is not None:
            if image not in self.files:
                return Shown(image, "", "")
            return Shown(image, self._here(image, width), self._here(image, WIDTHS[-1]))
        if not self.pattern:
            return Shown(image, "", "")
        address = _ID.sub(lambda found: quote(image.zfill(int(found[1] or 0)), safe=""), self.pattern)
        return Shown(image, address, address)

    def _here(self, image: str, width: int) -> str:
        # The id is a parameter and no path: ids may hold anything, and ".." in a path is resolved by browsers.
        where = reverse("leaderboard:picture", args=[self.slug])
        return f"{where}?{urlencode({'id': image, 'width': width})}"


def addresses(version: SplitVersion) -> Addresses:
    """Return where the pictures of a version are. Files of this machine come before another host's."""
    slug = version.split.slug
    if version.split.hidden_truth:
        return Addresses(slug, None, "")
    found = files_of(version)
    return Addresses(slug, found.files if found else None, settings.IMAGE_URLS.get(slug, ""))
