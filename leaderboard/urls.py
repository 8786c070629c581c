"""Addresses of the public pages."""

from django.urls import path

from leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("", views.home, name="home"),
    path("boards/<slug:slug>/", views.board, name="board"),
    path("boards/<slug:slug>/about/", views.about, name="about"),
    path("boards/<slug:slug>/kit.zip", views.kit, name="kit"),
    path("entries/<uuid:public_id>/", views.entry, name="entry"),
    path("help/measures/", views.help_page, {"name": "measures"}, name="help-measures"),
    path("help/formats/", views.help_page, {"name": "formats"}, name="help-formats"),
]
