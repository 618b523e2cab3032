"""The statement of a ranker over pairs of samples, linear or with a kernel."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.problem.certificate import EPSILON
from hullrank.problem.charges import Charge
from hullrank.problem.column_moments import ColumnMoments, beyond_rounding
from hullrank.problem.intervals import Penalty
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.measured_rows import centred_rows
from hullrank.problem.pair_sets import Floats, ListedPairs, Pairs
from hullrank.problem.pairs import PairCharge, PairProblem
from hullrank.problem.rows import ArrayRows, columns_of, linear_scores
from hullrank.problem.signs import Signs
from hullrank.problem.statement import Grade, Point


@dataclass(frozen=True)
class Window:
    """Multipliers of the pairs, as those of the charge at some weights, the hinge smoothed over ``width``.

    ``coef`` are these weights (or kernel coefficients; None: those of the graded point), and ``C``, where it is given,
    a smaller price at which the multipliers are feasible too.
    """

    width: float
    coef: Floats | None = None
    C: float | None = None


@dataclass(frozen=True)
class PairStatement:
    """Pairs among samples in the order of the data, and their charge.

    ``X`` has the rows that take part in a pair, whose numbers in the data as given are ``positions``; ``space`` is the
    space of a kernel's functions, or None for a linear score, and ``signs`` are those that the weights of a linear
    score must have, or None.
    """

    X: Any
    pairs: Pairs
    C: float
    charge: Charge
    positions: NDArray[np.int64]
    space: KernelSpace | None = None
    signs: Signs | None = None

    @property
    def family(self) -> str:
        """Which solvers take it."""
        return "pairs" if self.signs is None else "signed pairs"

    def on_columns(self, columns: NDArray[np.intp]) -> "PairStatement":
        """The problem without signs in which only the weights of some columns are not 0."""
        return replace(self, X=columns_of(self.X, columns), signs=None)

    @property
    def n_order_constraints(self) -> int:
        """Number of pairs."""
        return self.pairs.n_pairs

    def priced(self, C: float, charge: Charge) -> "PairStatement":
        """The same pairs at another price or charge; what was measured of the rows is shared."""
        other = replace(self, C=C, charge=charge)
        vars(other).update({name: vars(self)[name] for name in ("rows", "mean_square", "_view") if name in vars(self)})
        return other

    @property
    def problem(self) -> PairProblem:
        """The linear problem over ``rows``."""
        return PairProblem(self.rows, self.pairs, self.C, self.charge)

    @cached_property
    def rows(self) -> ArrayRows:
        """The rows of X, or coordinates of the kernel's space; pairs do not see where 0 is."""
        if self.space is not None:
            return ArrayRows(self.space.coordinates)
        if self._view.is_far_off:
            return ArrayRows(self.X, None, self._view.mean).take(np.arange(self.X.shape[0]), by_column=False)
        return ArrayRows(self._view.X)

    @cached_property
    def mean_square(self) -> float:
        """The mean squared distance of the samples of a pair, in the kernel's space where there is one."""
        X, m = self.rows.X, self.rows.n_rows
        mean = np.zeros(X.shape[1]) if sp.issparse(X) else np.ones(m) @ X / m
        with np.errstate(over="ignore", invalid="ignore"):
            return beyond_rounding(self.pairs.mean_square(X, mean), EPSILON * float(mean @ mean))

    def scores(self, point: Point) -> Floats:
        """The samples' scores as the model predicts them."""
        if self.space is not None:
            return self.space.scores(point.coef)
        return linear_scores(self.X, point.coef)

    def objective(self, point: Point, scores: Floats | None = None) -> float:
        """The objective of a point."""
        s = self.scores(point) if scores is None else scores
        return self._objective(point, s, self.problem.exact_charge(self.problem.charged(self.pairs.at(s), 1.0)))

    def _objective(self, point: Point, s: Floats, charged: float) -> float:
        """The objective of a point, from the charge of its pairs."""
        if self.signs is not None and not self.signs.allow(point.coef):
            return float("inf")
        penalty = Penalty.L2.of(point.coef) if self.space is None else self.space.penalty(Penalty.L2, point.coef, s)
        return penalty + charged

    def grade(self, point: Point, evidence: Window | Floats, scores: Floats | None = None) -> Grade:
        """Objective of the point, and the lower bound that the evidence proves: a `Window`, or one multiplier for each
        of the listed pairs."""
        s = self.scores(point)
        here = self.problem.charged(self.pairs.at(s), evidence.width if isinstance(evidence, Window) else 1.0)
        charged = self.problem.exact_charge(here)
        primal = self._objective(point, s, charged)
        dual, beta = self._dual(point, evidence, s, here, charged)
        noise = EPSILON * abs(primal) + self._rounding(point, s, primal)
        if self.space is not None:
            noise += self.space.rounding(point.coef)
        dual -= noise
        if self.space is None or not self.space.is_approximate:
            return Grade(primal, dual, noise)
        whole = dual - self.space.remainder(Penalty.L2, beta)
        return Grade(primal, whole, noise, span_dual=dual, span=self.space.span)

    def pull(self, point: Point, evidence: Window | Floats) -> Floats:
        """sum alpha_ij (x_i - x_j) by column: to which side, and how hard, the pairs pull the weights of a linear
        score."""
        s = self.scores(point)
        here = self.problem.charged(self.pairs.at(s), evidence.width if isinstance(evidence, Window) else 1.0)
        return -self.problem.contrast(self._dual(point, evidence, s, here, self.problem.exact_charge(here))[1])

    def _rounding(self, point: Point, s: Floats, primal: float) -> float:
        """What the last digits of the scores may add to the charge: a pair at its kink begins to pay."""
        digits = self.digits(point, s)
        if self.charge.smooth or self.C * digits <= 1e-9 * primal:
            return self.C * digits
        at = self.pairs.at(s)
        if self.charge is Charge.HINGE:
            return self.C * (at.hinge(1 + digits)[0] - at.hinge()[0])
        return self.C * (at.ramp(-np.inf, 1 + digits).square - at.ramp(-np.inf, 1.0).square)

    def digits(self, point: Point, s: Floats) -> float:
        """How far rounding may move the difference of two scores, about."""
        reach = self.space.reach(point.coef) if self.space is not None else self._reach(point.coef)
        return 2 * EPSILON * (float(np.abs(s).max(initial=0.0)) + reach)

    def _reach(self, coef: Floats) -> float:
        """How large the parts are that add up to a score, about."""
        mean, length = self._view.taken_out, self._view.spread * float(np.linalg.norm(coef))
        return length if mean is None else length + float(np.abs(mean) @ np.abs(coef))

    @property
    def moments(self) -> ColumnMoments | None:
        """Mean and standard deviation of the columns of X; None of sparse ones, and beside a kernel."""
        return self._view.moments if self.space is None else None

    @cached_property
    def _view(self) -> ArrayRows:
        """The rows of X, centred (sparse ones: near 0)."""
        m = self.X.shape[0]
        return replace(centred_rows(self.X, np.arange(m), np.ones(m)), pick=None)

    def _dual(
        self, point: Point, evidence: Window | Floats, s: Floats, here: PairCharge, charged: float
    ) -> tuple[float, Floats]:
        """The dual objective at the multipliers, and these summed by sample.

        ``here`` is the charge at the point, smoothed over the window, and ``charged`` the same without smoothing.
        """
        if isinstance(evidence, Window):
            return self._dual_of_window(point, evidence, s, here, charged)
        assert isinstance(self.pairs, ListedPairs)
        limit = self.C * self.pairs.weights
        alpha = np.clip(evidence, 0.0, limit * self.charge.largest)
        share = np.divide(alpha, limit, out=np.zeros_like(alpha), where=limit > 0)  # pairs of weight 0 have no share
        gain = self.charge.margin * float(alpha.sum()) - float(limit @ self.charge.conjugate(share))
        coef = self.pairs.by_sample(alpha)
        return gain - self._dual_penalty(coef, point, s), coef

    def _dual_of_window(
        self, point: Point, evidence: Window, s: Floats, here: PairCharge, charged: float
    ) -> tuple[float, Floats]:
        """The dual objective at the multipliers of the window: the objective there, less the gap (``pair_bounds``).

        With signs the gap is 1/2 |w - v|^2 + w.(v - u) plus complementarity, v the allowed weights nearest to u.
        """
        problem, charge = self.problem, here
        if evidence.C is not None or evidence.coef is not None:
            problem = problem if evidence.C is None else replace(problem, C=evidence.C)
            point = point if evidence.coef is None else Point(evidence.coef)
            s = self.scores(point)
            charge = problem.charged(self.pairs.at(s), evidence.width)
            charged = problem.exact_charge(charge)
        if self.space is None or self.space.has_coordinates:
            w = point.coef if self.space is None else self.space.weights(point.coef)
            pull = -problem.contrast(charge.coef)
            held = pull if self.signs is None else self.signs.nearest(pull)
            square, apart = float(w @ w), float(np.linalg.norm(w - held))
            forbidden = float(w @ (held - pull))
            if self.signs is not None:
                forbidden += charge.noise * float(np.linalg.norm(w))
        else:
            difference = point.coef + charge.coef
            square = float(point.coef @ s)
            distance = float(difference @ self.space.scores(difference)) + self.space.rounding(difference)
            apart, forbidden = max(distance, 0.0) ** 0.5, 0.0
        rounding = EPSILON * float(np.abs(charge.coef) @ np.abs(s - s.mean()))
        primal, length = 0.5 * square + charged, apart + charge.noise
        return primal - 0.5 * length * length - forbidden - charge.complementarity - rounding, charge.coef

    def _dual_penalty(self, coef: Floats, point: Point, s: Floats) -> float:
        if self.space is None or self.space.has_coordinates:
            pull = -self.problem.contrast(coef)
            return Penalty.L2.dual_of(pull if self.signs is None else self.signs.nearest(pull))
        return self.space.dual_penalty(Penalty.L2, -coef, point.coef, s)
