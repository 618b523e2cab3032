"""The minimum of a quadratic in (w, theta) under very many order constraints, each turn in linear time.

Order constraints that are held as equations tie thresholds together, so that those of a tree of them have one place:
theta = z[tree] + shift. The minimum over (w, z) is one Newton system without order constraints, and what it leaves of
the gradient by theta, G't, gives the multipliers of the held ones by a sparse triangular system. The active set changes
as in ``_quadratic_minimum``: all that are broken join it, and all with a negative multiplier leave it, at once.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from hullrank.problem.intervals import IntervalProblem
from hullrank.solvers._linear_system import model_system
from hullrank.solvers.interior_point import Iterate, Settled

Floats = NDArray[np.float64]
MOST_TURNS = 30  # changes of the active set after which it is left to the interior-point method


class _Forest:
    """Trees of held order constraints, their thresholds' shifts from the first one, and the way to multipliers.

    The margin rho, where there is one, is a tree of its own.
    """

    def __init__(self, problem: IntervalProblem, held: NDArray[np.bool_]) -> None:
        q, edges = len(problem.linear), np.flatnonzero(held)
        graph = sp.csr_array((np.ones(len(edges)), (problem.up[edges], problem.low[edges])), shape=(q, q))
        self.n_trees, self.tree = connected_components(graph, directed=False)
        self.edges, self.shift = edges, np.zeros(q)
        self.closes_circle = len(edges) > q - self.n_trees
        inner = np.ones(q, dtype=bool)
        inner[np.unique(self.tree, return_index=True)[1]] = False  # the first threshold of a tree is its place
        self.inner = np.flatnonzero(inner)
        if len(edges) and not self.closes_circle:
            lines = np.tile(np.arange(len(edges)), 2)
            ends = np.concatenate([problem.up[edges], problem.low[edges]])
            G = sp.csc_array((np.repeat([1.0, -1.0], len(edges)), (lines, ends)), shape=(len(edges), q))
            self.factor = splu(G[:, self.inner])
            self.shift[self.inner] = self.factor.solve(problem.gap[edges])

    def multipliers(self, gradient: Floats, n_edges: int) -> Floats:
        """t of all order constraints, 0 where they are not held, with G't = gradient."""
        t = np.zeros(n_edges)
        if len(self.edges):
            t[self.edges] = self.factor.solve(gradient[self.inner], trans="T")
        return t


def merged_minimum(problem: IntervalProblem, terms: Settled, point: Iterate) -> Iterate | None:
    """The minimum of 1/2 |w|^2 and ``terms``; None where the active set does not settle or closes a circle.

    A margin rho that would be negative is left to another method too.
    """
    t, none, tying = point.order_multipliers, np.empty(0, dtype=np.int64), problem.low >= 0
    held = tying & (t > 0) & (not np.all(t > 0))  # multipliers that are all positive come from no active set
    free = replace(problem, up=none, low=none, gap=np.empty(0))
    for _ in range(MOST_TURNS):
        forest = _Forest(problem, held)
        if forest.closes_circle:
            return None
        tree, n_trees = forest.tree, forest.n_trees
        merged = replace(free, threshold=tree[problem.threshold].astype(np.int64), linear=np.zeros(n_trees))
        w, theta = point.w, forest.shift
        gw, gtheta = terms.curved(problem, w, theta)
        pull = np.bincount(tree, gtheta + problem.linear + terms.linear_theta, n_trees).astype(np.float64, copy=False)
        dw, place = model_system(merged, terms, len(w)).solve(-(w + gw + terms.linear_w), -pull)
        w, theta = w + dw, theta + place[tree]
        gradient = terms.curved(problem, w, theta)[1] + problem.linear + terms.linear_theta
        t = forest.multipliers(gradient, len(held))
        gaps = problem.order_gaps(theta) - problem.gap
        digits = 1e-12 * float(np.abs(theta).max(initial=0.0))
        now = (t > 0) | (gaps < -digits)
        if np.any(now & ~tying):
            return None
        if np.array_equal(now, held):
            return Iterate(w, problem.raise_thresholds(theta), np.empty(0), t)
        held = now
    return None
