"""Reference numbers: what a person is told of a failure of ours, and what the log has it under."""

from __future__ import annotations

import secrets


def new() -> str:
    """Return a reference such as ``E-1A2B3C4D``."""
    return f"E-{secrets.token_hex(4).upper()}"
