"""Addresses of the audit's read API."""

from django.urls import path

from audit.api import views

urlpatterns = [
    path("audits/", views.AuditList.as_view(), name="api-audits"),
    path("audits/<slug:slug>/<int:number>/", views.AuditReport.as_view(), name="api-audit"),
    path("audits/<slug:slug>/<int:number>/tables/<slug:key>/", views.AuditTable.as_view(), name="api-audit-table"),
    path("audits/<slug:slug>/<int:number>/labels/", views.AuditLabels.as_view(), name="api-audit-labels"),
    path("audits/<slug:slug>/<int:first>/to/<int:second>/", views.AuditFlow.as_view(), name="api-audit-flow"),
]
