"""Rules and writes about uploads; what the other apps use of them."""

from uploads.refusals import NoSuchUpload, NotStored, NotWhole
from uploads.services.creation import shown_name
from uploads.services.failures import storing
from uploads.services.finishing import identity, take, whole
from uploads.services.stored import discard, exists, fetch, head, stored_name
from uploads.services.sweeping import sweep_expired

__all__ = [
    "NoSuchUpload",
    "NotStored",
    "NotWhole",
    "discard",
    "exists",
    "fetch",
    "head",
    "identity",
    "shown_name",
    "stored_name",
    "storing",
    "sweep_expired",
    "take",
    "whole",
]
