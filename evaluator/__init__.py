"""Protocols, measures and ranks of composed image retrieval. Knows nothing of Django, clocks or networks.

The front door is :func:`evaluator.scoring.score`; see ``docs/architecture.md``.
"""

__version__ = "1.0.0"
