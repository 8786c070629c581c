"""What was put into the fields of a form or a request, opened: every file with its field, or what is wrong with it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from accounts.models import Team
from evaluator import bundle
from evaluator.errors import FAULTS
from evaluator.types import Condition, Similarity
from leaderboard.models import SplitVersion
from submissions.models import SentFile, Submission
from submissions.services.contents import Content, InRequest, Posted, Resumed, SentBefore
from submissions.services.fields import GALLERY_DIGEST, Field, condition_field, fields_of
from submissions.services.shape import wrong_with
from uploads import services as resumable

Messages = dict[str, list[str]]
Kind = Submission.Kind
Role = SentFile.Role


@dataclass(frozen=True)
class Package:
    """The files of one submission by the names of their fields, as they were given; nothing is checked yet."""

    kind: str = Kind.RANKINGS
    similarity: str = ""
    """How vectors are compared; empty for rankings."""
    files: Mapping[str, Posted] = field(default_factory=dict)
    uploads: Mapping[str, str] = field(default_factory=dict)
    """Field -> id or address of a finished resumable upload, in place of a file."""
    gallery_digest: str = ""
    """Of gallery vectors that the team has sent before, in place of a file."""

    @classmethod
    def of_runs(cls, runs: Mapping[Condition, Sequence[Posted]]) -> Package:
        """Return a package of rankings: for each condition the main file and, for CIRR, the subset file."""
        files: dict[str, Posted] = {}
        for condition, given in runs.items():
            name = condition_field(condition)
            files |= dict(zip((name, f"{name}_subset"), given, strict=False))
        return cls(files=files)


@dataclass(frozen=True)
class Part:
    """One file of a submission in its field."""

    field: Field
    content: Content


class Opener:
    """Opens a package for a team and a version of a board, collecting all that is wrong by field."""

    def __init__(self, package: Package, team: Team, version: SplitVersion) -> None:
        self._package = package
        self._team = team
        self._version = version
        self._fields = fields_of(package.kind, bundle.protocol_of(version.protocol))
        self.messages: Messages = {}

    def open(self) -> tuple[Part, ...]:
        """Return the parts in the order of their fields. What is wrong is in ``messages``."""
        if wrong := _wrong_kind(self._package, self._version):
            self.messages = wrong
            return ()
        self._refuse_strangers()
        parts = [Part(place, content) for place in self._fields if (content := self._content(place))]
        parts += self._gallery_again(parts)
        self._look_at(parts)
        self._refuse_gaps({part.field.name for part in parts})
        return tuple(parts)

    def _refuse_strangers(self) -> None:
        known = {place.name for place in self._fields}
        for name in [*self._package.files, *self._package.uploads]:
            if name not in known:
                self._say(name, _stranger(name, self._package.kind))
        if self._package.gallery_digest and "gallery" not in known:
            self._say(GALLERY_DIGEST, _stranger(GALLERY_DIGEST, self._package.kind))

    def _content(self, place: Field) -> Content | None:
        file, upload = self._package.files.get(place.name), self._package.uploads.get(place.name)
        if file is not None and upload:
            self._say(place.name, "Send the file or name an upload of it, not both.")
        elif upload:
            return self._uploaded(place, upload)
        return None if file is None else InRequest(file)

    def _uploaded(self, place: Field, named: str) -> Content | None:
        """Return a finished upload, or the file that it has become: whoever repeats a request names it again.

        Only in the same role, in which it was looked at.
        """
        try:
            became = SentFile.objects.filter(
                role=place.role,
                stored=resumable.stored_name(resumable.identity(named)),
                submission__team=self._team,
                removed_at=None,
            ).first()
            return SentBefore(became) if became else Resumed(resumable.whole(self._team, named))
        except (resumable.NoSuchUpload, resumable.NotWhole) as refusal:
            self._say(place.name, str(refusal))
            return None

    def _gallery_again(self, parts: Sequence[Part]) -> Iterator[Part]:
        """Yield gallery vectors that were sent before, with their list of ids unless another one came."""
        digest = self._package.gallery_digest
        given = {part.field.name for part in parts}
        if not digest or self._package.kind != Kind.EMBEDDINGS:
            return
        if "gallery" in given:
            self._say(GALLERY_DIGEST, "Send gallery vectors or name earlier ones, not both.")
            return
        known = galleries_of(self._team).filter(digest=digest).first()
        if known is None:
            self._say(GALLERY_DIGEST, "Your team has no such gallery vectors here (any more). Send the file.")
            return
        ids = known.submission.files.filter(role=Role.GALLERY_IDS, removed_at=None).first()
        for place, file in zip(self._fields[:2], (known, ids), strict=True):
            if file is not None and place.name not in given:
                yield Part(place, SentBefore(file))

    def _look_at(self, parts: Sequence[Part]) -> None:
        names = {part.field.name for part in parts}
        for part in parts:
            if not isinstance(part.content, InRequest | Resumed):
                continue  # it was looked at when it came, and may be deleted at any moment
            has_ids = f"{part.field.name}_ids" in names
            if wrong := wrong_with(part.field, part.content, has_ids=has_ids):
                self._say(part.field.name, wrong)

    def _refuse_gaps(self, given: set[str]) -> None:
        """Say which file is missing: the multimodal run, the gallery, and what a list of ids or a subset belongs to."""
        vectors = self._package.kind == Kind.EMBEDDINGS
        if "multimodal" not in given:
            what = "query vectors" if vectors else "ranking file"
            self._say("multimodal", f"Choose the {what} of the multimodal run; text-only and image-only are extra.")
        if vectors and "gallery" not in given and GALLERY_DIGEST not in self.messages:
            self._say("gallery", "Choose the vectors of the gallery: a file, or some that your team sent before.")
        for place in self._fields:
            main = place.name.removesuffix("_ids").removesuffix("_subset")
            if place.name in given and main not in given and main not in ("multimodal", "gallery"):
                what = "A list of ids needs its vectors." if vectors else "A subset file needs its main file."
                self._say(main, what)

    def _say(self, name: str, words: str) -> None:
        said = self.messages.setdefault(name, [])
        if not said:  # one fault of a file is enough to choose another
            said.append(words)


def takes_vectors(version: SplitVersion) -> bool:
    """Whether vectors can be ranked here: the truth must be known and the gallery at hand."""
    return not _no_vectors(version)


def galleries_of(team: Team) -> QuerySet[SentFile]:
    """Return the gallery vectors of a team that are still here, the latest first."""
    here = SentFile.objects.filter(submission__team=team, role=Role.GALLERY, removed_at=None)
    return here.select_related("submission__split").order_by("-pk")


def digest_of(package: Package, parts: Sequence[Part]) -> str:
    """Return the digest of a whole submission (decision 29).

    Rankings: of their files with their conditions, in any order, since a file says itself what it is. Vectors: of
    their files with their fields, and how they are compared.
    """
    if package.kind == Kind.EMBEDDINGS:
        lines = [f"{part.field.name} {part.content.digest}" for part in parts]
        lines.append(f"similarity {package.similarity}")
    else:
        lines = [f"{part.field.condition} {part.content.digest}" for part in parts]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def conditions_of(parts: Sequence[Part]) -> Iterator[Condition]:
    """Yield each condition that has files, once, in the order of pages."""
    found = {part.field.condition for part in parts}
    yield from (condition for condition in Condition if condition in found)


def _wrong_kind(package: Package, version: SplitVersion) -> Messages:
    if package.kind not in Kind.values:
        return {"kind": [f"Say one of: {', '.join(Kind.values)}."]}
    if package.kind == Kind.RANKINGS:
        return {"similarity": ["Only embeddings have a similarity."]} if package.similarity else {}
    if words := _no_vectors(version):
        return {"kind": [words]}
    if package.similarity not in list(Similarity):
        return {"similarity": [f"Say one of: {', '.join(Similarity)}."]}
    return {}


def _no_vectors(version: SplitVersion) -> str:
    if version.split.hidden_truth:
        return "The truth of this split is hidden: vectors cannot be scored here, and its server takes rankings."
    if version.gallery_size is None:
        return "The gallery of this split is open: ranks need the whole gallery. Send rankings."
    return ""


def _stranger(name: str, kind: str) -> str:
    """Return what is wrong with a field that this kind of submission to this board does not have."""
    if kind == Kind.EMBEDDINGS:
        return "Embeddings have no such file. For rankings, leave out kind."
    if name.endswith("_subset"):
        return FAULTS["subset-not-taken"].title + "."
    return "Only embeddings have such a file: send kind=embeddings with them."
