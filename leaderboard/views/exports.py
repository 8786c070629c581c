"""A board's table as a file: CSV, JSON, LaTeX or Markdown, with the state of the page in the address."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.exports import FORMATS, Sheet, written
from leaderboard.selectors import board_query
from leaderboard.selectors.sheets import board_sheet, readable
from leaderboard.views.boards import board_or_404

_BY_ENDING = {part.ending: name for name, part in FORMATS.items()}
_FOR_PEOPLE = ("latex", "markdown")


@require_safe
def table(request: HttpRequest, slug: str, ending: str) -> HttpResponse:
    """Hand out all rows of a board, as its page has them."""
    query = board_query.read(request.GET)
    return file_answer(board_sheet(board_or_404(slug, query.as_of), query), ending)


def file_answer(sheet: Sheet, ending: str) -> HttpResponse:
    """Return a sheet as a file to keep. Raises Http404 for an ending that no format has."""
    name = _BY_ENDING.get(ending)
    if name is None:
        raise Http404("There is no such format.")
    text = written(readable(sheet) if name in _FOR_PEOPLE else sheet, name)
    headers = {"Content-Disposition": f'attachment; filename="{sheet.name}.{ending}"'}
    return HttpResponse(text, FORMATS[name].content_type, headers=headers)
