"""One picture of a split, small, for those boards whose pictures may be shown."""

from __future__ import annotations

import logging

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from leaderboard.models import SplitVersion
from leaderboard.picture_files import file_of
from leaderboard.thumbnails import CONTENT_TYPE, WIDTHS, NoThumbnail, tag_of, thumbnail

log = logging.getLogger(__name__)

_DAY = 24 * 3600


@require_safe
def picture(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Hand out ``?id=…&width=…`` as WebP. Whatever is no image of the split, or not to be shown, is not there."""
    width = request.GET.get("width", str(WIDTHS[0]))
    if width not in map(str, WIDTHS):
        raise Http404("There are no pictures of this width.")
    version = SplitVersion.objects.select_related("split").filter(split__slug=slug, current=True).first()
    path = file_of(version, request.GET.get("id", "")) if version else None
    if path is None:
        raise Http404("There is no such picture.")
    try:
        etag = f'"{tag_of(path, int(width))}"'
        unchanged = get_conditional_response(request, etag=etag)
        answer = unchanged or HttpResponse(thumbnail(path, int(width)), CONTENT_TYPE)
    except (NoThumbnail, FileNotFoundError) as error:
        log.warning("no thumbnail: %s", error)
        raise Http404("This picture cannot be shown.") from None
    answer.headers["ETag"] = etag
    answer.headers["Cache-Control"] = f"public, max-age={_DAY}"
    return answer
