"""Brute force: every open cell of an arrangement of integer vectors in any dimension, in integer arithmetic.

Every open cell has a vertex direction in its closure, where all but one dimension of the pairs are tied. Close to the
vertex the tied pairs decide, so the cells around it are those of the tied pairs alone, one dimension lower.
"""

from fractions import Fraction
from itertools import combinations
from math import gcd, lcm

import numpy as np


def cell_signs(D):
    """Signs (-1, 0, 1) of D.w, one row for every open cell (with repetitions); zero rows of D have sign 0."""
    D = np.asarray(D, dtype=object)
    rows, where = _lines(D)
    signs = _cells(rows) if len(rows) else np.zeros((1, 0), dtype=np.int64)
    found = np.zeros((len(signs), len(D)), dtype=np.int64)
    for k, (line, side) in enumerate(where):
        if line is not None:
            found[:, k] = side * signs[:, line]
    return found


def _lines(D):
    """Distinct directions up to sign and length, and for each row of D its direction and side."""
    known, where = {}, []
    for row in D:
        lead = next((x for x in row if x), None)
        if lead is None:
            where.append((None, 0))
            continue
        key = tuple(Fraction(int(x), int(lead)) for x in row)
        where.append((known.setdefault(key, len(known)), 1 if lead > 0 else -1))
    lines = []
    for key in known:
        scale = lcm(*(x.denominator for x in key))
        lines.append([int(x * scale) for x in key])
    return np.array(lines, dtype=object).reshape(len(lines), -1 if lines else 0), where


def _cells(rows):
    """Sign vectors of all open cells of distinct directions."""
    rank = len(_orthogonal(rows))
    if rank == 1:
        return np.array([[1], [-1]]) if len(rows) == 1 else _same(rows)
    found, seen = set(), set()
    for chosen in combinations(range(len(rows)), rank - 1):
        z = _common_zero(rows[list(chosen)], rows)
        if z is None or tuple(z) in seen:
            continue
        seen |= {tuple(z), tuple(-z)}
        first = np.array([_sign(x) for x in rows @ z])
        tied = np.flatnonzero(first == 0)
        for inner in _cells(rows[tied]):
            for side in (1, -1):
                signs = side * first
                signs[tied] = inner
                found.add(tuple(signs.tolist()))
    return np.array(sorted(found))


def _same(rows):
    raise AssertionError(f"directions on one line should have been joined: {rows}")


def _sign(x):
    return (x > 0) - (x < 0)


def _common_zero(few, rows):
    """The vector in the span of all rows that a hyperplane of them is orthogonal to, up to its sign.

    None if the few rows span less than a hyperplane.
    """
    axes = _orthogonal(few)
    if len(axes) < len(few):
        return None
    return np.array(next(filter(any, (_less(row, axes) for row in rows))), dtype=object)


def _orthogonal(rows):
    """Integer vectors, orthogonal to each other, that span the same as the rows (Gram and Schmidt)."""
    axes = []
    for row in rows:
        rest = _less(row, axes)
        if any(rest):
            axes.append(rest)
    return axes


def _less(row, axes):
    """The direction of a row less its projections on orthogonal axes, as integers without a common factor."""
    rest = [int(x) for x in row]
    for axis in axes:
        along = sum(a * b for a, b in zip(rest, axis, strict=True))
        length = sum(b * b for b in axis)
        rest = [length * a - along * b for a, b in zip(rest, axis, strict=True)]
    common = gcd(*rest)
    return [x // common for x in rest] if common else rest


def best_auc(X, codes, weights=None, query=None):
    """Largest weight of correctly ranked pairs over all directions."""
    X = np.asarray(X, dtype=object)
    codes = np.asarray(codes)
    weights = np.ones(len(codes), dtype=int) if weights is None else np.asarray(weights)
    query = np.zeros(len(codes), dtype=int) if query is None else np.asarray(query)
    above, below = np.nonzero((codes[:, None] > codes) & (query[:, None] == query))
    signs = cell_signs(X[above] - X[below])
    return ((signs > 0) @ (weights[above] * weights[below])).max(initial=0)


def best_functional(X, positive, gain):
    """Largest sum of gain[samples strictly below] over positives, over all directions."""
    X = np.asarray(X, dtype=object)
    n = len(X)
    signs = cell_signs((X[:, None] - X).reshape(n * n, -1))
    below = (signs > 0).reshape(len(signs), n, n).sum(axis=2)
    return float(np.asarray(gain)[below[:, np.asarray(positive)]].sum(axis=1).max())
