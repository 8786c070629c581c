"""``manage.py import_pinpoint FOLDER``: PinPoint's release becomes pinpoint and pinpoint-clean."""

from leaderboard.importers.pinpoint import read_pinpoint, read_pinpoint_clean
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import PinPoint's licensed release, as released and without repeats and contradictions."
    folders_help = (
        "holds pinpoint_licensed.parquet, index_signatures.txt and, where at hand, pinpoint_base_queries.json"
    )
    readers = (read_pinpoint, read_pinpoint_clean)
