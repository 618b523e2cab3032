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
def scan_one(s: Array, ki: Array, kj: Array, d: Array, up: Array, down: Array, ends: Array) -> None:
    """s += d (ki - kj); the largest residual that may rise and the smallest that may fall, as ordered integers."""
    a = np.int32(-2147483647)
    b = np.int32(2147483647)
    for k in range(s.shape[0]):
        value = s[k] + d * (ki[k] - kj[k])
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
    ki: Array,
    kj: Array,
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
    p = a
    q = b
    for k in range(s.shape[0]):
        value = s[k] + d * (ki[k] - kj[k])
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
        p = x if x > p else p
        x = np.float32(down2[k] - w).view(np.int32)
        x = x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))
        q = x if x < q else q
    ends[0] = a
    ends[1] = b
    ends2[0] = p
    ends2[1] = q


@njit(**_FAST)
def gains(s: Array, ki: Array, down: Array, curvature: Array, own: Array, reach: Array, gains: Array) -> Any:
    """Second-order choice: (reach - residual)^2 / (own + curvature - 2 ki) of the rows that may fall; the best."""
    best = np.int32(0)
    least = np.float32(1e-7) * own
    for k in range(s.shape[0]):
        b = reach - (down[k] - np.float32(s[k]))
        b = b if b > np.float32(0) else np.float32(0)
        b = b if down[k] < np.float32(1e29) else np.float32(0)
        a = own + curvature[k] - np.float32(2) * ki[k]
        a = a if a > least else least
        gain = np.float32(b * b / a)
        gains[k] = gain
        x = gain.view(np.int32)
        best = x if x > best else best
    return best


@njit(**INNER)
def unkey(x: Array) -> Any:
    return np.int32(x ^ ((x >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32)
