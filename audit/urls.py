"""Addresses of the audit's pages and tables. They are permanent: an audit version never changes."""

from django.urls import path

from audit import views

app_name = "audit"
urlpatterns = [
    path("audits/", views.index, name="index"),
    path("audits/jobs/<int:pk>/", views.job, name="job"),
    path("audits/jobs/<int:pk>/state/", views.job_state, name="job-state"),
    path("audits/<slug:slug>/", views.split, name="split"),
    path("audits/<slug:slug>/<int:number>/", views.report, name="report"),
    path("audits/<slug:slug>/<int:number>/queries/", views.queries, name="queries"),
    path("audits/<slug:slug>/<int:number>/queries.csv", views.queries_csv, name="queries-csv"),
    path("audits/<slug:slug>/<int:number>/tables/<slug:key>.csv", views.table_csv, name="table-csv"),
    path("audits/<slug:slug>/<int:first>/to/<int:second>/", views.flow, name="flow"),
    path("audits/<slug:slug>/<int:first>/to/<int:second>/moved.csv", views.flow_csv, name="flow-csv"),
    path("encoders/", views.encoders, name="encoders"),
    path("encoders/<slug:slug>/", views.encoder, name="encoder"),
]
