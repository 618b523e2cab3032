"""Interval problems with kernels: sequential minimal optimisation, Newton on the free multipliers, a certified gap.

Sequential steps find the face of the optimum quickly and then crawl along the small eigenvalues of the kernel; Newton
steps on the free multipliers do not crawl, but cost the cube of their number. So a Newton step is taken where it costs
less than the sequential steps that it is likely to save. Samples that stand at a bound and will hardly leave it rest
until the others are done. Kernel rows are float32. Scores are kept in float64 and recomputed from float64 kernel values
before an answer is believed, so their error is that of the last steps only.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell
from hullrank.problem.certificate import CertifiedPoint, Status, certify_intervals
from hullrank.problem.charges import Charge
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernels import Gram
from hullrank.problem.layout import RowLayout
from hullrank.solvers import _smo_loops as loops
from hullrank.solvers._smo_focus import Focus
from hullrank.solvers._smo_newton import FreeFace, free_rows, newton_step
from hullrank.solvers._smo_primal import Primal, best_primal
from hullrank.solvers._smo_start import Start, feasible_start, put_start
from hullrank.solvers._smo_state import RowCache, SmoState, make_state, row_memory

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_THRESHOLDS = 200
_FALL = 0.2  # of the demanded violation from one level to the next,
_STEEP_FALL = 0.018  # where a level takes less than
_GRADING = 1e-3  # seconds, no more than what belongs to its end
_FIRST = 100.0  # the first demand, in tolerances of the first violation,
_LEAST_FIRST = 0.1  # but not less than so much of it
_FLOPS = 4e10  # of a Newton step, per second
_PATIENCE = 3.5  # prices of a Newton step that others may cost before one is taken,
_PATIENCE_BETWEEN = 2.5  # between two levels, if one is left to go; half with two left,
_LEVELS = 1.9  # and so many while the gap is not known
_SETTLED = 0.2  # of the free rows: where so few changed since the last level, a Newton step may be the last
_CLEAN = 0.3  # of the price of a Newton step if the last one went its whole way
_WORTHWHILE = 0.4  # length below which a Newton step, cut by many bounds, does more harm than good
_DAMPING = 1e-2  # of the ridge that would let multipliers move by about their bound


def smo_refuses(problem: IntervalProblem) -> str | None:
    """None, or why sequential steps over two rows cannot solve the problem."""
    if problem.l1:
        return "kernels need the L2 penalty"
    if problem.charge is Charge.HARD:
        return "a hard margin may have no dual optimum"
    if problem.charge is Charge.HINGE and bool((problem.bundles[:, 1] >= 0).any()):
        return "a shared hinge slack ties two multipliers of one sample in a box that steps over two rows cannot leave"
    if problem.n_thresholds > MOST_THRESHOLDS:
        return f"more than {MOST_THRESHOLDS} thresholds"
    return None


@dataclass
class SmoResult:
    """The graded point, how the solve ended, its coefficients and (float64) scores, and where a next may start."""

    point: CertifiedPoint
    status: Status
    rounds: int
    coef: Floats
    scores: Floats
    start: Start


def solve_by_smo(
    problem: IntervalProblem,
    layout: RowLayout,
    gram: Gram,
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    start: Start | None = None,
    verbose: int = 0,
) -> SmoResult:
    """Solve over class-sorted samples; ``max_iter`` bounds the rounds, ``cache_size`` (MB) the kernel rows kept."""
    cache = RowCache(gram, row_memory(len(gram), np.float32, cache_size))
    state = make_state(problem, layout, gram.diagonal(), cache)
    if start is None and problem.homogeneous:
        start = feasible_start(problem, layout)
    if start is not None:
        _put_balanced(state, gram, start)
    descent = Descent(state, gram, tol, verbose)
    try:
        status = descent.run(max_iter)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if not descent.certified:
        descent.refresh()
    if descent.point.relative_gap <= tol:
        status = Status.CONVERGED
    ended = Start(descent.point.multipliers, state.order_multipliers / problem.cost, state.io[loops.RHO])
    stretch = descent.primal.stretch
    return SmoResult(descent.point, status, descent.rounds, stretch * state.beta, stretch * state.s, ended)


def _put_balanced(state: SmoState, gram: Gram, start: Start) -> None:
    """Take over a start. Steps keep what multipliers send into the thresholds, so if it is not balanced it is repaired,
    and if that fails forgotten."""
    put_start(state, start)
    state.s[:] = gram.times(state.beta)
    if _is_balanced(state):
        return
    state.run(1e30, 0)
    point = certify(state, primal_of(state))
    put_start(state, Start(point.multipliers, point.order_multipliers / state.problem.cost, state.io[loops.RHO]))
    if not _is_balanced(state):
        nothing = Start(np.zeros(state.layout.n_rows), np.zeros(len(state.problem.up)), 0.0)
        put_start(state, feasible_start(state.problem, state.layout) if state.problem.homogeneous else nothing)
    state.s[:] = gram.times(state.beta)


def _is_balanced(state: SmoState) -> bool:
    size = max(float(np.abs(state.v).sum()), float(np.abs(state.problem.linear).max(initial=0.0)))
    return float(np.abs(state.flow_residual()).max(initial=0.0)) <= 1e-9 * size


class Descent:
    """Rounds of steps at falling violations until the gap is closed."""

    def __init__(self, state: SmoState, gram: Gram, tol: float, verbose: int) -> None:
        self.focus, self.tol, self.verbose = Focus(state, gram), tol, verbose
        self.rounds = 0
        self.exact = False  # whether the scores come from float64 kernel values
        self.certified = False  # whether the point was graded by such scores of all samples
        self.gap = np.inf
        self.size = 0.0  # of the objective, once it is known
        self.steps_at_newton = 0  # when the last Newton step was taken
        self.steps_at_level = 0  # at the end of the last level,
        self.level_seconds = 0.0  # which took so long
        self.free = np.zeros(len(state.v), dtype=bool)  # whether a row was free at the end of a level
        self.face_size = 0
        self.damping = _DAMPING
        self.clean = False  # whether the last Newton step went its whole way

    @property
    def state(self) -> SmoState:
        """All samples, or those that can still move."""
        return self.focus.state

    def run(self, max_iter: int) -> Status:
        """Descend until the certificate says that it is enough; at the first level that is hardly worth a grade."""
        self.state.run(1e30, 0)
        eps = min(max(_FIRST * self.tol, _LEAST_FIRST), _FALL) * max(self.state.violation, 0.0)
        levels = stuck = 0
        for self.rounds in range(1, max_iter + 1):
            moving = self.step(eps)
            reached = self.state.violation <= eps
            levels += reached
            if reached and levels > 1:
                self.grade()
            done = reached and self.gap <= self.tol
            newton = not done and (self.worthwhile(reached) or not moving) and self.newton(forced=not moving)
            if newton:
                self.follow()
            if (reached or newton) and self.gap <= self.tol:
                self.refresh()
                if self.gap <= self.tol:
                    return Status.CONVERGED
            if not (moving or newton):
                stuck += 1
                self.refresh()
                if stuck > 3:
                    return Status.STALLED
            if reached:
                eps = self.next_level(eps)
        return Status.MAX_ITER

    def follow(self) -> None:
        """Grade a Newton step and go on with others as long as they are quick to close the gap."""
        self.grade()
        gap = np.inf
        while self.clean and self.tol < self.gap < 0.3 * gap:
            gap = self.gap
            if self.newton(forced=True):
                self.grade()

    def next_level(self, eps: float) -> float:
        """The next violation to demand; the gap of a hinge falls with it, so the last level need not overshoot."""
        needed = 0.8 * self.tol / self.gap
        least = _FALL if self.level_seconds > _GRADING else _STEEP_FALL
        return max(min(eps, self.state.violation), 1e-15 * eps) * min(max(needed, least), 0.8)

    def step(self, eps: float) -> bool:
        """Sequential steps down to the violation ``eps``, or until a Newton step would have cost as much."""
        m = len(self.state.s)
        affordable = (_PATIENCE * self.price(self.face_size) - self.spent) / seconds_per_step(m)
        left = int(min(max(affordable, m // 4 + 10), 30 * m + 1000))
        moving = True
        self.exact = self.certified = False
        while left > 0 and moving and self.state.violation > eps:
            self.narrow()
            state = self.state
            before = state.steps
            moving = state.run(eps, min(left, max(len(state.s), 1000)))
            left -= state.steps - before
            if state.problem.has_rho:  # method of multipliers for sum alpha = nu
                state.io[loops.RHO] -= state.io[loops.RHO_WEIGHT] * state.flow_residual()[-1]
        return moving

    @property
    def spent(self) -> float:
        """Seconds since the last Newton step."""
        return self.seconds_since(self.steps_at_newton)

    def seconds_since(self, steps: int) -> float:
        """What the sequential steps after the first so many would cost now."""
        return (self.state.steps - steps) * seconds_per_step(len(self.state.s))

    def narrow(self) -> None:
        """Let samples rest that will hardly move."""
        kept = self.focus.movable()
        if kept is not None:
            if not self.focus.narrowed:
                self.size = max(abs(self.state.dual), 1e-300)
            self.focus.narrow(kept)

    def price(self, size: int) -> float:
        """Seconds of a Newton step on a face of so many samples (0: not known yet, two steps a sample).

        It is worth more when the last one went well.
        """
        m = len(self.state.s)
        if not size:
            return max(self.price(1), 2.0 * m * seconds_per_step(m))
        return (_CLEAN if self.clean else 1.0) * (2e-3 + 1e-8 * size**2 + size**3 / 3 / _FLOPS)

    def owners(self, rows: Ints) -> int:
        """Number of samples that own the rows."""
        owning = np.zeros(len(self.state.s), dtype=bool)
        owning[self.state.layout.row_sample[rows]] = True
        return int(np.count_nonzero(owning))

    def worthwhile(self, reached: bool) -> bool:
        """Whether a Newton step is likely to cost less than the sequential steps that it saves."""
        if reached:
            self.level_seconds, self.steps_at_level = self.seconds_since(self.steps_at_level), self.state.steps
        if self.spent < self.price(1):
            return False
        rows = free_rows(self.state)
        self.face_size = self.owners(rows)
        price = self.price(self.face_size)
        if not reached:
            return self.spent >= _PATIENCE * price
        free = np.zeros_like(self.free)
        free[self.focus.rows[rows]] = True
        changed, self.free = np.count_nonzero(free != self.free), free
        levels = log(max(self.gap / self.tol, 1.0)) / log(1 / _FALL) if self.gap < np.inf else _LEVELS
        settled = changed <= _SETTLED * len(rows) and price <= levels * self.level_seconds
        return bool(settled or levels * self.spent >= _PATIENCE_BETWEEN * price)

    def newton(self, forced: bool) -> bool:
        """A Newton step (``forced``: on float64 scores, however short it is); whether it moved."""
        state = self.state
        self.steps_at_newton = self.steps_at_level = state.steps
        self.certified = False
        if not self.exact and (forced or self.noise() > self.tol * self.size):
            self.exact = True
            self.focus.rescore()
        face = FreeFace(state)
        n = len(face.distinct)
        if n < 2:
            return False
        unit, bound = max(float(state.per_sample[0].mean()), 1e-300), float(np.median(face.upper - face.lower))
        while True:
            state.cache.take_back()
            K = state.cache.lend(n * n).reshape(n, n)
            self.focus.gram.square(face.distinct, K)
            ridge = max(1e-9 * unit, self.damping * state.violation / bound)
            length = newton_step(face, K, ridge, self.times, state.cache.lend, 0.0 if forced else _WORTHWHILE)
            if length > 0 or self.damping >= 1.0:
                break
            self.damping *= 30.0
        self.clean = length > 0.9
        self.damping = max(self.damping / 3.0, 0.1 * _DAMPING) if self.clean else self.damping
        state.run(1e30, 0)
        return length > 0

    def times(self, face: FreeFace, change: Floats) -> Floats:
        """How a change of a face's multipliers changes all scores."""
        total = np.zeros(len(self.state.s))
        total[face.distinct] = np.bincount(face.where, change)
        return self.focus.gram.times(total)

    def noise(self) -> float:
        """What the rounding of kernel rows may do to the gap of the free rows."""
        state, rows = self.state, free_rows(self.state)
        error = 2.0**-21 * float(np.linalg.norm(state.beta)) * float(state.per_sample[0].max())
        bound = state.per_sample[2, state.layout.row_sample[rows]]
        return error * float(np.minimum(bound, np.abs(state.v[rows])).sum())

    def grade(self) -> None:
        """The gap of the present point by the scores at hand, certified where that is no estimate."""
        self.primal = primal_of(self.state)
        if self.state.problem.homogeneous or (self.exact and not self.focus.narrowed):
            self.certify()
            return
        dual = self.state.dual
        if not self.focus.narrowed:
            self.size = max(abs(self.primal.objective), abs(dual), 1e-300)
        self.gap = (self.primal.objective - dual) / self.size
        tell(self.gap, self._report, self.verbose)

    def certify(self) -> None:
        """The certificate of the present multipliers and primal point."""
        self.point = certify(self.state, self.primal)
        self.gap = self.point.relative_gap
        self.size = max(abs(self.point.primal), abs(self.point.dual), self.point.floor)
        self.certified = self.exact
        tell(self.gap, self._report, self.verbose)

    def _report(self) -> str:
        state, kind = self.state, " (float64)" if self.exact else ""
        at = f"{len(state.s)} samples" if self.focus.narrowed else f"objective {self.primal.objective:.10g}"
        return (
            f"round {self.rounds}: {state.steps} steps, violation {state.violation:.2g}, {at}, relative gap "
            f"{self.gap:.2g}{kind}"
        )

    def refresh(self) -> None:
        """All samples, with scores from float64 kernel values, and their certificate; a primal point that was good
        enough for less exact scores is kept."""
        if not self.certified:
            self.focus.widen()
            self.focus.rescore()
            self.exact = True
            if self.gap > self.tol:
                self.state.run(1e30, 0)
                self.primal = primal_of(self.state)
            self.certify()


def seconds_per_step(n_samples: int) -> float:
    """Of a sequential step: a fixed part, and one per sample."""
    return 3.5e-7 + 1e-9 * n_samples


def primal_of(state: SmoState) -> Primal:
    """The best thresholds and stretch for the present scores."""
    square = float(state.beta @ state.s)
    return best_primal(state.problem, state.layout, state.s, square, state.thresholds(), state.violation)


def certify(state: SmoState, primal: Primal) -> CertifiedPoint:
    """Grade the present multipliers and a primal point."""
    beta, stretch = state.beta, primal.stretch
    square = float(beta @ state.s)

    def dual_penalty(coef: Floats) -> float:
        """1/2 coef'K coef for coef next to beta, bounded from above."""
        change = coef - beta
        length = float(np.abs(change) @ np.sqrt(np.maximum(state.per_sample[0], 0.0)))
        return 0.5 * square + float(change @ state.s) + 0.5 * length**2

    unit = float(np.sqrt(max(state.per_sample[0].mean(), 0.0))) if state.problem.homogeneous else 1.0
    return certify_intervals(
        state.problem, state.layout, stretch * state.s, 0.5 * stretch**2 * square, dual_penalty, primal.thresholds,
        state.shares(), state.order_multipliers, unit,
    )  # fmt: skip
