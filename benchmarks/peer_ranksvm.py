"""liblinear's ranksvm (Lee and Lin 2014) as a peer, since it is no package: the same algorithm, compiled by Numba.

    min  1/2 |w|^2 + C sum over pairs (i above j) of max(0, 1 - (s_i - s_j))^2

by a trust region with conjugate gradients (TRON; Lin and More 1999), from w = 0, until the gradient is ``eps`` (0.001
there) times its first length. Values and products with the Hessian come from two sweeps over the scores sorted within
queries, with a binary tree over the grades that holds counts and sums. Rows are sparse, as liblinear holds them, and
products with them are SciPy's loops over their entries. What differs favours the peer: NumPy's vectorised sort.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit


@njit(cache=True)
def sweep(way, scores, grades, starts, n_grades, values, tree, out):
    """out[0, i], out[1, i] = number and sum of values of the partners of i within the margin: those of higher grade on
    the way up (``way`` = 1), of lower grade on the way down. All arrays are sorted by query and score."""
    for q in range(starts.shape[0] - 1):
        leaves = 1
        while leaves < n_grades[q]:
            leaves *= 2
        for k in range(2 * leaves):
            tree[0, k] = tree[1, k] = 0.0
        size = starts[q + 1] - starts[q]
        first = starts[q] if way > 0 else starts[q + 1] - 1
        inserted = 0
        for p in range(size):
            i = first + way * p
            while inserted < size and way * (scores[first + way * inserted] - scores[i]) < 1:
                j = first + way * inserted
                node = leaves + grades[j]
                while node > 0:
                    tree[0, node] += 1.0
                    tree[1, node] += values[j]
                    node //= 2
                inserted += 1
            count = total = 0.0
            node = leaves + grades[i]
            while node > 1:
                if (node % 2 == 0) == (way > 0):
                    count += tree[0, node + way]
                    total += tree[1, node + way]
                node //= 2
            out[0, i] = count
            out[1, i] = total


class RankSVM:
    """The objective over the pairs of all queries: value, gradient, products with the (generalised) Hessian."""

    def __init__(self, X, y, qid, C):
        query = np.unique(qid, return_inverse=True)[1]
        order = np.argsort(query, kind="stable")
        self.X, self.C, self.query = sp.csr_array(X[order]), C, query[order]
        self.starts = np.r_[0, np.cumsum(np.bincount(query))]
        by_grade = np.lexsort((y[order], self.query))
        new = np.r_[True, np.diff(self.query[by_grade]) > 0] | np.r_[True, np.diff(y[order][by_grade]) > 0]
        dense = np.cumsum(new) - 1
        self.grades = np.empty(len(y), dtype=np.int64)
        self.grades[by_grade] = dense - dense[self.starts[self.query[by_grade]]]
        self.n_grades = dense[self.starts[1:] - 1] - dense[self.starts[:-1]] + 1
        self.tree = np.empty((2, 4 * int(self.n_grades.max())))

    def value(self, w):
        s = self.X @ w
        order = np.argsort(s)
        self.order = order[np.argsort(self.query[order], kind="stable")] if len(self.starts) > 2 else order
        self.sorted = s[self.order], self.grades[self.order]
        above, below = self._partners(s)
        self.degree = above[0] + below[0]
        pull = self.degree * s - above[1] - below[1]
        self.margin = below[0] - above[0]
        self.pull = pull - self.margin
        return 0.5 * w @ w + self.C * (s @ (pull - 2 * self.margin) + below[0].sum())

    def gradient(self, w):
        return w + 2 * self.C * (self.X.T @ self.pull)

    def product(self, v):
        t = self.X @ v
        above, below = self._partners(t)
        return v + 2 * self.C * (self.X.T @ (self.degree * t - above[1] - below[1]))

    def _partners(self, values):
        found = []
        for way in (1, -1):
            out = np.empty((2, len(values)))
            sweep(way, *self.sorted, self.starts, self.n_grades, values[self.order], self.tree, out)
            unsorted = np.empty_like(out)
            unsorted[:, self.order] = out
            found.append(unsorted)
        return found


def tron(problem, n, eps=1e-3, max_iter=1000):
    """Weights, the number of steps and of products with the Hessian."""
    w, steps, products = np.zeros(n), 0, 0
    f, g = problem.value(w), problem.gradient(w)
    radius = first = float(np.linalg.norm(g))
    while np.linalg.norm(g) > eps * first and steps < max_iter:
        move, residual, used = bounded_cg(problem.product, g, radius)
        products += used
        slope = float(g @ move)
        promised = -0.5 * (slope - float(move @ residual))
        there = problem.value(w + move)
        gained, length = f - there, float(np.linalg.norm(move))
        if steps == 0:
            radius = min(radius, length)
        rise = there - f - slope
        alpha = 4.0 if rise <= 0 else max(0.25, -0.5 * slope / rise)
        if gained < 1e-4 * promised:
            radius = min(max(alpha, 0.25) * length, 0.5 * radius)
        elif gained < 0.25 * promised:
            radius = max(0.25 * radius, min(alpha * length, 0.5 * radius))
        elif gained < 0.75 * promised:
            radius = max(0.25 * radius, min(alpha * length, 4 * radius))
        else:
            radius = max(radius, min(alpha * length, 4 * radius))
        if gained > 1e-4 * promised:
            steps += 1
            w, f = w + move, there
            g = problem.gradient(w)
        else:
            problem.value(w)  # the products belong to w again
        if max(abs(gained), abs(promised)) <= 1e-12 * abs(f):
            break
    return w, steps, products


def bounded_cg(product, g, radius):
    """Conjugate gradients for the step to the minimum within a radius, its residual, the number of products."""
    move, residual = np.zeros_like(g), -g
    direction, square, used = residual.copy(), float(g @ g), 0
    while np.sqrt(float(residual @ residual)) > 0.1 * np.linalg.norm(g):
        used += 1
        curved = product(direction)
        alpha = square / float(direction @ curved)
        if np.linalg.norm(move + alpha * direction) > radius:
            along, own, other = float(move @ direction), float(move @ move), float(direction @ direction)
            root = np.sqrt(along**2 + other * (radius**2 - own))
            alpha = (radius**2 - own) / (along + root) if along >= 0 else (root - along) / other
            return move + alpha * direction, residual - alpha * curved, used
        move, residual = move + alpha * direction, residual - alpha * curved
        square, before = float(residual @ residual), square
        direction = residual + square / before * direction
    return move, residual, used
