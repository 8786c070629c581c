"""Addresses of uploads and their results."""

from django.urls import path

from submissions import views
from submissions.models import Submission

app_name = "submissions"
urlpatterns = [
    path("submit/", views.choose, name="choose"),
    path("submit/<slug:slug>/", views.upload, name="upload"),
    path(
        "submit/<slug:slug>/embeddings/",
        views.upload,
        {"kind": Submission.Kind.EMBEDDINGS},
        name="upload-embeddings",
    ),
    path("submissions/", views.my_submissions, name="list"),
    path("submissions/<uuid:public_id>/", views.detail, name="detail"),
    path("submissions/<uuid:public_id>/state/", views.state, name="state"),
    path("submissions/<uuid:public_id>/score/", views.score, name="score"),
    path("submissions/<uuid:public_id>/publish/", views.publish, name="publish"),
    path("submissions/<uuid:public_id>/withdraw/", views.withdraw, name="withdraw"),
    path("submissions/<uuid:public_id>/cancel/", views.cancel, name="cancel"),
    path("status/", views.status, name="status"),
]
