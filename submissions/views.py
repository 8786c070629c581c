"""The pages of a submission, from upload to publication: fetch, call a service, render. Somebody else's does not exist."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.services import personal_team
from leaderboard.selectors.ordering import Board
from leaderboard.views import board_or_404
from submissions import pages, selectors, services
from submissions.forms import UploadForm
from submissions.models import Submission


@require_safe
def choose(request: HttpRequest) -> HttpResponse:
    """Choose the board to submit to."""
    return render(request, "submissions/choose.html", {"boards": pages.boards_to_choose()})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the upload form, or take what it sends."""
    board = _open_board(slug)
    if request.method != "POST":
        return _form_page(request, board, UploadForm(protocol=board.protocol))
    form = UploadForm(request.POST, request.FILES, protocol=board.protocol)
    if not form.is_valid():
        return _form_page(request, board, form, 422)
    return _receive(request, board, form)


@login_required
@require_safe
@never_cache
def my_submissions(request: HttpRequest) -> HttpResponse:
    """List what a person's teams have sent."""
    return render(request, "submissions/list.html", {"submissions": pages.submissions_of(_user(request))})


@login_required
@require_safe
@never_cache
def detail(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show one submission to its team."""
    page = pages.submission_page(_submission(request, public_id))
    return render(request, "submissions/detail.html", {"page": page})


@login_required
@require_safe
def state(request: HttpRequest, public_id: UUID) -> HttpResponseBase:
    """Answer the live script: a fingerprint of the page and the place in the queue, or 304."""
    submission = _submission(request, public_id)
    evaluations = list(submission.evaluations.order_by("version__split__position", "pk"))
    now = pages.standing(submission, evaluations)
    answer = {"fingerprint": pages.fingerprint(submission, evaluations), "state": now.mark, "ahead": now.ahead}
    body = json.dumps(answer).encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    response = HttpResponse(body, content_type="application/json", headers={"ETag": etag, "Cache-Control": "private, no-cache"})
    return get_conditional_response(request, etag=etag, response=response) or response


@login_required
@require_POST
def publish(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Put a submission's entries on their boards."""
    return _decide(request, public_id, services.publish, "Published: the entry stands on its boards now.")


@login_required
@require_POST
def withdraw(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Take them off again."""
    return _decide(request, public_id, services.withdraw, "Withdrawn: the entry is private again.")


@login_required
@require_POST
def cancel(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Stop what has not begun."""
    return _decide(request, public_id, services.cancel, "Cancelled.")
