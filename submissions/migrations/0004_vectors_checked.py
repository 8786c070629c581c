"""What holds of files and of embeddings, now that every row says what it is."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0003_file_roles")]

    operations = [
        migrations.AlterField(
            "sentfile",
            "submission",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="files", to="submissions.submission"
            ),
        ),
        migrations.AddIndex("sentfile", models.Index(fields=["stored"], name="file_stored")),
        migrations.AddIndex("sentfile", models.Index(fields=["digest"], name="file_digest")),
        migrations.AddConstraint(
            "sentfile",
            models.CheckConstraint(
                condition=models.Q(("role__in", ["gallery", "gallery ids"]), ("run__isnull", True))
                | models.Q(("role__in", ["ranking", "subset", "queries", "query ids"]), ("run__isnull", False)),
                name="file_of_a_run_or_of_all",
            ),
        ),
        migrations.AddConstraint(
            "submission",
            models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "embeddings"), models.Q(("similarity", ""), _negated=True)),
                    models.Q(("kind", "rankings"), ("similarity", "")),
                    _connector="OR",
                ),
                name="submission_vectors_have_similarity",
            ),
        ),
    ]
