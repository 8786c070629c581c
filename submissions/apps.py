"""The app; it listens to the start and the end of workers."""

from importlib import import_module

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "submissions"

    def ready(self) -> None:
        import_module("submissions.worker")
