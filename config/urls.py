"""Every address of the site; each app names its own."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularRedocView

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("", include("submissions.urls")),
    path("account/", include("accounts.urls")),
    path("account/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("submissions.api.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", SpectacularRedocView.as_view(), name="api-docs"),
]
