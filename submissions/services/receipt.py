"""Receives an upload: looks at its shape, stores it, counts it, has it checked. Nothing is parsed in the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import Team, User
from accounts.services import personal_team
from leaderboard.models import Method, Split, SplitVersion
from submissions.models import Run, SentFile, Submission
from submissions.services import contents, dispatch, quota, sameness
from submissions.services.boards import open_version
from submissions.services.contents import Content, InRequest, Resumed, SentBefore
from submissions.services.declared import check_declared
from submissions.services.methods import check_method, method_of, tidy_name
from submissions.services.package import Opener, Package, Part, conditions_of, digest_of
from submissions.services.refusals import UploadRefused
from uploads import services as resumable

LONGEST_KEY = 100


@dataclass(frozen=True)
class Received:
    """A submission, and whether this upload made it; else it is the one that was there (decision 29)."""

    submission: Submission
    created: bool


@dataclass(frozen=True)
class _Upload:
    """An upload whose shape is right."""

    user: User
    team: Team
    version: SplitVersion
    method_name: str
    paper_url: str
    code_url: str
    declared: dict[str, Any]
    idempotency_key: str
    check_only: bool
    package: Package
    parts: tuple[Part, ...]
    digest: str


def receive(  # noqa: PLR0913 (all by name: what a form asks for)
    *,
    user: User,
    split: Split,
    method_name: str,
    package: Package,
    declared: Mapping[str, Any],
    paper_url: str = "",
    code_url: str = "",
    idempotency_key: str = "",
    check_only: bool = False,
) -> Received:
    """Store an upload as a submission and have it checked after commit.

    Raises UploadRefused, SplitClosed, QuotaExceeded, TooManyFree or NotStored, and then nothing is kept, but resumable
    uploads are, for another try. The same bytes for the same method answer with the submission that is under way or
    scored, a repeated ``idempotency_key`` with its own.
    ``check_only`` is a dry run: the files are checked and not scored, and no quota is taken.
    """
    version = open_version(split)
    team = personal_team(user)
    name, paper_url, code_url = tidy_name(method_name), paper_url.strip(), code_url.strip()
    facts, wrong = check_declared(declared)
    wrong |= check_method(name, {"paper_url": paper_url, "code_url": code_url})
    opener = Opener(package, team, version)
    parts = _opened(opener)
    wrong |= opener.messages
    if len(idempotency_key) > LONGEST_KEY:
        wrong["idempotency_key"] = [f"Use at most {LONGEST_KEY} characters."]
    if wrong:
        raise UploadRefused(wrong)
    digest = digest_of(package, parts)
    return _keep(
        _Upload(
            user, team, version, name, paper_url, code_url, facts, idempotency_key, check_only, package, parts, digest
        )
    )


def wrong_files(user: User, split: Split, package: Package) -> dict[str, list[str]]:
    """Return field -> what is wrong with the files alone, where something else keeps them from being received.

    Raises SplitClosed or NotStored.
    """
    opener = Opener(package, personal_team(user), open_version(split))
    _opened(opener)
    return opener.messages


def _opened(opener: Opener) -> tuple[Part, ...]:
    """Open a package. Raises NotStored where a store that holds uploads does not answer."""
    with contents.storing():
        return opener.open()


def _keep(upload: _Upload) -> Received:
    """Return the submission that this upload is, storing it only when it is new."""
    if known := _known(upload):
        return Received(known, created=False)
    quota.refuse_after_too_many_free(upload.team)
    names = contents.store(part.content for part in upload.parts)
    created = False
    try:
        received = _keep_under_lock(upload, names)
        created = received.created
    finally:
        if not created:
            contents.discard(names.values())
    return received


@transaction.atomic
def _keep_under_lock(upload: _Upload, names: Mapping[Content, str]) -> Received:
    Team.objects.select_for_update().get(pk=upload.team.pk)  # one upload of a team at a time
    if known := _known(upload):
        return Received(known, created=False)
    quota.refuse_after_too_many_free(upload.team)  # again: others were received meanwhile
    method = method_of(upload.team, upload.method_name, upload.paper_url, upload.code_url)
    submission = _create(upload, method)
    _create_files(submission, upload.parts, names)
    dispatch.submission_after_commit(submission.pk)
    return Received(submission, created=True)


def _create(upload: _Upload, method: Method) -> Submission:
    return Submission.objects.create(
        split=upload.version.split,
        method=method,
        team=upload.team,
        user=upload.user,
        declared=upload.declared,
        kind=upload.package.kind,
        similarity=upload.package.similarity,
        check_only=upload.check_only,
        digest=upload.digest,
        idempotency_key=upload.idempotency_key,
        received_at=timezone.now(),
        **_quota_columns(upload),
    )


def _quota_columns(upload: _Upload) -> dict[str, Any]:
    if upload.check_only:
        return {"quota_day": quota.today(), "quota_state": Submission.QuotaState.RETURNED}
    return {"quota_day": quota.reserve(upload.team, upload.version.split)}


def _create_files(submission: Submission, parts: tuple[Part, ...], names: Mapping[Content, str]) -> None:
    runs = {
        condition: Run.objects.create(submission=submission, condition=condition) for condition in conditions_of(parts)
    }
    SentFile.objects.bulk_create(
        SentFile(
            submission=submission,
            run=runs[part.field.condition] if part.field.condition else None,
            role=part.field.role,
            name=part.content.name,
            stored=_stored(part, names),
            size=part.content.size,
            digest=part.content.digest,
        )
        for part in parts
    )


def _stored(part: Part, names: Mapping[Content, str]) -> str:
    """Return where a part lies, which is the submission's from now on. Raises UploadRefused where it went meanwhile."""
    content = part.content
    if isinstance(content, InRequest):
        return names[content]
    if isinstance(content, Resumed):
        return _taken(part, content)
    if isinstance(content, SentBefore):
        return _shared(part, content)
    raise TypeError(f"a file that is nowhere: {content}")


def _taken(part: Part, content: Resumed) -> str:
    try:
        resumable.take(content.upload)
    except resumable.NoSuchUpload as refusal:
        raise UploadRefused({part.field.name: [str(refusal)]}) from refusal
    return content.upload.stored


def _shared(part: Part, content: SentBefore) -> str:
    """Lock the rows of the file while one more is made, so that its content is not deleted in between."""
    here = SentFile.objects.select_for_update().filter(stored=content.file.stored, removed_at=None).order_by("pk")
    if not list(here):
        raise UploadRefused({part.field.name: ["These vectors were deleted meanwhile. Send the file."]})
    return content.file.stored


def _known(upload: _Upload) -> Submission | None:
    return _same_key(upload) or sameness.submission_of(
        upload.digest,
        team=upload.team,
        method=upload.method_name,
        version=upload.version,
        check_only=upload.check_only,
    )


def _same_key(upload: _Upload) -> Submission | None:
    """Return what the key was used for. Raises UploadRefused where that was another upload.

    A dry run may have been scored since: its retry is still the same. A dry run never stands in for a submission.
    """
    if not upload.idempotency_key:
        return None
    known = (
        Submission.objects.filter(user=upload.user, idempotency_key=upload.idempotency_key)
        .select_related("method")
        .first()
    )
    asked = (upload.digest, upload.version.split_id, upload.method_name)
    if known is None:
        return None
    if (known.digest, known.split_id, known.method.name) == asked and (upload.check_only or not known.check_only):
        return known
    raise UploadRefused({"idempotency_key": ["This key was used for another upload. Use a new key for a new file."]})
