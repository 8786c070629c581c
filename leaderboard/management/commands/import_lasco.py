"""``manage.py import_lasco FOLDER...``: LaSCo's val queries, as CIRCUS audited them, become circus-lasco."""

from functools import partial

from leaderboard.importers.circus import read_circus
from leaderboard.management.importing import ImportCommand


class Command(ImportCommand):
    help = "Import CIRCUS on LaSCo, the only board of LaSCo's queries."
    folders_help = "holds lasco_val.json and lasco_val_corpus.json, or CIRCUS's release or index lists; give several"
    readers = (partial(read_circus, "lasco"),)
