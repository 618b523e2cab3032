"""Newton's method over all pairs: exact gradients, a Hessian from a sample of the rows where these are many.

The hinge is smoothed over a window of width h around the margin; h shrinks as the solution is approached. The
multipliers of the smoothed pairs are feasible for the hinge itself, so every step has a rigorous gap,

    P(w) - D(alpha) <= 1/2 |gradient|^2 + C h / 16 * (weight of the pairs in the window),

whose last term falls with h^2 where pairs lie dense, and with h at a kink. The squared hinge needs no window.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lapack

from hullrank._progress import tell
from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.certificate import Status
from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import Floats, PairsAt
from hullrank.problem.pairs import PairProblem
from hullrank.problem.rows import ArrayRows
from hullrank.solvers._conjugate_gradients import conjugate_gradients
from hullrank.solvers.pair_points import NARROWEST, WIDEST, PairPoint, PairStart
from hullrank.solvers.pairs_vertex import vertex

WIDE = 1.0  # window at the first weights that are not 0
FEW_COLUMNS, FEW_ROWS = 16, 400  # columns, or rows, up to which a Hessian costs no more than a few products with it
DENSE_COLUMNS = 400  # columns beyond which directions come from conjugate gradients
SQUARE_COLUMNS = 200  # the same where columns are as many as rows (kernels), so that a Hessian costs more to form
SAMPLE_ROWS = 8192  # least number of rows from which a Hessian is computed
SAMPLED = 16  # least share of all rows from which it is computed, as a divisor; from more it costs as much as a step
PATIENCE = 15  # steps without progress after which the search has stalled
MANY_STEPS = 3  # steps in one window beyond which the next windows are narrowed carefully
SHRINK = 0.1  # ratio of one window to the next
CAREFUL = 0.3  # ratio of one window to the next from which the pairs in it are followed
SOLVED = 1000.0  # ratio of the window's part of the gap to the gradient's at which a careful search calls it solved
SAME_PAIRS = 1e-6  # the inverse ratio after one step up to which the window is taken to hold the pairs that it held
BOLD = 0.003  # ratio of one window to the next that holds the same pairs
EXACT = 1e-9  # width, in margins, of the window of a point that was found without one
PAYING = 1.0  # width, in margins, of the window that no pair reaches where C is so small that all pairs pay in full
OUTDATED = 0.02  # what a step leaves of the gradient's part of the gap if the Hessian is no longer that of the point
RESIDUAL = 0.03  # relative residual at which conjugate gradients end
Inverse = Callable[[Floats], Floats]  # the product of a vector with an inverse


class PairSearch:
    """Newton's method at some ``point``; ``best`` is the point of the smallest gap so far."""

    def __init__(self, problem: PairProblem, w: Floats, width: float):
        self.problem = problem
        self.iterations = 0
        self.sample_rows = max(SAMPLE_ROWS, 20 * len(w), problem.rows.n_rows // max(SAMPLED, len(w) // 2))
        self.inverse: Inverse | None = None  # of the Hessian, while it serves
        self.is_stale = False  # whether it is that of an earlier Hessian, and serves as a preconditioner
        self.curvature: Any = None  # the last Hessian of the charge, divided by C
        self.is_whole = False  # whether the inverse is of the Hessian of all rows
        self.short_steps = self.steps = 0  # short ones in a row, and all in this window
        self.anchor: PairPoint | None = None  # the last solution in its window
        self.shrink = SHRINK
        self.watch: Callable[[Floats, float], None] | None = None  # is told where the solution is (see ``Options``)
        self.point = self.at(w, width)
        self.best = self.point.kept()

    @classmethod
    def first(cls, problem: PairProblem) -> "PairSearch":
        """A search at w = 0, or where it is cheap, along Newton's step from there, which needs no sum over scores.

        At w = 0 all pairs are alike, and no second derivative is larger, so the step itself would mostly be too short.
        Where C is so small that every pair lies well inside the margin, the search begins at the solution.
        """
        n = problem.rows.n_features
        weak = all_paying(problem)
        if weak is not None:
            return cls(problem, weak, PAYING)
        if _too_many_columns(n, problem.rows.n_rows) or not isinstance(problem.pairs, AllPairs):
            return cls(problem, np.zeros(n), WIDEST)
        mean, square = problem.mean_difference()
        pull, slope = problem.derivatives_at_zero(WIDEST)
        inverse = regular_inverse(np.eye(n) + problem.C * slope * square)
        w = problem.C * pull * inverse(mean)
        w *= problem.likely_length(float(w @ w), float(w @ mean), float(w @ square @ w))
        search = cls(problem, w, WIDE)
        search.inverse, search.is_stale, search.curvature = inverse, True, slope * square
        return search

    @classmethod
    def after(cls, problem: PairProblem, start: PairStart, w: Floats) -> "PairSearch":
        """A search near the solution w for another price, where the gradient for this one is (1 - C / that price) w.

        The second derivatives at w give Newton's step from there without a sum over pairs, and serve once more: for the
        hinge at once, by its slope there, whose sums over pairs take half as long as those over a window.
        """
        if start.curvature is None or start.C is None:
            return cls(problem, w, start.width)
        inverse = regular_inverse(np.eye(len(w)) + problem.C * start.curvature)
        w = w + (problem.C / start.C - 1) * inverse(w)
        if problem.charge is Charge.HINGE:
            slope = problem.pairs.at(problem.rows.scores(w)).hinge()[1]
            gradient = w + problem.C * problem.contrast(slope)
            search = cls(problem, w - inverse(gradient), start.width)
            search.steps = search.iterations = 1
            search.is_stale = search.point.distance > OUTDATED * 0.5 * float(gradient @ gradient)
        else:
            search = cls(problem, w, start.width)
        search.inverse, search.curvature = inverse, start.curvature
        return search

    def restart(self, w: Floats, width: float) -> None:
        """Go on from other weights."""
        self.inverse, self.short_steps, self.steps, self.anchor, self.shrink = None, 0, 0, None, SHRINK
        self.point = self.at(w, width)
        self.offer(self.point)

    def at(self, w: Floats, width: float) -> PairPoint:
        """The point at given weights."""
        return self._point(w, self.problem.rows.scores(w), width)

    def narrow(self, tol: float) -> None:
        """Shrink the window at the present weights until it is narrow enough for the tolerance."""
        p = self.point
        while p.charge.complementarity > (wanted := 0.3 * tol * p.objective) and p.width > NARROWEST:
            ratio = max(wanted / p.charge.complementarity, 0.0) ** 0.5
            p = self._point(p.w, p.scores, max(p.width * min(ratio, 0.7), NARROWEST), p.charge.at)
        self.point = p
        self.offer(p)

    def offer(self, *points: PairPoint) -> None:
        """Keep the best of the points."""
        self.best = min(self.best, *points, key=lambda point: point.gap).kept()

    def run(self, tol: float, max_iter: int, verbose: int = 0, short_steps: float = np.inf) -> Status:
        """Step until the gap is at most ``tol`` of the objective; stalled also after so many short steps in a row."""
        last_progress = self.iterations
        while self.best.gap > tol * self.best.objective:
            if self.iterations >= max_iter:
                return Status.MAX_ITER
            if self.short_steps >= short_steps and not self._retreat():
                return Status.STALLED
            if self.iterations - last_progress >= PATIENCE:
                return Status.STALLED
            self._tighten(tol)
            value, gap = self.point.value, self.best.gap
            self.advance(tol)
            if self.best.gap < 0.99 * gap or self.point.value < value - 1e-9 * abs(value):
                last_progress = self.iterations
            tell(self.point.gap / max(abs(self.point.objective), 1e-300), self._report, verbose)
            if self.watch is not None:
                self.watch(*self.best.ball(tol))
        return Status.CONVERGED

    def advance(self, tol: float) -> None:
        """One step, and what it found."""
        self._step(tol)
        self.iterations += 1
        self.offer(self.point, *self._vertices())

    def _report(self) -> str:
        p = self.point
        return (
            f"pairs {self.iterations:4d}  objective {p.objective:.10g}  gap {p.gap:.3g} "
            f"(gradient {p.distance:.2g}, window {p.charge.complementarity:.2g} of width {p.width:.2g})"
        )

    def _tighten(self, tol: float) -> None:
        """Shrink the window once it, and not the gradient, holds the gap up.

        Where windows are followed carefully, each is solved before the next. If one step did that, the pairs in the
        window stay the same, what it adds to the gap falls with its width, and it may shrink by much.
        """
        p, careful = self.point, self.shrink >= CAREFUL
        loose, wanted = p.charge.complementarity, 0.3 * tol * p.objective
        if loose <= max(p.distance * (SOLVED if careful else 1.0), 1.5 * wanted):
            return
        if self.steps > MANY_STEPS:
            self.shrink = max(self.shrink, CAREFUL)
        ratio = max(wanted, 0.0) / loose
        if careful and self.steps == 1 and p.distance <= SAME_PAIRS * loose:
            self._shrink(p, max(ratio, BOLD))
        else:
            self._shrink(p, max(min(ratio**0.5, 0.7), self.shrink))

    def _retreat(self) -> bool:
        """Return to the last solution and shrink its window less; False where there is none, or no room left."""
        if self.anchor is None or self.shrink > 0.9:
            return False
        self.shrink = max(self.shrink, CAREFUL) ** 0.5
        self._shrink(self.at(self.anchor.w, self.anchor.width), self.shrink)
        return True

    def _shrink(self, p: PairPoint, ratio: float) -> None:
        """From the solution p in its window to one narrower by ``ratio``."""
        self.anchor = p.kept()
        self.point = self._point(p.w, p.scores, p.width * ratio, p.charge.at)
        self.inverse, self.steps, self.short_steps = None, 0, 0
        if self.shrink >= CAREFUL:
            self._predict(p)
            self.inverse = None

    def _predict(self, before: PairPoint) -> None:
        """Follow the pairs in the window as it shrinks: with the multipliers they have, z shrinks with the width.

        So all pairs of the old window get the slope of the new one. Their multipliers are the mean of what they have
        at either end, C omega / 2, plus a part in proportion to z, which alone grows.
        """
        low, high, old = self.problem.window(before.width)
        steeper = self.problem.window(self.point.width)[2] / old
        at = before.charge.at
        mean = self.problem.C / 2 * (at.hinge(low)[1] + at.hinge(high)[1])
        coef = before.charge.coef + (steeper - 1) * (before.charge.coef - mean)
        direction = self._direction(before.w + self.problem.contrast(coef), before.width, steeper)
        found = self.at(before.w + direction, self.point.width)
        if found.value < self.point.value:
            self.point = found

    def _point(self, w: Floats, scores: Floats, width: float, at: PairsAt | None = None) -> PairPoint:
        charge = self.problem.charged(at or self.problem.pairs.at(scores), width)
        return PairPoint(w, scores, charge, w + self.problem.contrast(charge.coef), width)

    def _vertices(self) -> list[PairPoint]:
        """A candidate whose pairs in the window lie exactly on the margin, once the window holds the gap up."""
        p = self.point
        found = vertex(self.problem, p.scores, p.width) if p.distance <= p.charge.complementarity else None
        if found is None:
            return []
        w, charge, alpha = found
        gradient = w + self.problem.contrast(charge.coef)
        return [PairPoint(w, self.problem.rows.scores(w), charge, gradient, EXACT, alpha)]

    def _step(self, tol: float) -> None:
        """One Newton direction, followed until the slope no longer rises steeply."""
        before, fresh = self.point, self.inverse is None
        if before.distance == 0:
            return
        direction = self._direction(before.gradient, before.width)
        self.point = before = before.kept()
        slope, length = float(before.gradient @ direction), 1.0
        for _ in range(30):
            self.point = self.at(before.w + length * direction, before.width)
            end = float(self.point.gradient @ direction)
            if end <= -0.5 * slope or end == slope:  # equal where the step is lost in rounding
                break
            length *= min(max(slope / (slope - end), 0.1), 0.9)
        self.steps += 1
        self.short_steps = self.short_steps + 1 if length < 0.5 else 0
        ratio = self.point.distance / before.distance
        if ratio > OUTDATED or length < 1 or self._refreshing_pays(ratio, tol):
            self.is_stale = True
        if fresh and ratio > 0.3:
            self.sample_rows *= 4

    def _refreshing_pays(self, ratio: float, tol: float) -> bool:
        """Whether more than one step with the present inverse is likely to be left, each of which costs about as much
        as a new one; ``ratio`` is what the last step left of the gap."""
        p = self.point
        return self.is_whole and not self._products_pay and 4 * ratio * p.distance > tol * p.objective

    def _direction(self, gradient: Floats, width: float, slope: float = 1.0) -> Floats:
        """Minus the gradient divided by I + slope H, H the second derivative of the charge smoothed over ``width``."""
        if _too_many_columns(len(gradient), len(self.point.scores)):
            diagonal = 1.0 + slope * self.problem.guessed_diagonal(self.point.charge.at, width)
            return self._iterated_direction(gradient, width, slope, lambda r: r / diagonal)
        if self.inverse is None or (self.is_stale and not self._products_pay):
            self.inverse, self.is_stale = self._inverted(width, slope), False
        if self.is_stale:
            return self._iterated_direction(gradient, width, slope, self.inverse)
        return -self.inverse(gradient)

    def _inverted(self, width: float, slope: float) -> Inverse:
        """The inverse of I + slope H; with a kernel without H itself, since few of the rows are in pairs of the window.

        Let R be these rows and A the second derivative of the charge in their scores. Then H = R'AR, and
        (I + R'AR)^-1 = I - R'(I + A RR')^-1 A R, where RR' are kernel values.
        """
        problem = self.problem
        listed = not isinstance(problem.pairs, AllPairs)
        if listed or problem.charge is not Charge.HINGE or not _is_square(problem.rows):
            return regular_inverse(self._hessian(width, slope))
        self.is_whole = True
        some, A = problem.curvature_among(self.point.charge.at, width)
        if not len(some):
            return lambda r: r
        rows, A = problem.rows.take(some), slope * A
        system = A @ problem.rows.products[some][:, some]
        system[np.diag_indices(len(some))] += 1.0
        factor, pivots, _ = lapack.dgetrf(system)
        return lambda r: r - rows.adjoint(lapack.dgetrs(factor, pivots, A @ rows.scores(r))[0])

    @property
    def _products_pay(self) -> bool:
        """Whether some products with the Hessian are cheaper than the Hessian."""
        rows = self.problem.rows
        return rows.n_features >= FEW_COLUMNS and rows.n_rows > FEW_ROWS and not self.problem.charge.smooth

    def _hessian(self, width: float, slope: float) -> Floats:
        """I + slope H, from a sample of the rows where there are many."""
        problem, p = self.problem, self.point
        m, n = len(p.scores), problem.rows.n_features
        drawn = problem.pairs.sample(min(self.sample_rows, max(m // 8, 8 * SAMPLE_ROWS)), seed=2)
        self.is_whole = drawn is None
        if drawn is None:
            H = problem.curvature(p.charge.at, width)
        else:
            rows, pairs = drawn
            H = problem.among(rows, pairs).curvature(pairs.at(p.scores[rows]), width)
        self.curvature = H / problem.C
        H *= slope
        H[np.diag_indices(n)] += 1.0
        return H

    def _iterated_direction(self, gradient: Floats, width: float, slope: float, inverse: Inverse) -> Floats:
        """The direction by conjugate gradients, preconditioned by about the inverse of I + slope H."""
        problem, at = self.problem, self.point.charge.at

        def product(v: Floats) -> Floats:
            return v + slope * problem.rows.adjoint(problem.curve(at, width, problem.rows.scores(v)))

        return conjugate_gradients(product, -gradient, inverse, tol=RESIDUAL, max_iter=500)


def all_paying(problem: PairProblem) -> Floats | None:
    """The weights where every pair pays the hinge in full: C times the mean difference of the pairs' rows.

    They are the solution if no pair reaches a window of width ``PAYING``; None where one might.
    """
    if problem.charge is not Charge.HINGE or not isinstance(problem.pairs, AllPairs):
        return None
    pull, reach = problem.pairs.mean_pull(problem.rows)
    return problem.C * pull if problem.C * reach < 1 - PAYING / 2 else None


def _is_square(rows: ArrayRows) -> bool:
    """Whether there are about as many columns as rows, as with a kernel, and not few."""
    return not rows.is_sparse and FEW_COLUMNS < rows.n_features <= rows.n_rows < 2 * rows.n_features


def _too_many_columns(n: int, m: int) -> bool:
    """Whether directions come from conjugate gradients."""
    return n > (SQUARE_COLUMNS if 2 * n > m else DENSE_COLUMNS)


def regular_inverse(H: Floats) -> Inverse:
    """The inverse of H, or of a slightly larger matrix (see ``regular_cholesky``)."""
    factor = regular_cholesky(H)
    return lambda r: np.asarray(lapack.dpotrs(factor, r)[0])


def regular_cholesky(H: Floats) -> Floats:
    """A factor of H, or, where rounding leaves it indefinite, of H with a slightly larger diagonal."""
    factor, failed = lapack.dpotrf(H)
    ridge, diagonal = 1e-14, H.diagonal()
    while failed:
        if ridge > 1.0:
            return np.diag(np.sqrt(np.maximum(diagonal, 1.0)))
        factor, failed = lapack.dpotrf(H + ridge * np.diag(diagonal))
        ridge *= 100
    return np.asarray(factor)
