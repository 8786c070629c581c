"""The app."""

from django.apps import AppConfig
from django.core.checks import register

from uploads.checks import check_store


class UploadsConfig(AppConfig):
    name = "uploads"

    def ready(self) -> None:
        register(check_store)
