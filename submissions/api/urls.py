"""Addresses of the API of submissions."""

from django.urls import path

from submissions.api import views

urlpatterns = [
    path("submissions/", views.SubmissionList.as_view(), name="api-submissions"),
    path("submissions/<uuid:public_id>/", views.SubmissionDetail.as_view(), name="api-submission"),
    path("submissions/<uuid:public_id>/score/", views.Score.as_view(), name="api-submission-score"),
    path("submissions/<uuid:public_id>/publish/", views.Publish.as_view(), name="api-submission-publish"),
    path("submissions/<uuid:public_id>/withdraw/", views.Withdraw.as_view(), name="api-submission-withdraw"),
    path("submissions/<uuid:public_id>/cancel/", views.Cancel.as_view(), name="api-submission-cancel"),
    path("status/", views.Status.as_view(), name="api-status"),
]
