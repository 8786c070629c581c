"""The pages of a submission, from upload to publication: fetch, call a service, render. An outsider finds nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.services import personal_team
from leaderboard.selectors.ordering import Board
from leaderboard.views.boards import board_or_404
from submissions import pages, selectors
from submissions.forms import RankingsForm, UploadForm, VectorsForm
from submissions.models import Submission
from submissions.services import publication
from submissions.services.evaluations import score_checked
from submissions.services.package import takes_vectors
from submissions.services.quota import quota_of
from submissions.services.receipt import receive, wrong_files
from submissions.services.refusals import IllegalMove, NotStored, QuotaExceeded, SplitClosed, TooManyFree, UploadRefused
from submissions.services.shape import is_oversized


@require_safe
def choose(request: HttpRequest) -> HttpResponse:
    """Choose the board to submit to."""
    return render(request, "submissions/choose.html", {"boards": pages.boards_to_choose()})


@csrf_exempt  # checked below, once the size is known: looking for the token reads the whole request
def upload(request: HttpRequest, slug: str, kind: str = Submission.Kind.RANKINGS) -> HttpResponse:
    """Show an upload form, or take what it sends. A request larger than any upload is refused before it is read."""
    if is_oversized(request.headers.get("Content-Length", ""), vectors=kind == Submission.Kind.EMBEDDINGS):
        return render(request, "413.html", status=413)
    return _upload(request, slug, kind)


@login_required  # first: nobody else's upload is read at all
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def _upload(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    board = _open_board(slug)
    form = _form(request, board, kind)
    if request.method != "POST":
        return _form_page(request, board, form)
    if not form.is_valid():
        with suppress(SplitClosed, NotStored):  # said once the rest is right
            form.note_refusal(wrong_files(_user(request), board.split, form.package))
        return _form_page(request, board, form, 422)
    return _receive(request, board, form)


def _form(request: HttpRequest, board: Board, kind: str) -> UploadForm:
    """Return the form of one kind of submission, filled in where something was sent."""
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    if kind == Submission.Kind.RANKINGS:
        return RankingsForm(*sent, protocol=board.protocol)
    if board.version is None or not takes_vectors(board.version):
        raise Http404("This board takes no embeddings.")
    galleries = selectors.galleries_to_use_again(personal_team(_user(request)), board.version)
    return VectorsForm(*sent, protocol=board.protocol, galleries=galleries)


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
    submission = _submission(request, public_id)
    owner = selectors.is_owner(_user(request), submission)
    context = {"page": pages.submission_page(submission), "owner": owner, "kept_days": settings.VECTORS_KEEP_DAYS}
    return render(request, "submissions/detail.html", context)


@login_required
@require_safe
def state(request: HttpRequest, public_id: UUID) -> HttpResponseBase:
    """Answer the live script: a fingerprint of the page and the place in the queue, or 304."""
    submission = _submission(request, public_id)
    evaluations = list(submission.evaluations.order_by("version__split__position", "pk"))
    now = pages.standing(submission, evaluations)
    answer = {
        "fingerprint": pages.fingerprint(submission, evaluations),
        "state": now.mark,
        "ahead": now.ahead,
        "sentence": now.sentence,
    }
    body = json.dumps(answer).encode()
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'
    response = HttpResponse(
        body, content_type="application/json", headers={"ETag": etag, "Cache-Control": "private, no-cache"}
    )
    return get_conditional_response(request, etag=etag, response=response) or response


@login_required
@require_POST
def score(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Have a dry run scored after all."""
    return _decide(request, public_id, score_checked, "It is being scored.")


@login_required
@require_POST
def publish(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Put a submission's entries on their boards."""
    return _decide(request, public_id, publication.publish, "Published: the entry stands on its boards now.")


@login_required
@require_POST
def withdraw(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Take them off again."""
    return _decide(request, public_id, publication.withdraw, "Withdrawn: the entry is private again.")


@login_required
@require_POST
def cancel(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Stop what has not begun."""
    return _decide(request, public_id, publication.cancel, "Cancelled.")


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Say whether workers are there and how long the queue is."""
    return render(
        request, "submissions/status.html", {"status": selectors.status(), "hours": settings.QUEUE_SECONDS // 3600}
    )


def _receive(request: HttpRequest, board: Board, form: UploadForm) -> HttpResponse:
    """Hand a well-formed upload to the service. Its refusals go back into the form, next to their fields."""
    said = form.cleaned_data
    try:
        received = receive(
            user=_user(request),
            split=board.split,
            method_name=said["method"],
            package=form.package,
            declared=form.declared,
            paper_url=said["paper_url"],
            code_url=said["code_url"],
            check_only=said["check_only"],
        )
    except UploadRefused as refusal:
        form.note_refusal(refusal.messages)
        return _form_page(request, board, form, 422)
    except (QuotaExceeded, TooManyFree) as refusal:
        form.add_error(None, str(refusal))
        return _form_page(request, board, form, 429)
    except SplitClosed as refusal:
        form.add_error(None, str(refusal))
        return _form_page(request, board, form, 409)
    except NotStored as failure:
        form.add_error(None, str(failure))
        return _form_page(request, board, form, 503)
    if not received.created:
        messages.info(request, "The same files were sent before for this method: this is that submission.")
    return redirect("submissions:detail", received.submission.public_id)


def _form_page(request: HttpRequest, board: Board, form: UploadForm, status: int = 200) -> HttpResponse:
    team = personal_team(_user(request))
    context = {
        "split": board.split,
        "form": form,
        "of_vectors": isinstance(form, VectorsForm),
        "takes_vectors": board.version is not None and takes_vectors(board.version),
        "most_bytes": settings.VECTORS_MAX_BYTES,
        "kept_days": settings.VECTORS_KEEP_DAYS,
        "team": team,
        "quota": quota_of(team, board.split),
        "methods": team.methods.order_by("name").values_list("name", flat=True),
    }
    return render(request, "submissions/upload.html", context, status=status)


def _decide(request: HttpRequest, public_id: UUID, service: Callable[[Submission], object], done: str) -> HttpResponse:
    submission = _submission(request, public_id)
    if not selectors.is_owner(_user(request), submission):
        raise PermissionDenied("Only its team decides about a submission.")
    try:
        service(submission)
    except (IllegalMove, QuotaExceeded, SplitClosed) as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
    return redirect("submissions:detail", submission.public_id)


def _open_board(slug: str) -> Board:
    board = board_or_404(slug)
    if board.version is None or not board.split.open:
        raise Http404("This board takes no submissions.")
    return board


def _submission(request: HttpRequest, public_id: UUID) -> Submission:
    try:
        return selectors.visible_submission(_user(request), public_id)
    except Submission.DoesNotExist:
        raise Http404("There is no such submission.") from None


def _user(request: HttpRequest) -> User:
    return cast("User", request.user)
