"""Measures: values with a name that prints and parses (``docs/measures.md`` has formula, source and traps of each)."""

from evaluator.measures.base import Description, Measure, Unit
from evaluator.measures.registry import REGISTRY, describe, parse
from evaluator.measures.view import UnavailableError

__all__ = ["REGISTRY", "Description", "Measure", "UnavailableError", "Unit", "describe", "parse"]
