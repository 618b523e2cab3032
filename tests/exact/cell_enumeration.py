"""Brute force: every open cell of an arrangement of integer vectors in any dimension, in integer arithmetic.

Every open cell has a vertex direction in its closure, where all but one dimension of the pairs are tied. Close to the
vertex the tied pairs decide, so the cells around it are those of the tied pairs alone, one dimension lower.
"""

from fractions import Fraction
from itertools import combinations
from math import lcm

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
    basis = _independent(rows)
    if len(basis) == 1:
        return np.array([[1], [-1]]) if len(rows) == 1 else _same(rows)
    found = set()
    for chosen in combinations(range(len(rows)), len(basis) - 1):
        z = _common_zero(rows[list(chosen)], rows)
        if z is None:
            continue
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


def _independent(rows):
    """Positions of rows that form a basis of the span."""
    reduced, chosen = [], []
    for k, row in enumerate(rows):
        rest = [Fraction(int(x)) for x in row]
        for pivot, other in reduced:
            rest = [x - rest[pivot] * y for x, y in zip(rest, other, strict=True)] if rest[pivot] else rest
        pivot = next((j for j, x in enumerate(rest) if x), None)
        if pivot is not None:
            reduced.append((pivot, [x / rest[pivot] for x in rest]))
            chosen.append(k)
    return chosen


def _common_zero(few, rows):
    """A vector in the span of all rows that a hyperplane of them is orthogonal to; None if they span less than one."""
    if len(_independent(few)) < len(few):
        return None
    for row in rows:
        z = [Fraction(int(x)) for x in row]
        ortho = []
        for other in few:  # Gram-Schmidt in fractions
            u = [Fraction(int(x)) for x in other]
            for v in ortho:
                u = _minus(u, v)
            ortho.append(u)
        for v in ortho:
            z = _minus(z, v)
        if any(z):
            scale = lcm(*(x.denominator for x in z))
            return np.array([int(x * scale) for x in z], dtype=object)
    return None


def _minus(u, v):
    share = sum(a * b for a, b in zip(u, v, strict=True)) / sum(b * b for b in v)
    return [a - share * b for a, b in zip(u, v, strict=True)]


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
    above, below = (index.ravel() for index in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    best = -np.inf
    for signs in cell_signs(X[above] - X[below]):
        rank = np.bincount(above, signs > 0, n).astype(int)
        best = max(best, float(np.asarray(gain)[rank[np.asarray(positive)]].sum()))
    return best
