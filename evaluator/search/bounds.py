"""How far a fast product can be from the score: proven, so that what it decides is decided.

Notation: u = 2^-24 is float32's unit roundoff, v = 2^-8 bfloat16's, gamma(n) = n u / (1 - n u) (Higham, *Accuracy and
Stability of Numerical Algorithms*, 2nd ed., section 3.1), |x| the Euclidean length. A dot product of n terms computed
in float32, in **any** order and with or without fused operations, is off by at most gamma(n) sum |x_i y_i|, which is
at most gamma(n) |x| |y| (Cauchy-Schwarz). Nothing else is assumed of a matrix product: neither its order nor its
blocking.

*float32.* The d coordinates are multiplied in slices of :data:`SLICE`; the partial products are added by us. A slice is
off by gamma(w) |x_b| |y_b|, and sum |x_b| |y_b| <= |x| |y|; adding B slices one after the other costs gamma(B - 1)
more: together at most **gamma(w + B) |x| |y|**, 3 times less than gamma(d) |x| |y| at d = 768 and as fast.

*bfloat16.* With x~, y~ the rounded vectors, x.y - x~.y~ = (x - x~).y + x~.(y - y~), so it is at most
**|x - x~| |y| + |x~| |y - y~|**, measured lengths and not their worst case. Products of bfloat16 numbers are exact in
float32, their sum, in slices or not, is off by gamma(d + 1) |x~| |y~|. The result may be rounded to bfloat16. Rounding
is monotone: s <= t + e gives round(s) <= round(t + e) <= (t + e) + v |t + e|, which is how :func:`band` widens a
threshold.

*float64.* Pairs left in doubt are multiplied again, in float64 and any order: that and the score itself, whose fold is
one more order, are each off by at most d 2^-53 / (1 - d 2^-53) |x| |y|, together less than d 2^-51 |x| |y|.

Added to the first two: 2^-40 |x| |y| for the float64 roundings of the score and of the bounds themselves; and to each a
term for products below the normal range, which hardware may flush to zero: d 2^-120 (vectors are first scaled by powers
of two to lengths below 2).
"""

from __future__ import annotations

import numpy as np

from evaluator.types import FloatArray, VectorArray

SLICE = 256
"""Coordinates multiplied at once in float32."""
FLOAT32 = 2.0**-24
BFLOAT16 = 2.0**-8
_OURS = 2.0**-40
_FLUSHED = 2.0**-120


def gamma(terms: int) -> float:
    """Return n u / (1 - n u): the relative error of a float32 sum of n products."""
    return terms * FLOAT32 / (1 - terms * FLOAT32)


def float32_radius(lengths: FloatArray, longest: float, dimension: int, *, slice_: int = SLICE) -> FloatArray:
    """Return for each query how far a float32 product can be from a score with vectors up to ``longest``.

    ``slice_``: how many coordinates are multiplied at once.
    """
    slices = -(-dimension // slice_)
    relative = gamma(min(dimension, slice_) + slices) + _OURS
    return lengths * longest * relative + dimension * _FLUSHED


def bfloat16_radius(
    lengths: FloatArray, errors: FloatArray, longest: float, worst: float, dimension: int
) -> FloatArray:
    """Return the same for bfloat16, before its result is rounded.

    ``errors`` are the queries' |x - x~|; ``worst`` is the largest |y - y~| of the gallery.
    """
    rounded, longest_rounded = lengths + errors, longest + worst
    exact = errors * longest + rounded * worst
    return exact + rounded * longest_rounded * (gamma(dimension + 1) + _OURS) + dimension * _FLUSHED


def float64_radius(lengths: FloatArray, longest: float, dimension: int) -> FloatArray:
    """Return the same for float64, in any order."""
    return lengths * longest * dimension * 2.0**-51 + dimension * _FLUSHED


def band(score: FloatArray, radius: FloatArray, *, rounded: bool) -> tuple[VectorArray, VectorArray]:
    """Return the float32 ends (low, high) between which a fast product of an image with this score must lie.

    What lies above ``high`` scores higher, what lies below ``low`` scores lower. ``rounded``: results are bfloat16.
    """
    low, high = score - radius, score + radius
    if rounded:
        low, high = low - BFLOAT16 * np.abs(low), high + BFLOAT16 * np.abs(high)
    below, above = np.float32(-np.inf), np.float32(np.inf)
    return np.nextafter(low.astype(np.float32), below), np.nextafter(high.astype(np.float32), above)


def to_bfloat16(rows: VectorArray) -> VectorArray:
    """Return float32 numbers rounded to the nearest bfloat16, ties to even, as float32."""
    bits = np.ascontiguousarray(rows).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    kept: VectorArray = ((bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF0000)).view(np.float32)
    return kept


def rounding_errors(rows: VectorArray) -> FloatArray:
    """Return how far each row (m,) is from its bfloat16."""
    errors = np.empty(len(rows))
    for start in range(0, len(rows), 64):  # few enough for their copies to stay in a processor's second cache
        some = rows[start : start + 64]
        off = some - to_bfloat16(some)
        errors[start : start + 64] = np.einsum("ij,ij->i", off, off, dtype=np.float64)
    return np.asarray(np.sqrt(errors))
