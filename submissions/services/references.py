"""Reference numbers, made where every app can reach them."""

from accounts.references import new

__all__ = ["new"]
