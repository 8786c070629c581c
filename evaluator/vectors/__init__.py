"""Readers of vector files: paths and a split in, vectors in the split's order or every fault out (decision 26).

A header is checked against the limits before a byte of data is read; arrays are memory-mapped where the file allows;
nothing is ever unpickled. A file goes ``tables`` (its format, by content) -> ``matching`` (ids to positions).
"""

from evaluator.vectors.matching import VectorFile, read_embeddings
from evaluator.vectors.source import VectorLimits
from evaluator.vectors.tables import is_vectors

__all__ = ["VectorFile", "VectorLimits", "is_vectors", "read_embeddings"]
