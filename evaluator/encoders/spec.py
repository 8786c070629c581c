"""An encoder as data: what a maintainer writes into a file, and what decides every vector."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evaluator.encoders.problems import EncoderError

_TEXTS = ("name", "family", "model", "revision", "licence")
_REQUIRED = ("name", "family", "model", "revision")
PACE = ("key", "together", "requests_per_minute", "timeout_seconds", "tries", "first_wait_seconds")
"""Options that say how an API is called: no vector depends on them, so results stay good when they change."""


@dataclass(frozen=True)
class Spec:
    """One encoder: which weights, in which exact state, and how they are asked. ``options`` belong to the family."""

    name: str
    family: str
    model: str
    revision: str
    licence: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, row: Any) -> Spec:
        """Return the spec that JSON holds. Raises EncoderError that names the field."""
        if not isinstance(row, dict):
            raise EncoderError("spec", "not an object")
        unknown = sorted(row.keys() - {*_TEXTS, "options"})
        if unknown:
            raise EncoderError("spec", f"unknown field {', '.join(unknown)}; options go into `options`")
        for name in _TEXTS:
            value = row.get(name, "")
            if not isinstance(value, str) or (name in _REQUIRED and not value.strip()):
                raise EncoderError("spec", f"{name} must be {'a' if name in _REQUIRED else 'empty or a'} text")
        options = row.get("options", {})
        if not isinstance(options, dict):
            raise EncoderError("spec", "options must be an object")
        return cls(**{name: row.get(name, "").strip() for name in _TEXTS}, options=options)

    @classmethod
    def read(cls, path: Path) -> Spec:
        """Return the spec in a JSON file. Raises EncoderError."""
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise EncoderError("spec", f"{path}: {error.strerror}") from error
        except ValueError as error:
            raise EncoderError("spec", f"{path} is not JSON: {error}") from error

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON keeps it."""
        return asdict(self)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over everything that decides vectors; its name, its licence and :data:`PACE` do not."""
        row = {name: value for name, value in self.as_dict().items() if name not in ("name", "licence")}
        row["options"] = {name: value for name, value in self.options.items() if name not in PACE}
        return hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()

    def option(self, name: str, default: Any, *kinds: type) -> Any:
        """Return an option, which must be of one of ``kinds``. Raises EncoderError that names it."""
        value = self.options.get(name, default)
        wrong_bool = isinstance(value, bool) and bool not in kinds
        if value is not default and (wrong_bool or not isinstance(value, kinds)):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise EncoderError("spec", f"option {name} must be {wanted}, not {type(value).__name__}")
        return value
