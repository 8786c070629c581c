"""Every address of the site; each app names its own."""

from csp.decorators import csp_update
from django.contrib import admin
from django.urls import include, path
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# Swagger UI writes styles into its elements; on its page alone they are allowed, scripts as everywhere from here only.
# It has nothing to say to OPTIONS, and said it with an error.
api_docs = csp_update({"style-src": ["'self'", "'unsafe-inline'"]})(require_safe(SpectacularSwaggerSplitView.as_view()))

urlpatterns = [
    path("", include("leaderboard.urls")),
    path("", include("submissions.urls")),
    path("", include("audit.urls")),
    path("account/", include("accounts.urls")),
    path("account/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("submissions.api.urls")),
    path("api/v1/", include("leaderboard.api.urls")),
    path("api/v1/", include("uploads.api.urls")),
    path("api/v1/", include("audit.api.urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", api_docs, name="api-docs"),
]
