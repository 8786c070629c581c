"""Submissions of vectors as rows and files, as a receipt leaves them, for the tests of what workers make of them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from sending import DECLARED

from evaluator.digests import digest_of_file
from evaluator.types import Condition, Embeddings, Split


def vectors_of(content: Split, seed: int = 0, width: int = 16) -> dict[Condition, Embeddings]:
    """Return random vectors of a split under all conditions."""
    random = np.random.default_rng(seed)
    gallery = random.normal(size=(len(content.images), width)).astype(np.float32)
    return {
        condition: Embeddings(random.normal(size=(len(content), width)).astype(np.float32), gallery)
        for condition in Condition
    }


def npz(matrix: Any, ids: Any, path: Path) -> Path:
    """Write vectors with their ids."""
    with path.open("wb") as opened:
        np.savez(opened, vectors=matrix, ids=np.array(ids))
    return path


def written(content: Split, folder: Path, vectors: Mapping[Condition, Embeddings]) -> dict[str, Path]:
    """Write vectors as ``.npz``; return role and condition -> file."""
    first = next(iter(vectors.values()))
    files = {"gallery": npz(first.gallery, content.images, folder / "my gallery.npz")}
    for condition, embeddings in vectors.items():
        files[str(condition)] = npz(embeddings.queries, content.query_ids, folder / f"my {condition}.npz")
    return files


def keep(path: Path) -> dict[str, Any]:
    """Store a file; return the columns of its row."""
    stored = default_storage.save(f"uploads/{uuid.uuid4().hex}", ContentFile(path.read_bytes()))
    size = path.stat().st_size
    return {"name": path.name, "stored": stored, "size": size, "digest": digest_of_file(path)}


def send_vectors(user: Any, board: Any, files: Mapping[str, Path], **changes: Any) -> Any:
    """Create a submission of vectors. ``files``: "gallery", "gallery ids", conditions and "CONDITION ids" -> file."""
    from accounts.services import personal_team
    from submissions.models import Run, SentFile, Submission
    from submissions.services.methods import method_of

    team = personal_team(user)
    method = method_of(team, changes.pop("method_name", "LinCIR"), "", "")
    row = {"kind": "embeddings", "similarity": "cosine", "declared": DECLARED, "digest": uuid.uuid4().hex * 2}
    row |= {"received_at": timezone.now(), "quota_day": timezone.now().date(), **changes}
    submission = Submission.objects.create(split=board.split, method=method, team=team, user=user, **row)
    runs = {c: Run.objects.create(submission=submission, condition=c) for c in Condition if str(c) in files}
    for key, path in files.items():
        kept = keep(path) if isinstance(path, Path) else path
        side, _, ids = key.partition(" ")
        role = ("gallery" if side == "gallery" else "query" if ids else "queries") + (" ids" if ids else "")
        SentFile.objects.create(
            submission=submission, run=runs.get(Condition(side)) if side != "gallery" else None, role=role, **kept
        )
    return submission
