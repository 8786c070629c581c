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
from leaderboard.selectors.board import distinguishable
from leaderboard.selectors.board_scores import score_groups, scores_of
from leaderboard.selectors.entry import visible_entry
from leaderboard.selectors.ordering import Board, Placed, placed_entries, rank_changes
from leaderboard.views.boards import board_or_404

_PARAMETERS = [
    OpenApiParameter("sort", str, description="A column, as `Recall@10:V`; `-` before it: worst first."),
    OpenApiParameter("condition", str, enum=["multimodal", "text-only", "image-only"]),
    OpenApiParameter("columns", str, enum=["all"], description="All measures instead of the main ones."),
    OpenApiParameter("cols", str, description="The columns to give, as `Recall@10:V,mAP@10:V`."),
    OpenApiParameter("q", str, description="Words that a method's or a team's name holds."),
    OpenApiParameter("parameters", int, description="The most parameters an encoder may have, in millions."),
    OpenApiParameter("from", str, description="First day of publication, as `2026-12-01`, in UTC."),
    OpenApiParameter("to", str, description="Last day of publication."),
    OpenApiParameter("as_of", str, description="The day at whose end, in UTC, the board is seen."),
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
        query = board_query.read(request.query_params)
        board = board_or_404(slug, query.as_of)
        placed = placed_entries(board, query)
        page = self.paginate_queryset(placed) or []
        rows = _rows(board, query, list(page), rank_changes(board, placed))
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


def _rows(
    board: Board, query: board_query.BoardQuery, placed: list[Placed], ranks: dict[int, dict[str, int]]
) -> list[dict[str, Any]]:
    scores = scores_of(board, query, [row.entry for row in placed])
    keys = [column.score_key for group in score_groups(board, query, scores) for column in group.columns]
    return [
        {
            "rank": row.rank,
            "unranked_reason": row.reason,
            "distinguishable_from_first": distinguishable(board, row.entry),
            "ranks": ranks.get(row.entry.pk, {}),
            "entry": row.entry,
            "scores": [scores[row.entry.pk, *key] for key in keys if (row.entry.pk, *key) in scores],
        }
        for row in placed
    ]
