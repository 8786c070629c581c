"""Where things are: the checkout, the state, the virtual environment."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from _house.problem import Problem

ROOT = Path(__file__).resolve().parent.parent.parent
MEBIBYTE = 2**20


@dataclass(frozen=True)
class Places:
    """The folders of one checkout. ``CIRBOARD_VAR`` moves the state; the environment stays with the checkout."""

    root: Path
    var: Path

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> Places:
        """Return the places of the checkout that this file is in."""
        return cls(ROOT, Path(environ.get("CIRBOARD_VAR") or ROOT / "var").resolve())

    @property
    def venv(self) -> Path:
        return self.root / "var" / "venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def logs(self) -> Path:
        return self.var / "log"

    def make(self) -> None:
        """Make the folders. Raises Problem where that cannot be, OSError where it is not allowed or full."""
        for folder in (self.venv.parent, self.var, self.logs):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
                raise Problem(
                    f"The folder {folder} cannot be made ({error.strerror}). Is CIRBOARD_VAR right?"
                ) from error
            if not os.access(folder, os.W_OK):
                raise PermissionError(errno.EACCES, "not writable", str(folder))


def require_space(folder: Path, needed: int) -> None:
    """Raise a Problem where fewer than ``needed`` bytes are free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Problem(
            f"The disk is nearly full: {free // MEBIBYTE} MB are free in {folder}, {needed // MEBIBYTE} MB are needed. "
            "Free some space and run the command again."
        )
