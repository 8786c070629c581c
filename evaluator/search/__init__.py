"""Exact ranks and nearest images from vectors, fast: the one part that may use torch and faiss, imported inside.

:func:`judged_ranks` and :func:`top_k` return the same on every device, with every block size and number of workers.
"""

from evaluator.search.judged import judged_ranks
from evaluator.search.nearest import Nearest, top_k

__all__ = ["Nearest", "judged_ranks", "top_k"]
