"""The names under which files come, in the form, the API and every message about them: one list for all three."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.types import Condition, Protocol
from submissions.models import SentFile, Submission

GALLERY_DIGEST = "gallery_digest"
"""Names gallery vectors that the team has sent before, in place of a file."""


@dataclass(frozen=True)
class Field:
    """One place for a file. Whatever may come as a file may come as a finished resumable upload, too."""

    name: str
    role: SentFile.Role
    condition: Condition | None
    """None: of all runs, as the gallery is."""

    @property
    def upload(self) -> str:
        """Name of the field that names a finished resumable upload instead."""
        return upload_field(self.name)

    @property
    def holds_ids(self) -> bool:
        """Whether it is the list of ids beside vectors."""
        return self.role in (SentFile.Role.QUERY_IDS, SentFile.Role.GALLERY_IDS)

    @property
    def holds_vectors(self) -> bool:
        return self.role in (SentFile.Role.QUERIES, SentFile.Role.GALLERY)


def upload_field(name: str) -> str:
    """Return the name of the field that takes the id of a finished upload in place of the file ``name``."""
    return f"{name}_upload"


def condition_field(condition: Condition) -> str:
    """Return the name of a run's main file: ``multimodal``, ``text_only``, ``image_only``."""
    return str(condition).replace("-", "_")


def fields_of(kind: str, protocol: Protocol) -> tuple[Field, ...]:
    """Return the fields of one kind of submission to a board, in the order of pages."""
    return tuple(_vector_fields() if kind == Submission.Kind.EMBEDDINGS else _ranking_fields(protocol))


def all_names() -> tuple[str, ...]:
    """Return every field that a file can come in, of any kind and board."""
    runs = [condition_field(condition) for condition in Condition]
    return (*runs, *(f"{run}_subset" for run in runs), *(f"{run}_ids" for run in runs), "gallery", "gallery_ids")


def _ranking_fields(protocol: Protocol) -> Iterator[Field]:
    for condition in Condition:
        name = condition_field(condition)
        yield Field(name, SentFile.Role.RANKING, condition)
        if protocol.member_list_length:
            yield Field(f"{name}_subset", SentFile.Role.SUBSET, condition)


def _vector_fields() -> Iterator[Field]:
    yield Field("gallery", SentFile.Role.GALLERY, None)
    yield Field("gallery_ids", SentFile.Role.GALLERY_IDS, None)
    for condition in Condition:
        name = condition_field(condition)
        yield Field(name, SentFile.Role.QUERIES, condition)
        yield Field(f"{name}_ids", SentFile.Role.QUERY_IDS, condition)
