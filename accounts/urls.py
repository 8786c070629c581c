"""Addresses of the account page; the rest below ``account/`` is allauth's."""

from django.urls import path

from accounts import views

app_name = "accounts"
urlpatterns = [
    path("", views.home, name="home"),
    path("team/", views.rename_team, name="rename-team"),
    path("tokens/", views.new_token, name="new-token"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="revoke-token"),
]
