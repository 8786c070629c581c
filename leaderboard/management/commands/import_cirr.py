"""``manage.py import_cirr FOLDER``: CIRR's official annotations become cirr-val and cirr-test1."""

from leaderboard.importers.cirr import read_cirr_test1, read_cirr_val
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import CIRR's val and test1 splits from the annotation repository's folder."
    folders_help = "holds captions/ and image_splits/"
    readers = (read_cirr_val, read_cirr_test1)
