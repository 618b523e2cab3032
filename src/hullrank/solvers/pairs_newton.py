"""Newton's method over all pairs, certified: exact gradients, a Hessian from a sample of the rows where these are many.

The hinge is smoothed over a window of width h around the margin; h shrinks as the solution is approached. The
multipliers of the smoothed pairs are feasible for the hinge itself, so every step has a rigorous gap,

    P(w) - D(alpha) <= 1/2 |gradient|^2 + C h / 16 * (weight of the pairs in the window),

whose last term falls with h^2 where pairs lie dense, and with h at a kink. The squared hinge needs no window.
"""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from hullrank.problem.certificate import Certificate, Status, pair_bounds
from hullrank.problem.pair_sets import Floats, PairsAt
from hullrank.problem.pairs import PairCharge, PairProblem
from hullrank.solvers.base import Solution
from hullrank.solvers.pairs_vertex import vertex

WIDEST = 4.0  # window at w = 0, where every pair lies at z = 1
DENSE_COLUMNS = 400  # beyond, directions come from conjugate gradients
SAMPLE_ROWS = 8192  # rows behind a Hessian, at the least
START_ROWS = 4000  # rows of the smallest problem whose solution starts the next larger one
NARROW = 1e-3  # window from which its pairs are tried on the margin itself
PATIENCE = 15  # steps without progress


def solve_pairs(problem: PairProblem, *, tol: float = 1e-4, max_iter: int = 200, verbose: int = 0) -> Solution:
    """Minimise the pair problem until the relative gap is at most ``tol``.

    ``multipliers`` of the solution holds v with w(alpha) = X'v: by sample, the sum of its pairs' multipliers.
    """
    started = time.perf_counter()
    search = _Search(problem, *_warm_start(problem, tol))
    status = search.run(tol, max_iter, verbose)
    best = search.best
    primal, dual = pair_bounds(problem, best.w, best.charge)
    certificate = Certificate(
        primal=primal,
        dual=dual,
        status=status,
        iterations=search.iterations,
        seconds=time.perf_counter() - started,
        solver="pairs_newton",
        n_order_constraints=problem.pairs.n_pairs,
        residuals={"gradient": float(np.linalg.norm(best.gradient))},
    )
    return Solution(best.w, np.empty(0), -best.charge.coef, best.scores, certificate)


def _warm_start(problem: PairProblem, tol: float) -> tuple[Floats, float]:
    """Weights and window of the same problem on a random eighth of the rows, started likewise."""
    m, n = problem.X.shape
    size = max(START_ROWS, 10 * n, m // 8)
    drawn = problem.pairs.sample(size, seed=1) if m > 2 * size else None
    if drawn is None:
        return np.zeros(n), WIDEST
    rows, pairs = drawn
    part = PairProblem(problem.X[rows], pairs, problem.C, problem.loss)
    search = _Search(part, *_warm_start(part, tol))
    search.run(max(tol, 1e-3), 50, 0)
    return search.best.w, search.best.width


@dataclass(frozen=True)
class _Point:
    w: Floats
    scores: Floats
    charge: PairCharge
    gradient: Floats
    width: float

    @property
    def distance(self) -> float:
        """The gradient's part of the gap."""
        return 0.5 * float(self.gradient @ self.gradient)

    @property
    def gap(self) -> float:
        return self.distance + self.charge.complementarity

    @property
    def objective(self) -> float:
        """At most P(w): the smoothed charge exceeds the hinge by up to C h / 8 in the window."""
        return 0.5 * float(self.w @ self.w) + self.charge.value - 2 * self.charge.complementarity


class _Search:
    """The state of Newton's method; ``best`` is the point of the smallest gap so far."""

    def __init__(self, problem: PairProblem, w: Floats, width: float):
        self.problem = problem
        self.iterations = 0
        self.sample_rows = max(SAMPLE_ROWS, 20 * len(w))
        self.point = self.best = self._point(w, problem.X @ w, width)
        self.factor: Any = None  # of the Hessian, while it serves

    def run(self, tol: float, max_iter: int, verbose: int) -> Status:
        """Step until the gap is at most ``tol`` of the objective."""
        last_progress = 0
        try:
            while self.best.gap > tol * self.best.objective:
                if self.iterations >= max_iter:
                    return Status.MAX_ITER
                if self.iterations - last_progress >= PATIENCE:
                    return Status.STALLED
                self._narrow(tol)
                self._step()
                self.iterations += 1
                if self.point.gap < 0.99 * self.best.gap:
                    last_progress = self.iterations
                self.best = min(self.best, self.point, *self._vertices(), key=lambda point: point.gap)
                if verbose:
                    self._report()
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return Status.CONVERGED

    def _report(self) -> None:
        p = self.point
        print(
            f"pairs {self.iterations:4d}  objective {p.objective:.10g}  gap {p.gap:.3g} "
            f"(gradient {p.distance:.2g}, window {p.charge.complementarity:.2g} of width {p.width:.2g})"
        )

    def _narrow(self, tol: float) -> None:
        """Shrink the window once it, and not the gradient, holds the gap up."""
        p = self.point
        loose, wanted = p.charge.complementarity, 0.3 * tol * p.objective
        if loose <= max(p.distance, 1.5 * wanted):
            return
        width = p.width * min(max(np.sqrt(max(wanted, 0.0) / loose), 0.1), 0.7)
        self.point = self._point(p.w, p.scores, width, p.charge.at)
        self.factor = None

    def _point(self, w: Floats, scores: Floats, width: float, at: PairsAt | None = None) -> _Point:
        charge = self.problem.charge(at or self.problem.pairs.at(scores), width)
        return _Point(w, scores, charge, w + self.problem.X.T @ charge.coef, width)

    def _vertices(self) -> list[_Point]:
        """A candidate whose pairs in the window lie exactly on the margin, once the window is narrow."""
        p = self.point
        found = vertex(self.problem, p.scores, p.width) if p.width < NARROW else None
        if found is None:
            return []
        w, charge = found
        return [_Point(w, self.problem.X @ w, charge, w + self.problem.X.T @ charge.coef, p.width)]

    def _step(self) -> None:
        """One Newton direction, followed until the slope is half as steep as at the start."""
        before, fresh = self.point, self.factor is None
        if before.distance == 0:
            return
        direction = self._direction()
        move = self.problem.X @ direction
        slope, length = float(before.gradient @ direction), 1.0
        for _ in range(30):
            self.point = self._point(before.w + length * direction, before.scores + length * move, before.width)
            end = float(self.point.gradient @ direction)
            if end <= -0.5 * slope:
                break
            length *= min(max(slope / (slope - end), 0.1), 0.9)
        ratio = self.point.distance / before.distance
        if ratio > 0.02 or length < 1:
            self.factor = None
        if fresh and ratio > 0.3:
            self.sample_rows *= 4

    def _direction(self) -> Floats:
        p = self.point
        if len(p.w) > DENSE_COLUMNS:
            return _conjugate_gradients(self.problem, p, self._column_variance)
        if self.factor is None:
            self.factor = cho_factor(self._hessian())
        return -cho_solve(self.factor, p.gradient)

    def _hessian(self) -> Floats:
        """I + factor X'LX, L over the pairs in the ramp; from a sample of the rows where there are many."""
        X, p = self.problem.X, self.point
        low, high, factor = self.problem.window(p.width)
        m, n = X.shape
        drawn = self.problem.pairs.sample(min(self.sample_rows, max(m // 8, 8 * SAMPLE_ROWS)), seed=2)
        if drawn is None:
            gram = p.charge.at.gram(low, high, X)
        else:
            rows, pairs = drawn
            gram = pairs.at(p.scores[rows]).gram(low, high, X[rows])
        gram *= factor
        gram[np.diag_indices(n)] += 1.0
        return gram

    @cached_property
    def _column_variance(self) -> Floats:
        X = self.problem.X
        squares = X.multiply(X) if sp.issparse(X) else X * X
        means = np.asarray(X.mean(axis=0)).ravel()
        return np.maximum(np.asarray(squares.mean(axis=0)).ravel() - means**2, 0.0)


def _conjugate_gradients(problem: PairProblem, p: _Point, variance: Floats, rtol: float = 0.03) -> Floats:
    """Direction -(I + factor X'LX)^-1 gradient to a relative residual, scaled by a guess of the Hessian's diagonal."""
    low, high, factor = problem.window(p.width)
    X, at = problem.X, p.charge.at
    scale = 1.0 / (1.0 + 2.0 * factor * at.ramp(low, high).inside * variance)
    direction, residual = np.zeros_like(p.w), -p.gradient
    step = scale * residual
    product = float(residual @ step)
    enough = rtol**2 * product
    for _ in range(500):
        image = step + factor * (X.T @ at.laplacian(low, high, X @ step))
        length = product / float(step @ image)
        direction += length * step
        residual -= length * image
        scaled = scale * residual
        product, last = float(residual @ scaled), product
        if product <= enough:
            break
        step = scaled + product / last * step
    return direction
