"""Passes over the samples of a class for sequential minimal optimisation, written to be vectorised.

Maxima run over the bits of float32 as ordered integers, which compilers vectorise where they do not vectorise maxima of
floats.
"""

from typing import Any

import numpy as np

from hullrank._jit import njit

Array = Any
INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_FAST: dict[str, Any] = {**INNER, "fastmath": {"contract", "arcp", "nsz"}}


@njit(**_FAST)
def scan_one(
    s: Array, q: Array, ki: Array, kj: Array, share: Array, d: Array, up: Array, down: Array, ends: Array
) -> None:
    """q = ki - kj + share q, s += d q; the largest residual that may rise and the smallest that may fall, as ordered
    integers."""
    a = np.int32(-2147483647)
    b = np.int32(2147483647)
    for k in range(s.shape[0]):
        z = (ki[k] - kj[k]) + share * q[k]
        q[k] = z
        value = s[k] + d * z
        s[k] = value
        w = np.float32(value)
        x = np.float32(up[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        a = x if x > a else a
        x = np.float32(down[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        b = x if x < b else b
    ends[0] = a
    ends[1] = b


@njit(**_FAST)
def scan_two(
    s: Array,
    q: Array,
    ki: Array,
    kj: Array,
    share: Array,
    d: Array,
    up: Array,
    down: Array,
    up2: Array,
    down2: Array,
    ends: Array,
    ends2: Array,
) -> None:
    """The same for two groups of one class in one pass."""
    a = np.int32(-2147483647)
    b = np.int32(2147483647)
    a2 = a
    b2 = b
    for k in range(s.shape[0]):
        z = (ki[k] - kj[k]) + share * q[k]
        q[k] = z
        value = s[k] + d * z
        s[k] = value
        w = np.float32(value)
        x = np.float32(up[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        a = x if x > a else a
        x = np.float32(down[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        b = x if x < b else b
        x = np.float32(up2[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        a2 = x if x > a2 else a2
        x = np.float32(down2[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        b2 = x if x < b2 else b2
    ends[0] = a
    ends[1] = b
    ends2[0] = a2
    ends2[1] = b2


@njit(**_FAST)
def gains(
    s: Array,
    ki: Array,
    down: Array,
    curvature: Array,
    own: Array,
    reach: Array,
    q: Array,
    qi: Array,
    conjugate: Array,
    gains: Array,
) -> Any:
    """Second-order choice: (reach - residual)^2 / (own + curvature - 2 ki - conjugate (qi - q)^2) of the rows that may
    fall; the best."""
    best = np.int32(0)
    least = np.float32(1e-7) * own
    for k in range(s.shape[0]):
        b = reach - (down[k] - np.float32(s[k]))
        b = b if b > np.float32(0) else np.float32(0)
        b = b if down[k] < np.float32(1e29) else np.float32(0)
        a = own + curvature[k] - np.float32(2) * ki[k]
        apart = qi - q[k]
        a = a - conjugate * apart * apart
        a = a if a > least else least
        gain = np.float32(b * b / a)
        gains[k] = gain
        x = gain.view(np.int32)
        best = x if x > best else best
    return best


@njit(**INNER)
def unkey(x: Array) -> Any:
    return np.int32(x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32)
