"""Addresses of resumable uploads."""

from django.urls import path

from uploads.api import views

urlpatterns = [
    path("uploads/", views.UploadList.as_view(), name="api-uploads"),
    path("uploads/<uuid:public_id>/", views.UploadDetail.as_view(), name="api-upload"),
]
