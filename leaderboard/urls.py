"""Addresses of the public pages."""

from django.urls import path

from leaderboard.selectors.documents import PAGES
from leaderboard.views import boards, entries, exports, home, pictures

app_name = "leaderboard"
urlpatterns = [
    path("", home.home, name="home"),
    path("boards/<slug:slug>/", boards.board, name="board"),
    path("boards/<slug:slug>/about/", boards.about, name="about"),
    path("boards/<slug:slug>/table.<str:ending>", exports.table, name="table"),
    path("boards/<slug:slug>/kit.zip", boards.kit, name="kit"),
    path("boards/<slug:slug>/picture/", pictures.picture, name="picture"),
    path("entries/<uuid:public_id>/", entries.entry, name="entry"),
    path("entries/<uuid:public_id>/queries/", entries.entry_queries, name="entry-queries"),
    path("entries/<uuid:public_id>/queries.csv", entries.entry_queries_csv, name="entry-queries-csv"),
    *(path(f"help/{name}/", home.help_page, {"name": name}, name=f"help-{name}") for name in PAGES),
]
