"""Every file of a run belongs to the run's submission and has a role. Apart from the tables' changes: PostgreSQL alters none
in a transaction that has written to it."""

from django.db import migrations
from django.db.models import Min


def give_roles(apps, schema_editor):
    """Files so far are rankings; the second one of a run is CIRR's subset file."""
    files = apps.get_model("submissions", "SentFile").objects
    first = set(files.values("run").annotate(first=Min("pk")).values_list("first", flat=True))
    for file in files.select_related("run").iterator():
        file.submission_id = file.run.submission_id
        file.role = "ranking" if file.pk in first else "subset"
        file.save(update_fields=["submission", "role"])


def forget_vectors(apps, schema_editor):
    """The older tables know no file without a run."""
    apps.get_model("submissions", "SentFile").objects.filter(run=None).delete()


class Migration(migrations.Migration):
    dependencies = [("submissions", "0002_vectors")]

    operations = [migrations.RunPython(give_roles, forget_vectors)]
