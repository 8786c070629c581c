"""``manage.py import_fashioniq FOLDER``: FashionIQ's official annotations become fashioniq-val."""

from leaderboard.importers.fashioniq import read_fashioniq_val
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import FashionIQ val from the annotation repository's folder."
    folders_help = "holds captions/ and image_splits/"
    readers = (read_fashioniq_val,)
