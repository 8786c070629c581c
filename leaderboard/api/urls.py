"""Addresses of the read API."""

from django.urls import path

from leaderboard.api import views

urlpatterns = [
    path("boards/", views.BoardList.as_view(), name="api-boards"),
    path("boards/<slug:slug>/", views.BoardRows.as_view(), name="api-board"),
    path("entries/<uuid:public_id>/", views.EntryScores.as_view(), name="api-entry"),
]
