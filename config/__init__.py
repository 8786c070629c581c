"""Wiring only: settings, Celery, addresses, servers. No rule of the product lives here."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
