"""The Celery application. Its settings are those of Django with the prefix ``CELERY_``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("cirboard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
