"""The read API: the same rows, order and values as the pages, as strict JSON."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.serializers import BoardSerializer, EntryScoresSerializer, RowSerializer
from leaderboard.models import Entry, Split
from leaderboard.selectors import board_query
from leaderboard.selectors.board import score_groups, scores_of
from leaderboard.selectors.entry import visible_entry
from leaderboard.selectors.ordering import Board, Placed, placed_entries
from leaderboard.views.boards import board_or_404

_PARAMETERS = [
    OpenApiParameter("sort", str, description="A column, as `Recall@10:V`; `-` before it: worst first."),
    OpenApiParameter("condition", str, enum=["multimodal", "text-only", "image-only"]),
    OpenApiParameter("columns", str, enum=["all"], description="All measures instead of the main ones."),
    OpenApiParameter("reported", str, enum=["hide"], description="Without the rows printed elsewhere."),
    *(OpenApiParameter(part.key, str, enum=list(part.choices)) for part in board_query.FILTERS),
]


class BoardList(ListAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """Every board of this site."""

    queryset = Split.objects.select_related("benchmark").prefetch_related("versions")
    serializer_class = BoardSerializer
    permission_classes = (AllowAny,)


class BoardRows(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """The rows of one board, in the order of its page, which takes the same parameters."""

    serializer_class = RowSerializer
    permission_classes = (AllowAny,)
    queryset = Entry.objects.none()

    @extend_schema(parameters=_PARAMETERS, responses=RowSerializer(many=True), operation_id="boards_rows")
    def get(self, request: Request, slug: str) -> Response:
        board = board_or_404(slug)
        query = board_query.read(request.query_params.dict())
        page = self.paginate_queryset(placed_entries(board, query)) or []
        rows = _rows(board, query, list(page))
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class EntryScores(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """One entry with all its scores. A private one does not exist for others."""

    serializer_class = EntryScoresSerializer
    permission_classes = (AllowAny,)
    queryset = Entry.objects.none()

    def get(self, request: Request, public_id: UUID) -> Response:
        try:
            entry = visible_entry(request.user, public_id)
        except Entry.DoesNotExist:
            raise Http404("There is no such entry.") from None
        return Response(self.get_serializer(entry).data)


def _rows(board: Board, query: board_query.BoardQuery, placed: list[Placed]) -> list[dict[str, Any]]:
    scores = scores_of(board, query, [row.entry for row in placed])
    keys = [column.score_key for group in score_groups(board, query, scores) for column in group.columns]
    return [
        {
            "rank": row.rank,
            "unranked_reason": row.reason,
            "distinguishable_from_first": _distinguishable(row.entry),
            "entry": row.entry,
            "scores": [scores[row.entry.pk, *key] for key in keys if (row.entry.pk, *key) in scores],
        }
        for row in placed
    ]


def _distinguishable(entry: Entry) -> bool | None:
    comparison = getattr(entry, "comparison", None)
    return comparison.distinguishable if comparison is not None and comparison.first_id != entry.pk else None
