"""Addresses of the public pages."""

from django.urls import path

from leaderboard import views
from leaderboard.selectors.documents import PAGES

app_name = "leaderboard"
urlpatterns = [
    path("", views.home, name="home"),
    path("boards/<slug:slug>/", views.board, name="board"),
    path("boards/<slug:slug>/about/", views.about, name="about"),
    path("boards/<slug:slug>/kit.zip", views.kit, name="kit"),
    path("entries/<uuid:public_id>/", views.entry, name="entry"),
    path("entries/<uuid:public_id>/queries/", views.entry_queries, name="entry-queries"),
    path("entries/<uuid:public_id>/queries.csv", views.entry_queries_csv, name="entry-queries-csv"),
    *(path(f"help/{name}/", views.help_page, {"name": name}, name=f"help-{name}") for name in PAGES),
]
