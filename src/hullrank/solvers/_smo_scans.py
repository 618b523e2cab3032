"""Passes over samples for sequential minimal optimisation, written to be vectorised.

What is done twice to a sample does no harm, so the rest of a range that does not fill a block of ``_BLOCK`` is the last
block of the range.
"""

from typing import Any

import numpy as np

from hullrank._jit import INNER, fmax, fmin, njit

Array = Any
_FAST: dict[str, Any] = {**INNER, "fastmath": {"contract", "arcp", "nsz"}}
_BLOCK = 64


@njit(**_FAST)
def move(s: Array, q: Array, ki: Array, kj: Array, share: Array, d: Array, rounded: Array) -> None:
    """q = ki - kj + share q, s += d q; s also in float32."""
    for k in range(s.shape[0]):
        z = (ki[k] - kj[k]) + share * q[k]
        q[k] = z
        value = s[k] + d * z
        s[k] = value
        rounded[k] = np.float32(value)


@njit(**_FAST)
def _extremes(s: Array, up: Array, down: Array, n: Array, a: Array, b: Array) -> Any:
    for k in range(n):
        a = fmax(a, up[k] - s[k])
        b = fmin(b, down[k] - s[k])
    return a, b


@njit(**_FAST)
def extremes(s: Array, up: Array, down: Array, ends: Array) -> None:
    """The largest residual that may rise and the smallest that may fall."""
    n = s.shape[0]
    a, b = _extremes(s, up, down, n // _BLOCK * _BLOCK, np.float32(-3e38), np.float32(3e38))
    rest = min(n, _BLOCK)
    ends[0], ends[1] = _extremes(s[n - rest :], up[n - rest :], down[n - rest :], rest, a, b)


@njit(**_FAST)
def _gains(s: Array, ki: Array, down: Array, curvature: Array, q: Array, gains: Array, n: Array, own: Array,
           reach: Array, qi: Array, conjugate: Array, best: Array) -> Any:  # fmt: skip
    least = np.float32(1e-7) * own
    for k in range(n):
        b = reach - (down[k] - s[k])
        b = b if b > np.float32(0) else np.float32(0)
        b = b if down[k] < np.float32(1e29) else np.float32(0)
        a = own + curvature[k] - np.float32(2) * ki[k]
        apart = qi - q[k]
        a = a - conjugate * apart * apart
        a = a if a > least else least
        gain = np.float32(b * b / a)
        gains[k] = gain
        best = fmax(best, gain)
    return best


@njit(**_FAST)
def gains(s: Array, ki: Array, down: Array, curvature: Array, q: Array, gains: Array, own: Array, reach: Array,
          qi: Array, conjugate: Array) -> Any:  # fmt: skip
    """Second-order choice: (reach - residual)^2 / (own + curvature - 2 ki - conjugate (qi - q)^2) of the rows that may
    fall; the best."""
    n = s.shape[0]
    whole = n // _BLOCK * _BLOCK
    best = _gains(s, ki, down, curvature, q, gains, whole, own, reach, qi, conjugate, np.float32(0))
    rest = min(n, _BLOCK)
    a = n - rest
    return _gains(s[a:], ki[a:], down[a:], curvature[a:], q[a:], gains[a:], rest, own, reach, qi, conjugate, best)


@njit(**_FAST)
def differences(a: Array, b: Array, out: Array) -> None:
    """a - b."""
    for k in range(a.shape[0]):
        out[k] = a[k] - b[k]


@njit(**INNER)
def find(values: Array, n: Array, wanted: Array) -> Any:
    """The first of n values that equals ``wanted``, or the last."""
    size = min(n, _BLOCK)
    for start in range(0, n, _BLOCK):
        first = min(start, n - size)
        block = values[first : first + _BLOCK]
        place = np.int32(_BLOCK)
        for k in range(size):
            place = min(place, np.int32(k) if block[k] == wanted else np.int32(_BLOCK))
        if place < _BLOCK:
            return first + place
    return n - 1
