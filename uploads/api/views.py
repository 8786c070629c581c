"""tus 1.0 over HTTP (https://tus.io/protocols/resumable-upload): fetch, call a service, answer."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status as codes
from rest_framework.exceptions import APIException, UnsupportedMediaType
from rest_framework.permissions import AllowAny, BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.services import personal_team
from uploads import refusals, selectors
from uploads.api import headers
from uploads.api.bodies import Unread, drop_rest, length_of, pieces
from uploads.api.serializers import ResumableUploadSerializer
from uploads.models import Upload
from uploads.services.creation import create
from uploads.services.finishing import end
from uploads.services.receiving import receive

OVERRIDABLE = ("PATCH", "DELETE", "HEAD")
VERSIONED = ("POST", "HEAD", "PATCH", "DELETE")
CODES: tuple[tuple[type[refusals.Refusal], int], ...] = (
    (refusals.DigestDiffers, 460),
    (refusals.ChecksumDiffers, 460),
    (refusals.NoSuchUpload, codes.HTTP_404_NOT_FOUND),
    (refusals.TooLarge, codes.HTTP_413_REQUEST_ENTITY_TOO_LARGE),
    (refusals.TooMuch, codes.HTTP_429_TOO_MANY_REQUESTS),
    (refusals.WrongOffset, codes.HTTP_409_CONFLICT),
    (refusals.Busy, codes.HTTP_423_LOCKED),
    (refusals.NotStored, codes.HTTP_503_SERVICE_UNAVAILABLE),
    (refusals.Refusal, codes.HTTP_400_BAD_REQUEST),
)
WORDS = {
    400: OpenApiResponse(description="A header is missing or wrong; `detail` says which."),
    404: OpenApiResponse(description="No such upload: expired, ended, used, or another team's."),
    409: OpenApiResponse(description="The part does not begin where the upload ends: ask with HEAD."),
    412: OpenApiResponse(description="`Tus-Resumable` is not 1.0.0."),
    413: OpenApiResponse(description="More bytes than a file may have, or than were announced."),
    415: OpenApiResponse(description="The content type is not `application/offset+octet-stream`."),
    423: OpenApiResponse(description="Another request writes this upload; Retry-After says when to try again."),
    429: OpenApiResponse(description="The team has too much here that is not submitted."),
    460: OpenApiResponse(
        description="A checksum differs, and nothing of the part was kept; or the digest of the whole "
        "file differs from the announced one, and the upload is ended."
    ),
    503: OpenApiResponse(description="It could not be stored, which is our fault; there is a reference."),
    507: OpenApiResponse(description="No space is left, which is our fault; there is a reference."),
}


def _header(name: str, words: str, *, required: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=required, description=words)


_VERSION = _header("Tus-Resumable", "`1.0.0`", required=True)
_CHECKSUM = _header("Upload-Checksum", "`sha1`, `sha256` or `md5`, a space, and the checksum of this part in base64.")


def _answers(*numbers: int) -> dict[int, OpenApiResponse]:
    return {number: WORDS[number] for number in numbers}


class WrongVersion(APIException):
    """The client speaks another tus."""

    status_code = codes.HTTP_412_PRECONDITION_FAILED
    default_detail = "Send the header Tus-Resumable: 1.0.0."


class _TusView(APIView):
    """What every answer has in common."""

    parser_classes = (Unread,)
    pagination_class = None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Let a client that cannot send PATCH or DELETE say so in a header."""
        meant = request.headers.get("X-HTTP-Method-Override", "").upper()
        if request.method == "POST" and meant in OVERRIDABLE:
            request.method = meant
        answer = super().dispatch(request, *args, **kwargs)
        if answer.status_code >= codes.HTTP_400_BAD_REQUEST and request.method in ("POST", "PATCH"):
            drop_rest(request)
        return answer

    def get_permissions(self) -> list[BasePermission]:
        """Tell everybody what this server can; the rest is for people with an account."""
        return [AllowAny() if self.request.method == "OPTIONS" else IsAuthenticated()]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in VERSIONED and request.headers.get("Tus-Resumable") != headers.VERSION:
            raise WrongVersion

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Tus-Resumable"] = headers.VERSION
        if answer.status_code == codes.HTTP_412_PRECONDITION_FAILED:
            answer["Tus-Version"] = headers.VERSION
        return answer

    def handle_exception(self, exc: Exception) -> Response:
        if not isinstance(exc, refusals.Refusal):
            return super().handle_exception(exc)
        code = next(code for kind, code in CODES if isinstance(exc, kind))
        if isinstance(exc, refusals.NotStored) and exc.full:
            code = codes.HTTP_507_INSUFFICIENT_STORAGE
        more = {"Retry-After": str(exc.seconds)} if isinstance(exc, refusals.Busy) else {}
        return Response({"detail": str(exc)}, code, headers=more)

    @extend_schema(exclude=True)
    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        return Response(status=codes.HTTP_204_NO_CONTENT, headers=headers.of_server())

    def _append(self, request: Request, upload: Upload, offset: int) -> None:
        raw = request._request  # the body as it comes: the framework's own would be read whole
        receive(upload, offset, pieces(raw), length_of(raw), headers.checksum(request.headers))


class UploadList(_TusView):
    """Your team's resumable uploads, and where to begin one."""

    @extend_schema(
        responses=ResumableUploadSerializer(many=True),
        parameters=[OpenApiParameter("digest", str, description="Only those that were announced with it, or have it.")],
        operation_id="uploads_list",
    )
    def get(self, request: Request) -> Response:
        """List your team's uploads that were not submitted yet, newest first."""
        team = personal_team(cast("User", request.user))
        found = selectors.uploads_of(team, request.query_params.get("digest", "").lower())
        return Response(ResumableUploadSerializer(found, many=True, context={"request": request}).data)

    @extend_schema(
        request={headers.PART: OpenApiTypes.BINARY},
        responses={201: ResumableUploadSerializer, **_answers(400, 412, 413, 429, 460, 503, 507)},
        parameters=[
            _VERSION,
            _header("Upload-Length", "Bytes of the file.", required=True),
            _header("Upload-Metadata", "`filename` and, optional, `digest`, their values in base64."),
            _CHECKSUM,
        ],
        operation_id="uploads_create",
    )
    def post(self, request: Request) -> Response:
        """Begin an upload (tus: creation); a body, which may be empty, is its first part. `Location` is its address."""
        name, announced = headers.metadata(request.headers)
        size = headers.whole_number(request.headers, "Upload-Length")
        upload = create(cast("User", request.user), size, name=name, announced=announced)
        if request.content_type == headers.PART and length_of(request._request):
            self._first_part(request, upload)
        answer = ResumableUploadSerializer(upload, context={"request": request}).data
        more = {"Location": answer["url"], **headers.of_part(upload)}
        return Response(answer, codes.HTTP_201_CREATED, headers=more)

    def _first_part(self, request: Request, upload: Upload) -> None:
        """Take the body; where that fails its sender never learns the address, so the upload is ended."""
        try:
            self._append(request, upload, 0)
        except refusals.Refusal:
            end(upload)
            raise


class UploadDetail(_TusView):
    """One upload."""

    @extend_schema(responses={200: ResumableUploadSerializer, **_answers(404)}, operation_id="uploads_retrieve")
    def get(self, request: Request, public_id: UUID) -> Response:
        """Say where an upload stands. HEAD says the same in headers, as tus has it."""
        return Response(ResumableUploadSerializer(_upload(request, public_id), context={"request": request}).data)

    @extend_schema(exclude=True)
    def head(self, request: Request, public_id: UUID) -> Response:
        return Response(headers=headers.of_upload(_upload(request, public_id)))

    @extend_schema(
        request={headers.PART: OpenApiTypes.BINARY},
        responses={
            204: OpenApiResponse(description="`Upload-Offset` says how much is here now."),
            **_answers(400, 404, 409, 412, 413, 415, 423, 460, 503, 507),
        },
        parameters=[_VERSION, _header("Upload-Offset", "Where the part begins.", required=True), _CHECKSUM],
        operation_id="uploads_append",
    )
    def patch(self, request: Request, public_id: UUID) -> Response:
        """Send the next part. A connection that breaks loses at most 8 MiB; with a checksum, the part."""
        upload = _upload(request, public_id)
        if request.content_type != headers.PART:
            raise UnsupportedMediaType(request.content_type, f"Send parts with the content type {headers.PART}.")
        self._append(request, upload, headers.whole_number(request.headers, "Upload-Offset"))
        return Response(status=codes.HTTP_204_NO_CONTENT, headers=headers.of_part(upload))

    @extend_schema(
        responses={204: OpenApiResponse(description="It is gone."), **_answers(404, 412)},
        parameters=[_VERSION],
        operation_id="uploads_end",
    )
    def delete(self, request: Request, public_id: UUID) -> Response:
        """End an upload and delete what came (tus: termination)."""
        end(_upload(request, public_id))
        return Response(status=codes.HTTP_204_NO_CONTENT)


def _upload(request: Request, public_id: UUID) -> Upload:
    return selectors.upload_of(personal_team(cast("User", request.user)), public_id)
