"""The main loop of the kernel solver: stages of sequential steps, Newton steps, shrinking, and the duality gap."""

from math import log

import numpy as np
from numpy.typing import NDArray

from hullrank._progress import tell
from hullrank.problem.certificate import CertifiedPoint, Status, certify_intervals, total_charge
from hullrank.problem.gram import Gram
from hullrank.solvers._smo_loops import WEIGHT
from hullrank.solvers._smo_newton import find_face, newton_step
from hullrank.solvers._smo_primal import Primal, best_primal
from hullrank.solvers._smo_settings import SmoSettings
from hullrank.solvers._smo_shrinking import ActiveSet
from hullrank.solvers._smo_state import SmoState, is_hinge

Floats = NDArray[np.float64]


class Descent:
    """Stages of sequential steps at falling violations, and Newton steps, until the duality gap is small enough."""

    def __init__(self, state: SmoState, gram: Gram, tol: float, verbose: int, settings: SmoSettings) -> None:
        self.active, self.tol, self.verbose, self.settings = ActiveSet(state, gram, settings), tol, verbose, settings
        self.rounds = 0
        self.has_float64_scores = False
        self.certified = False  # whether the present point was graded by float64 scores of all samples
        self.gap = np.inf
        self.objective_size = 0.0  # what gaps are divided by, once it is known
        self.steps_at_newton = 0  # number of steps when the last Newton step was taken
        self.steps_at_stage = 0  # number of steps when the last stage ended
        self.stage_cost = 0.0  # of the last stage, in visits
        self.stage_steps = 0  # number of steps of the last stage
        self.free = np.zeros(len(state.v), dtype=bool)  # rows of the whole problem that were free after the last stage
        self.face_size = 0  # number of samples with a free row when they were last counted
        self.damping = settings.damping
        self.full_step = False  # whether the last Newton step had nearly full length

    @property
    def state(self) -> SmoState:
        """The state of the active samples."""
        return self.active.state

    def run(self, max_iter: int) -> Status:
        """Descend until the gap is closed. The first stage is not graded: its gap is never small enough."""
        self.state.measure()
        use = self.settings
        target = min(max(use.first_target * self.tol, use.least_first_target), use.target_decay)
        target *= max(self.state.violation, 0.0)
        stages = failures = 0
        for self.rounds in range(1, max_iter + 1):
            moving = self.step(target)
            reached = self.state.violation <= target
            stages += reached
            if reached and stages > 1:
                self.grade()
            done = reached and self.gap <= self.tol
            newton = not done and (self.newton_pays(reached) or not moving) and self.newton(forced=not moving)
            if newton:
                self.repeat_newton()
            if (reached or newton) and self.gap <= self.tol:
                self.verify()
                if self.gap <= self.tol:
                    return Status.CONVERGED
            if not (moving or newton):
                failures += 1
                self.verify()
                if failures > 3:
                    return Status.STALLED
            if reached:
                target = self.next_target(target)
        return Status.MAX_ITER

    def next_target(self, target: float) -> float:
        """The next violation to reach, without overshooting the tolerance.

        The gap of a hinge falls with the violation, that of the squared hinge with its square.
        """
        use = self.settings
        needed = use.overshoot * self.tol / self.gap
        needed = needed if is_hinge(self.state.problem) else max(needed, 0.0) ** 0.5
        decay = use.target_decay if self.stage_cost > use.grade_visits else use.short_stage_decay
        return max(min(target, self.state.violation), 1e-15 * target) * min(max(needed, decay), 0.8)

    def step(self, target: float) -> bool:
        """Sequential steps down to the violation ``target``, or until a Newton step would have cost as much."""
        m = len(self.state.scores)
        affordable = (self.settings.patience * self.newton_cost(self.face_size) - self.spent) / self.step_cost
        left = int(min(max(affordable, m // 4 + 10), 30 * m + 1000))
        moving = True
        self.has_float64_scores = self.certified = False
        while left > 0 and moving and self.state.violation > target:
            self.shrink()
            state = self.state
            before = state.steps
            moving = state.run(target, min(left, max(len(state.scores), 1000)))
            left -= state.steps - before
            if state.problem.has_rho:  # the method of multipliers for sum alpha = nu
                state.rho -= float(state.numbers[WEIGHT] * state.flow_residual()[-1])
        return moving

    def shrink(self) -> None:
        """Leave out samples that will hardly move; gaps stay relative to the objective of the whole."""
        first = not self.active.is_shrunk
        if self.active.shrink() and first:
            self.objective_size = max(abs(self.active.whole.dual), 1e-300)

    @property
    def step_cost(self) -> float:
        """Cost of a sequential step, in visits."""
        return self.settings.step_visits + len(self.state.scores)

    @property
    def next_step_cost(self) -> float:
        """The same in the next stage, before which samples far from leaving their bound are shrunk."""
        use, m = self.settings, len(self.state.scores)
        left = use.left_per_free * self.face_size
        return use.step_visits + (left if m >= use.shrink_least and left <= use.shrink_share * m else m)

    @property
    def spent(self) -> float:
        """Cost of the sequential steps since the last Newton step, in visits."""
        return (self.state.steps - self.steps_at_newton) * self.step_cost

    def newton_cost(self, size: int) -> float:
        """Cost of a Newton step on the rows of ``size`` samples, in visits (0, not yet known: two steps per sample)."""
        use = self.settings
        if not size:
            return max(self.newton_cost(1), 2.0 * len(self.state.scores) * self.step_cost)
        cost = use.newton_visits + use.entry_visits * size**2 + size**3 / 3 / use.operations_per_visit
        return (use.full_step_discount if self.full_step else 1.0) * cost

    def newton_pays(self, reached: bool) -> bool:
        """Whether a Newton step is likely to cost less than the sequential steps that it saves."""
        state, use = self.state, self.settings
        if reached:
            self.stage_steps, self.steps_at_stage = state.steps - self.steps_at_stage, state.steps
            self.stage_cost = self.stage_steps * self.step_cost
        if self.spent < self.newton_cost(1):
            return False
        rows = state.free_rows
        self.face_size = len(np.unique(state.layout.row_sample[rows]))
        cost = self.newton_cost(self.face_size)
        if not reached:
            return self.spent >= use.patience * cost
        free = np.zeros_like(self.free)
        free[self.active.rows[rows]] = True
        changed, self.free = np.count_nonzero(free != self.free), free
        known = self.gap < np.inf
        stages = log(max(self.gap / self.tol, 1.0)) / log(1 / use.target_decay) if known else use.unknown_stages
        stable = changed <= use.stable_share * len(rows)
        left, steps = stages * self.next_step_cost, state.steps - self.steps_at_newton
        return bool((stable and cost <= left * self.stage_steps) or left * steps >= use.stage_patience * cost)

    def repeat_newton(self) -> None:
        """Grade a Newton step, and take others as long as they have full length and close the gap quickly."""
        self.grade()
        before = np.inf
        while self.full_step and self.tol < self.gap < 0.3 * before:
            before = self.gap
            if self.newton(forced=True):
                self.grade()

    def newton(self, forced: bool) -> bool:
        """A Newton step (``forced``: from float64 scores, and however short it is); whether it moved."""
        state = self.state
        self.steps_at_newton = self.steps_at_stage = state.steps
        self.certified = False
        if not self.has_float64_scores and (forced or self.rounding_error() > self.tol * self.objective_size):
            self.has_float64_scores = True
            self.active.recompute_scores()
        face = find_face(state)
        if len(face.rows) < 2:
            return False
        state.cache.make_room(8 * len(face.rows) ** 2, self.active.gram)
        unit, width = max(float(state.diagonal.mean()), 1e-300), float(np.median(face.upper - face.lower))
        least = 0.0 if forced else self.settings.least_length
        while True:
            ridge = max(1e-9 * unit, self.damping * state.violation / width)
            length = newton_step(state, self.active.gram, face, ridge, least, self.settings)
            if length > 0 or self.damping >= 1.0:
                break
            self.damping *= 30.0
        self.full_step = length > 0.9
        self.damping = max(self.damping / 3.0, 0.1 * self.settings.damping) if self.full_step else self.damping
        state.measure()
        return length > 0

    def rounding_error(self) -> float:
        """What the rounding of float32 kernel rows may add to the gap of the free rows."""
        state, rows = self.state, self.state.free_rows
        error = 2.0**-21 * float(np.linalg.norm(state.beta)) * float(state.diagonal.max())
        return error * float(np.abs(state.v[rows]).sum())

    def grade(self) -> None:
        """The gap of the present multipliers and of the best thresholds for them, by the scores of the active samples.

        That of a homogeneous problem, whose objective may vanish, comes from a certificate.
        """
        if self.state.problem.homogeneous:
            self.primal = primal_of(self.state)
            point = certify(self.state, self.primal)
            self.rate(point.primal, point.dual, point.floor, point.relative_gap)
            return
        dual = self.state.dual
        size = abs(dual) if self.objective_size == 0.0 else self.objective_size
        self.primal = primal_of(self.state, dual + 0.9 * self.tol * size)
        self.rate(self.primal.objective, dual)

    def rate(self, objective: float, dual: float, floor: float = 0.0, gap: float | None = None) -> None:
        """Take over both objectives of the present point, and their relative gap where it is known."""
        self.dual, self.floor = dual, floor
        if not self.active.is_shrunk:
            self.objective_size = max(abs(objective), abs(dual), floor, 1e-300)
        self.gap = (objective - dual) / self.objective_size if gap is None else gap
        self.certified = self.has_float64_scores and not self.active.is_shrunk
        if self.certified and self.gap < -1e-6:  # both are wrong, and another step may mend them
            self.gap = np.inf
        tell(self.gap, self._report, self.verbose)

    def _report(self) -> str:
        state, kind = self.state, " (float64)" if self.has_float64_scores else ""
        at = f"{len(state.scores)} samples" if self.active.is_shrunk else f"objective {self.primal.objective:.10g}"
        return (
            f"round {self.rounds}: {state.steps} steps, violation {state.violation:.2g}, {at}, relative gap "
            f"{self.gap:.2g}{kind}"
        )

    def verify(self) -> None:
        """Grade the present point by float64 scores of all samples.

        A primal point that was good enough for less exact scores is kept.
        """
        if self.certified:
            return
        self.active.unshrink()
        self.active.recompute_scores()
        self.has_float64_scores = True
        if self.gap > self.tol:
            self.state.measure()
        if self.gap > self.tol or self.state.problem.homogeneous:
            self.grade()
        else:
            self.rate(objective_of(self.state, self.primal), self.state.dual)


def objective_of(state: SmoState, primal: Primal) -> float:
    """The objective of a primal point by the present scores."""
    problem, stretch, theta = state.problem, primal.stretch, primal.thresholds
    lost = total_charge(problem, state.layout, theta, stretch * state.scores)
    return 0.5 * stretch**2 * float(state.beta @ state.scores) + float(problem.linear @ theta) + lost


def primal_of(state: SmoState, enough: float = -np.inf) -> Primal:
    """The best thresholds and stretch for the present scores, or some with an objective of at most ``enough``."""
    square = float(state.beta @ state.scores)
    return best_primal(state.problem, state.layout, state.scores, square, state.thresholds(), state.violation, enough)


def certify(state: SmoState, primal: Primal) -> CertifiedPoint:
    """Grade the present multipliers and a primal point."""
    beta, stretch = state.beta, primal.stretch
    square = float(beta @ state.scores)

    def dual_penalty(coef: Floats) -> float:
        """1/2 coef'K coef for coef next to beta, bounded from above."""
        change = coef - beta
        length = float(np.abs(change) @ np.sqrt(np.maximum(state.diagonal, 0.0)))
        return 0.5 * square + float(change @ state.scores) + 0.5 * length**2

    unit = float(np.sqrt(max(state.diagonal.mean(), 0.0))) if state.problem.homogeneous else 1.0
    return certify_intervals(
        state.problem, state.layout, stretch * state.scores, 0.5 * stretch**2 * square, dual_penalty,
        primal.thresholds, state.shares(), state.order_multipliers, unit,
    )  # fmt: skip
