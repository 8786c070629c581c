"""Embeddings beside rankings: files belong to a submission and have a role, evaluations say how far they have come."""

from django.db import migrations, models
import django.db.models.deletion


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0002_ranks_of_vectors"), ("submissions", "0001_initial")]

    operations = [
        migrations.RenameModel("RunFile", "SentFile"),
        migrations.AddField(
            "submission",
            "kind",
            models.CharField(
                choices=[("rankings", "Rankings"), ("embeddings", "Embeddings")], default="rankings", max_length=12
            ),
        ),
        migrations.AddField(
            "submission", "similarity", models.CharField(blank=True, max_length=20, default=""), preserve_default=False
        ),
        migrations.AddField("evaluation", "percent", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("sentfile", "removed_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField(
            "sentfile",
            "submission",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="files",
                to="submissions.submission",
            ),
        ),
        migrations.AddField(
            "sentfile",
            "role",
            models.CharField(
                max_length=12,
                default="ranking",
                choices=[
                    ("ranking", "Ranking"),
                    ("subset", "Subset"),
                    ("queries", "Queries"),
                    ("query ids", "Query Ids"),
                    ("gallery", "Gallery"),
                    ("gallery ids", "Gallery Ids"),
                ],
            ),
            preserve_default=False,
        ),
        migrations.AlterField(
            "sentfile",
            "run",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="files",
                to="submissions.run",
            ),
        ),
    ]
