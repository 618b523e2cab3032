"""Dual coordinate descent for sparse rows with many columns (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008).

Thresholds cost nothing, so the multipliers of the rows must balance at each of them, and no multiplier could move
alone. The method of multipliers (Hestenes 1969, Powell 1969) frees them: thresholds pay 1 / (2 sigma) times their
squared distance from a reference, the dual is then minimised over one multiplier after another, weights and thresholds
following every move, and after each sweep the reference moves to the thresholds found. Nothing but the stored entries
of X is touched, and nothing dense is made beyond vectors of the columns.

With the L1 penalty the weights have a reference too: w_j = reference_j + scale * z_j, z = X'(sign alpha), moved towards
0 by ``scale``, which makes exact zeros. The reference moves until |z_j| <= 1. Yu, Huang and Lin (2011) treat the
logistic charge, whose step is the root of an equation in one unknown.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell
from hullrank.problem.certificate import CertifiedPoint, Status
from hullrank.problem.layout import GROUP
from hullrank.solvers._scaled import Best, ScaledProblem
from hullrank.solvers.interior_point import Iterate

Floats = NDArray[np.float64]
SOFTNESS = 16.0  # sigma times the rows of a threshold; raising it closes the flow faster, and slows the rows down
LEAST_SOFTNESS = 0.3  # of thresholds that order constraints tie
TIED = 80.0  # softness of tied thresholds, times their number: long stiff chains move slowly
SCALE = 10.0  # first factor on the weights under L1; raising it brings |z_j| to 1 faster, and slows the rows down
SOLVED = 0.03, 0.5  # ratios of the rows' part of the gap to the rest below which SCALE grows, and above which it falls
BALANCE = 1.1  # factor by which SCALE grows or falls
SHARE = 0.5  # least share of a row's squared length that counts under L1: with half of it no step makes the point worse
PARTS = 10, 50  # least and most parts of a sweep; after each the order constraints have their turn
SWEEPS = 5  # sweeps over all rows in an iteration
HOPE = 4.0  # a certificate is asked for where the gap as a sweep met it is at most this many times the tolerance


def solve_by_coordinate_descent(scaled: ScaledProblem, tol: float, max_iter: int) -> tuple[Iterate, CertifiedPoint]:
    """Sweep over all rows in random order until the certificate agrees; an interrupt ends it at the last point."""
    state, best = _State(scaled), Best(scaled, tol)
    rng = np.random.default_rng(0)
    status = Status.MAX_ITER
    try:
        for _ in range(SWEEPS * max_iter):
            state.sweep(rng.permutation(scaled.n_samples))
            tell(state.relative_gap, state.report, scaled.verbose)
            if state.relative_gap <= HOPE * tol and best(state.point()):
                status = Status.CONVERGED
                break
            state.move_references()
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return best.result(replace(state.point(), iterations=-(-state.n_sweeps // SWEEPS), status=status))


class _State:
    """Multipliers a of the rows and t of the order constraints, and what follows them: u (see ``w``) and theta."""

    def __init__(self, scaled: ScaledProblem) -> None:
        from hullrank.solvers import _coordinate_loops

        self.loops, self.scaled = _coordinate_loops, scaled
        problem, layout = scaled.problem, scaled.layout
        self.entries = scaled.rows.entries()
        self.squares = self.entries.squares()
        self.classes = np.repeat(np.arange(len(scaled.starts) - 1), np.diff(scaled.starts))
        home = problem.group_class[layout.table[:, GROUP]]
        self.bundles = np.argsort(home, kind="stable")
        self.first = np.searchsorted(home[self.bundles], np.arange(len(scaled.starts)))
        self.sizes = np.diff(layout.group_starts)
        per_threshold = np.bincount(problem.threshold, self.sizes, problem.n_thresholds)
        softness = max(min(SOFTNESS, TIED / len(problem.linear)), LEAST_SOFTNESS) if len(problem.up) else SOFTNESS
        self.sigma = softness / np.maximum(np.append(per_threshold, [layout.n_rows] * problem.has_rho), 1.0)
        theta = problem.raise_thresholds(np.zeros(len(problem.linear)))
        self.theta = theta - theta.mean() - self.sigma * problem.linear
        self.scale = SCALE if problem.l1 else 1.0
        self.reference = np.zeros(scaled.rows.n_features)
        self.u = self.reference.copy()
        self.a, self.t = np.zeros(layout.n_rows), np.zeros(len(problem.up))
        self.totals = np.zeros(2)
        self.n_sweeps = 0

    @property
    def w(self) -> Floats:
        """The weights: u, or under L1 what is left of it beyond the scale."""
        soft = self.scale if self.scaled.problem.l1 else 0.0
        return self.u - np.clip(self.u, -soft, soft)

    @property
    def z(self) -> Floats:
        """X'(sign alpha)."""
        return (self.u - self.reference) / self.scale

    def sweep(self, order: NDArray[np.int64]) -> None:
        """Move every multiplier once."""
        problem, layout, entries = self.scaled.problem, self.scaled.layout, self.entries
        groups = np.stack([problem.sign, problem.offset])
        rho = problem.n_thresholds if problem.has_rho else -1
        soft, share = (self.scale, SHARE) if problem.l1 else (0.0, 1.0)
        self.totals[:] = 0.0
        for part in np.array_split(order, np.clip(len(problem.up), *PARTS)):
            self.loops.sweep(
                entries.values, entries.columns, entries.starts, entries.pick, 1 / entries.scale, part, self.classes,
                self.bundles, self.first, layout.table, groups, problem.threshold, rho, problem.charge.code,
                layout.cost, self.squares, self.sigma, self.a, self.u, self.scale, soft, share, self.theta, self.totals,
            )  # fmt: skip
            self.loops.order_sweep(problem.up, problem.low, problem.gap, self.sigma, self.t, self.theta)
        self.n_sweeps += 1
        # The gap, relative to the objective: what the rows leave, and under L1 what |z_j| <= 1 leaves.
        charge, loose = self.totals
        objective = problem.penalty.of(self.w) + float(charge) + float(problem.linear @ self.theta)
        self.loose = float(loose) / max(abs(objective), 1e-300)
        self.beyond = max(float(np.abs(self.z).max(initial=0.0)) - 1.0, 0.0) if problem.l1 else 0.0

    def move_references(self) -> None:
        """Thresholds and weights pay their distance from where they are now, which moves them on."""
        problem, layout = self.scaled.problem, self.scaled.layout
        sent = np.add.reduceat(np.append(layout.cost * self.a, 0.0), layout.group_starts[:-1])
        sent[self.sizes == 0] = 0.0
        self.theta -= self.sigma * (problem.linear + problem.flow(sent) - problem.order_adjoint(self.t))
        if problem.l1:
            z, self.reference = self.z, self.w
            if self.loose > SOLVED[1] * self.beyond:
                self.scale /= BALANCE
            elif self.loose < SOLVED[0] * self.beyond:
                self.scale *= BALANCE
            self.u = self.reference + self.scale * z

    @property
    def relative_gap(self) -> float:
        """The gap beside the objective, both as the last sweep met them."""
        return self.loose + self.beyond

    def report(self) -> str:
        """A line on the last sweep."""
        return f"{self.n_sweeps:4d}  charge {self.totals[0]:.10g}  relative gap {self.loose:.2e} + {self.beyond:.2e}"

    def point(self) -> Iterate:
        """The current point as a record."""
        return Iterate(self.w, self.theta, self.a, self.t)
