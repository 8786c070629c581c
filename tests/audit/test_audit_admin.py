"""A maintainer does all of it in the browser's admin: every form goes through the services."""

from __future__ import annotations

from typing import Any

import pytest
from audits_made import give_probes, make_encoder, make_pool, solving
from django.urls import reverse

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(client: Any, maintainer: Any) -> Any:
    client.force_login(maintainer)
    return client


def test_an_encoder_is_registered(browser: Any) -> None:
    from audit.models import Encoder

    given = {
        "name": "GME",
        "family": "dual",
        "model": "a/b",
        "revision": "1f2e",
        "licence": "",
        "options": "{}",
        "source_url": "",
    }
    answer = browser.post(reverse("admin:audit_encoder_add"), given)
    assert answer.status_code == 302, answer.content.decode()
    assert Encoder.objects.get().slug == "gme"
    page = browser.get(reverse("admin:audit_encoder_change", args=[Encoder.objects.get().pk]))
    assert "Save and continue" not in page.content.decode()


def test_a_wrong_encoder_is_refused_in_the_form(browser: Any) -> None:
    from audit.models import Encoder

    given = {"name": "GME", "family": "dual", "model": "a/b", "revision": "1f2e", "options": "[1]", "source_url": ""}
    page = browser.post(reverse("admin:audit_encoder_add"), given)
    assert "options must be an object" in page.content.decode()
    assert not Encoder.objects.exists()


def test_a_job_that_cannot_run_says_why(browser: Any, version: Any) -> None:
    from audit.models import Job
    from audit.services.encoders import register
    from evaluator.encoders import Spec

    encoder, _ = register(Spec("GME", "dual", "a/b", "1f2e"))
    given = {"encoder": encoder.pk, "version": version.pk, "dtype": "float32", "batch": "0"}
    page = browser.post(reverse("admin:audit_job_add"), given)
    assert "There are no pictures of tiny-circus-single on this machine" in page.content.decode()
    assert not Job.objects.exists()


def test_a_job_is_queued_and_cancelled(browser: Any, version: Any) -> None:
    from audit.models import Job

    encoder = make_encoder("Files")
    given = {"encoder": encoder.pk, "version": version.pk, "dtype": "float32", "batch": "0"}
    assert browser.post(reverse("admin:audit_job_add"), given).status_code == 302
    job = Job.objects.get()
    assert job.state == Job.State.QUEUED
    chosen = {"action": "cancel", "_selected_action": [job.pk]}
    browser.post(reverse("admin:audit_job_changelist"), chosen)
    job.refresh_from_db()
    assert job.state == Job.State.CANCELLED
    browser.post(reverse("admin:audit_job_changelist"), {**chosen, "action": "again"})
    assert Job.objects.filter(state=Job.State.QUEUED).count() == 1


def test_pool_label_and_freeze(browser: Any, version: Any, maintainer: Any) -> None:
    from audit.models import AuditVersion, Pool
    from audit.services import pools

    encoder, other = make_encoder("First"), make_encoder("Never run")
    give_probes(encoder, version, solving(12, text=[3]))
    members = {"members-TOTAL_FORMS": "1", "members-INITIAL_FORMS": "0", "members-0-encoder": encoder.pk}
    answer = browser.post(reverse("admin:audit_pool_add"), {"name": "House", "slug": "house", "note": "", **members})
    assert answer.status_code == 302, answer.content.decode()
    pool = Pool.objects.get()
    assert pools.encoders_of(pool) == [encoder]

    asked = {"pool": pool.pk, "version": version.pk, "k": "10", "note": "the first"}
    pools.add(pool, other)
    page = browser.post(reverse("admin:audit_auditversion_add"), asked)
    assert "Not run over this split yet: Never run" in page.content.decode()
    pools.remove(pool, other)
    assert browser.post(reverse("admin:audit_auditversion_add"), asked).status_code == 302
    audit = AuditVersion.objects.get()
    assert (audit.author, audit.note, audit.labels.count()) == (maintainer, "the first", 12)

    chosen = {"action": "freeze_subsets", "_selected_action": [audit.pk]}
    page = browser.post(reverse("admin:audit_auditversion_changelist"), chosen, follow=True)
    assert "manage.py rescore" in page.content.decode()
    audit.refresh_from_db()
    assert audit.frozen is not None


def test_who_may_not_sees_nothing_of_it(client: Any, version: Any) -> None:
    from accounts.models import User

    client.force_login(User.objects.create_user("ada@example.org", "a long enough password"))
    assert client.get(reverse("admin:audit_job_add")).status_code == 302


def test_the_list_of_pools_is_left_as_it_was_by_a_second_save(browser: Any, version: Any) -> None:
    from audit.services import pools

    encoder = make_encoder("First")
    pool = make_pool("House", encoder)
    kept = pool.members.get()
    form = {
        "name": "House",
        "slug": "house",
        "note": "words",
        "members-TOTAL_FORMS": "1",
        "members-INITIAL_FORMS": "1",
        "members-0-id": kept.pk,
        "members-0-pool": pool.pk,
        "members-0-encoder": encoder.pk,
    }
    assert browser.post(reverse("admin:audit_pool_change", args=[pool.pk]), form).status_code == 302
    assert pools.encoders_of(pool) == [encoder]
    answer = browser.post(
        reverse("admin:audit_pool_change", args=[pool.pk]), {**form, "members-0-DELETE": "on"}, follow=True
    )
    assert answer.status_code == 200
    assert pools.encoders_of(pool) == []
