"""The audit's read API: the same tables and labels as the pages, as strict JSON."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import GenericAPIView, ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api.serializers import AuditSerializer, FlowSerializer, LabelSerializer, ReportSerializer, TableSerializer
from audit.models import AuditVersion, Label
from audit.selectors.labels import label_list
from audit.selectors.report import listed_audits, table_of
from audit.views import audit_or_404, flow_or_404

_LABEL_PARAMETERS = [
    OpenApiParameter("label", str, description="A label, `shortcut-text`, `-image`, `-both`, or `shortcut-free`."),
    OpenApiParameter("model", str, description="The model with the best rank under any condition."),
]


class AuditList(ListAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """Every audit version of this site, those of a split newest first."""

    serializer_class = AuditSerializer
    permission_classes = (AllowAny,)
    queryset = AuditVersion.objects.none()

    def get_queryset(self) -> QuerySet[AuditVersion]:
        return listed_audits().order_by("split__position", "split__slug", "-number")


class AuditReport(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """One audit version with the tables of its report."""

    serializer_class = ReportSerializer
    permission_classes = (AllowAny,)
    queryset = AuditVersion.objects.none()

    def get(self, request: Request, slug: str, number: int) -> Response:
        return Response(self.get_serializer(audit_or_404(slug, number)).data)


class AuditTable(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """One table of a report."""

    serializer_class = TableSerializer
    permission_classes = (AllowAny,)
    queryset = AuditVersion.objects.none()

    def get(self, request: Request, slug: str, number: int, key: str) -> Response:
        try:
            table = table_of(audit_or_404(slug, number), key)
        except KeyError:
            raise Http404("This report has no such table.") from None
        return Response(self.get_serializer(table).data)


class AuditLabels(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """The label of every query of an audit version, in the order of the split."""

    serializer_class = LabelSerializer
    permission_classes = (AllowAny,)
    queryset = Label.objects.none()

    @extend_schema(parameters=_LABEL_PARAMETERS, responses=LabelSerializer(many=True), operation_id="audits_labels")
    def get(self, request: Request, slug: str, number: int) -> Response:
        asked: Any = request.query_params
        found = label_list(audit_or_404(slug, number), asked.get("label", ""), asked.get("model", "")).found
        page = self.paginate_queryset(found) or []
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class AuditFlow(GenericAPIView):  # type: ignore[type-arg]  # generic in the stubs only
    """Which queries moved between two audit versions of one split, and because of which model."""

    serializer_class = FlowSerializer
    permission_classes = (AllowAny,)
    queryset = AuditVersion.objects.none()

    def get(self, request: Request, slug: str, first: int, second: int) -> Response:
        return Response(self.get_serializer(flow_or_404(slug, first, second)).data)
