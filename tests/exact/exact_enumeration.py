"""Brute force: every open cell of an arrangement of integer vectors in two or three dimensions, in integer arithmetic.

Every open cell has a vertex direction in its closure; the pairs tied there are decided by directions between the ones
at which they change, so all cells are reached by exact lexicographic perturbation.
"""

import numpy as np


def cell_signs(D):
    """Signs (-1, 0, 1) of D.w, one row for every open cell (with repetitions, and some rows for places on planes)."""
    D = np.asarray(D, dtype=np.int64)
    rows = np.unique(D[D.any(axis=1)], axis=0)
    found = [np.zeros((1, len(D)), dtype=np.int64)]
    for z in _vertices(rows):
        first = np.sign(D @ z)
        tied = rows[rows @ z == 0]
        ways = _around(tied, z)
        second = np.sign(ways[:, 0] @ D.T)
        third = np.sign(ways[:, 1] @ D.T)
        found.append(np.where(first != 0, first, np.where(second != 0, second, third)))
    return np.unique(np.concatenate(found), axis=0)


def _vertices(rows):
    if rows.shape[1] == 2:
        found = np.c_[-rows[:, 1], rows[:, 0]]
    else:
        a, b = np.triu_indices(len(rows), 1)
        found = _cross(rows[a], rows[b])
        found = found[found.any(axis=1)]
        if not len(found):  # all rows on one line
            found = _cross(rows[:1], np.array([[1, 0, 0]] if rows[0, 1:].any() else [[0, 1, 0]]))
    found = found // np.gcd.reduce(found, axis=1)[:, None]
    return np.unique(np.r_[found, -found], axis=0)


def _around(tied, z):
    """Pairs of successive perturbations (m, 2, d) that reach every cell around z."""
    sides = np.array([tied[0], -tied[0]])
    if len(z) == 2:
        return np.stack([sides, np.zeros_like(sides)], axis=1)
    ends = _cross(z[None, :], tied)
    ends = np.unique(np.r_[ends, -ends] // np.gcd.reduce(np.r_[ends, ends], axis=1)[:, None], axis=0)
    a, b = np.triu_indices(len(ends), 1)
    between = np.stack([ends[a] + ends[b], np.zeros((len(a), 3), dtype=np.int64)], axis=1)
    beside = np.stack([np.repeat(ends, 2, axis=0), np.tile(sides, (len(ends), 1))], axis=1)
    return np.concatenate([between, beside])


def _cross(a, b):
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


def best_auc(X, codes, weights=None, query=None):
    """Largest weight of correctly ranked pairs over all directions."""
    X = np.asarray(X, dtype=np.int64)
    codes = np.asarray(codes)
    weights = np.ones(len(codes), dtype=int) if weights is None else np.asarray(weights)
    query = np.zeros(len(codes), dtype=int) if query is None else np.asarray(query)
    above, below = np.nonzero((codes[:, None] > codes) & (query[:, None] == query))
    D = X[above] - X[below]
    return max(((weights[above] * weights[below])[signs > 0].sum() for signs in cell_signs(D)), default=0)


def best_functional(X, positive, gain):
    """Largest sum of gain[samples strictly below] over positives, over all directions."""
    X = np.asarray(X, dtype=np.int64)
    n = len(X)
    signs = cell_signs((X[:, None] - X).reshape(n * n, -1))
    below = (signs > 0).reshape(len(signs), n, n).sum(axis=2)
    return float(np.asarray(gain)[below[:, np.asarray(positive)]].sum(axis=1).max())
