"""The API of submissions: fetch, call a service, answer. Somebody else's does not exist (public report A23)."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status as codes
from rest_framework.exceptions import APIException, PermissionDenied
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from leaderboard.models import Split
from submissions import selectors
from submissions.api.serializers import (
    StatusSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
    UploadSerializer,
)
from submissions.models import Submission
from submissions.services import publication
from submissions.services.evaluations import score_checked
from submissions.services.receipt import Received, receive
from submissions.services.refusals import IllegalMove, NotStored, QuotaExceeded, SplitClosed, TooManyFree, UploadRefused
from submissions.services.shape import is_oversized

_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="Send a retry with the same key: it is received once."
)
_ANSWERS = {
    201: OpenApiResponse(SubmissionDetailSerializer, "Received; it is checked and scored in the background."),
    200: OpenApiResponse(SubmissionDetailSerializer, "The same files were received before: this is that submission."),
    400: OpenApiResponse(description="Field -> what is wrong with it."),
    409: OpenApiResponse(description="The board takes no submissions."),
    413: OpenApiResponse(description="The request is larger than any upload can be."),
    429: OpenApiResponse(description="Too many; `next_submission_at` says when to go on, so does Retry-After."),
    503: OpenApiResponse(description="The files could not be stored, which is our fault; there is a reference."),
}


class TooLarge(APIException):
    """A request that is refused before it is read."""

    status_code = codes.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "The request is larger than any can be. Compress rankings with gzip or zip; send vectors in parts."
    default_code = "too_large"


class SubmissionList(ListAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """Your team's submissions, newest first; and where to send the next one."""

    serializer_class = SubmissionSerializer
    permission_classes = (IsAuthenticated,)
    parser_classes = (MultiPartParser, FormParser)
    queryset = Submission.objects.none()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a request that is too large before anything of it is stored."""
        if is_oversized(request.META.get("CONTENT_LENGTH") or "", vectors=True):
            raise TooLarge
        super().initial(request, *args, **kwargs)

    def get_queryset(self) -> Any:
        found = selectors.visible_submissions(cast("User", self.request.user))
        return found.prefetch_related("evaluations__version__split", "evaluations__entry")

    @extend_schema(
        request={"multipart/form-data": UploadSerializer},
        responses=_ANSWERS,
        parameters=[_KEY],
        operation_id="submissions_create",
    )
    def post(self, request: Request) -> Response:
        try:
            received = _receive(request)
        except UploadRefused as refusal:
            return Response(refusal.messages, codes.HTTP_400_BAD_REQUEST)
        except SplitClosed as refusal:
            return Response({"detail": str(refusal)}, codes.HTTP_409_CONFLICT)
        except QuotaExceeded as refusal:
            return _later(refusal.resets_at, detail=str(refusal), limit=refusal.limit)
        except TooManyFree as refusal:
            return _later(refusal.retry_at, detail=str(refusal))
        except NotStored as failure:
            return Response({"detail": str(failure)}, codes.HTTP_503_SERVICE_UNAVAILABLE)
        answer = SubmissionDetailSerializer(received.submission, context=self.get_serializer_context()).data
        code = codes.HTTP_201_CREATED if received.created else codes.HTTP_200_OK
        return Response(answer, code, headers={"Location": answer["url"]})


class SubmissionDetail(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """One submission: its state, its faults, and its scores once it is scored."""

    serializer_class = SubmissionDetailSerializer
    permission_classes = (IsAuthenticated,)
    queryset = Submission.objects.none()

    def get(self, request: Request, public_id: UUID) -> Response:
        return Response(self.get_serializer(_visible(request, public_id)).data)


class _Decision(SubmissionDetail):
    """What a member of the team decides."""

    http_method_names = ("post", "options")

    def decide(self, request: Request, public_id: UUID, service: Callable[[Submission], object]) -> Response:
        """Carry out a decision and show what the submission has become; 409 where it does not fit the state."""
        submission = _visible(request, public_id)
        if not selectors.is_owner(cast("User", request.user), submission):
            raise PermissionDenied("Only the submission's own team decides this.")
        try:
            service(submission)
        except IllegalMove as refusal:
            return Response({"detail": str(refusal)}, codes.HTTP_409_CONFLICT)
        return Response(self.get_serializer(_visible(request, public_id)).data)


_DECIDED = {200: SubmissionDetailSerializer, 409: OpenApiResponse(description="It does not fit the state.")}


class Score(_Decision):
    """Have a submission that was only checked scored after all; it takes quota now."""

    @extend_schema(request=None, responses={**_DECIDED, 429: _ANSWERS[429]})
    def post(self, request: Request, public_id: UUID) -> Response:
        try:
            return self.decide(request, public_id, score_checked)
        except QuotaExceeded as refusal:
            return _later(refusal.resets_at, detail=str(refusal), limit=refusal.limit)
        except SplitClosed as refusal:
            return Response({"detail": str(refusal)}, codes.HTTP_409_CONFLICT)


class Publish(_Decision):
    """Put the entries of a scored submission on their boards."""

    @extend_schema(request=None, responses=_DECIDED)
    def post(self, request: Request, public_id: UUID) -> Response:
        return self.decide(request, public_id, publication.publish)


class Withdraw(_Decision):
    """Take the entries off their boards; the results stay."""

    @extend_schema(request=None, responses=_DECIDED)
    def post(self, request: Request, public_id: UUID) -> Response:
        return self.decide(request, public_id, publication.withdraw)


class Cancel(_Decision):
    """Stop what is not finished."""

    @extend_schema(request=None, responses=_DECIDED)
    def post(self, request: Request, public_id: UUID) -> Response:
        return self.decide(request, public_id, publication.cancel)


class Status(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """Whether a worker is there and how long the queue is; 503 when nobody works."""

    serializer_class = StatusSerializer
    permission_classes = (AllowAny,)

    @extend_schema(responses={200: StatusSerializer, 503: StatusSerializer})
    def get(self, request: Request) -> Response:
        found = selectors.status()
        code = codes.HTTP_200_OK if found.healthy else codes.HTTP_503_SERVICE_UNAVAILABLE
        return Response(self.get_serializer(found).data, code)


def _receive(request: Request) -> Received:
    form = UploadSerializer(data=request.data)
    if not form.is_valid():
        raise UploadRefused({field: [str(line) for line in lines] for field, lines in form.errors.items()})
    _refuse_unknown_fields(request, form)
    said = form.validated_data
    split = Split.objects.filter(slug=said.get("split", "")).first()
    if split is None:
        raise UploadRefused({"split": ["Name the board by its slug, for example circo-val."]})
    return receive(
        user=cast("User", request.user),
        split=split,
        method_name=said.get("method", ""),
        package=form.package,
        declared=form.declared,
        paper_url=said["paper_url"],
        code_url=said["code_url"],
        check_only=said["check_only"],
        idempotency_key=request.headers.get("Idempotency-Key", ""),
    )


def _refuse_unknown_fields(request: Request, form: UploadSerializer) -> None:
    """A misspelt field is said, not dropped: ``text-only`` for ``text_only`` would lose a run in silence."""
    unknown = sorted(set(request.data) - set(form.fields))
    if unknown:
        raise UploadRefused({name[:60]: ["There is no such field."] for name in unknown})


def _later(instant: datetime, **said: Any) -> Response:
    seconds = max(1, math.ceil((instant - timezone.now()).total_seconds()))
    body = {**said, "next_submission_at": instant}
    return Response(body, codes.HTTP_429_TOO_MANY_REQUESTS, headers={"Retry-After": str(seconds)})


def _visible(request: Request, public_id: UUID) -> Submission:
    try:
        return selectors.visible_submission(cast("User", request.user), public_id)
    except Submission.DoesNotExist:
        raise Http404("There is no such submission.") from None
