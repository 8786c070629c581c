"""``manage.py import_circo FOLDER``: CIRCO's official annotations become circo-val and circo-test."""

from leaderboard.importers.circo import read_circo_test, read_circo_val
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import CIRCO's val and test splits; without a gallery list the gallery stays open."
    folders_help = (
        "holds annotations/; this one or another may hold the gallery: COCO's image_info_unlabeled2017.json, "
        "unlabeled2017_ids.txt, or CIRCUS's release"
    )
    readers = (read_circo_val, read_circo_test)
