"""One kernel problem with a squared hinge at rising prices of slack: Newton steps from the solution before.

The rows that pay charge 1/2 d (c + theta - s)^2 with d = 2 cost and c = sign * offset, so that a sample whose rows
weigh D together has the coefficient b = D (u + U theta - s), U and u the means of theta's and c's weights over its
rows. With s = Kb the minimum of this model over the scores is b = (K + 1/D)^-1 (u + U theta), on the samples that pay.
What is left is a quadratic in the few thresholds, minimised under the order constraints. The model is exact as long as
the same rows pay, so that from a neighbouring price a handful of steps reach the optimum to the last digit; where
the price is high, sequential steps take much longer.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.certificate import CertifiedPoint, Status, certify_intervals
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement, Multipliers
from hullrank.problem.intervals import IntervalProblem, Penalty
from hullrank.problem.layout import GROUP, LENGTH, ROW, START
from hullrank.problem.statement import Point, Solution
from hullrank.solvers._linear_system import order_matrix
from hullrank.solvers._paying_samples import PayingSamples
from hullrank.solvers._quadratic_minimum import complementary
from hullrank.solvers.base import Options
from hullrank.solvers.newton import RowModel

Floats = NDArray[np.float64]
_MOST_SAMPLES = 3000  # whose kernel values are held three times (216 MB)
_MOST_THRESHOLDS = 50
_HIGH_PRICE = 1 / 8, 150  # 2 C k(x, x) from which Newton steps are faster: this times the samples, and at most that
_MOST_STEPS = 30
_SETTLED = 0.005  # share of the rows that may change sides in a step whose gap is worth knowing


def follows(statement: Any) -> bool:
    """Whether Newton steps from a neighbour solve the statement, and sooner than sequential steps."""
    if not isinstance(statement, IntervalStatement) or statement.space is None or statement.space.has_coordinates:
        return False
    problem, m = statement.problem, len(statement.samples.weights)
    stated = problem.charge is Charge.SQUARED_HINGE and problem.penalty is Penalty.L2 and not problem.linear.any()
    if not stated or problem.shares_slacks or m > _MOST_SAMPLES or problem.n_thresholds > _MOST_THRESHOLDS:
        return False
    price = 2 * problem.cost * float(statement.samples.weights.mean())
    return price * float(statement.space.gram.diagonal().mean()) >= min(_HIGH_PRICE[0] * m, _HIGH_PRICE[1])


class KernelPath:
    """The solutions of one statement at several prices, each from the one before."""

    def __init__(self, statement: IntervalStatement) -> None:
        assert statement.space is not None
        gram = statement.space.in_order(statement.samples.rows)
        self.K = gram.whole()
        self.paying = PayingSamples(self.K)

    def solve(self, statement: IntervalStatement, options: Options, start: Point) -> Solution | None:
        """The solution at the price of the given statement, of the same samples; None where its gap stays open."""
        problem, order = statement.problem, statement.samples.rows
        model = RowModel(problem, statement.layout)
        b, theta = start.coef[order], problem.raise_thresholds(start.thresholds)
        s, t = self.K @ b, np.zeros(len(problem.up))
        model.move(s, theta)
        value = 0.5 * float(b @ s) + model.charge
        for step in range(1, min(options.max_iter, _MOST_STEPS) + 1):
            found = self._model_minimum(statement, model, theta, t)
            if found is None:
                return None
            db, dtheta, t = found[0] - b, found[1] - theta, found[2]
            ds, before, length = self.K @ db, value, 1.0
            while True:
                model.move(s + length * ds, theta + length * dtheta)
                value = 0.5 * float((b + length * db) @ (s + length * ds)) + model.charge
                if value <= before * (1 + 1e-12):
                    break
                length *= 0.5
                if length < 1e-6:
                    return None
            b, theta, s = b + length * db, theta + length * dtheta, s + length * ds
            if model.changed <= _SETTLED * statement.layout.n_rows:
                point = certify_intervals(
                    problem, statement.layout, s, 0.5 * float(b @ s), lambda coef: 0.5 * float(coef @ (self.K @ coef)),
                    theta, model.multipliers, t, lost=model.charge,
                )  # fmt: skip
                if point.relative_gap <= options.tol:
                    return _solution(statement, b, s, point, step)
                if model.changed == 0 and before - value <= 1e-14 * value:
                    return None  # the last digits do not close the gap
        return None

    def _model_minimum(
        self, statement: IntervalStatement, model: RowModel, theta: Floats, t: Floats
    ) -> tuple[Floats, Floats, Floats] | None:
        """The minimum of the model under the order constraints: coefficients, thresholds, order multipliers."""
        problem, q, D = statement.problem, statement.problem.n_thresholds, model.row_weight
        weights = _weights(statement, model.cross)
        U = weights / np.where(D > 0, D, 1.0)[:, None]
        Z = self.paying.solve(D, U)
        if Z is None:
            return None
        total = np.append(weights[:, :q].sum(axis=0), 0.0)
        curvature = U.T @ Z - weights.T @ U
        curvature[:q, :q] += np.diag(total[:q])
        curvature[:q, q] += problem.flow(model.group_weight * problem.offset)
        moved = _threshold_minimum(problem, curvature[:q, :q], curvature[:q, q], theta, t)
        return None if moved is None else (Z[:, :q] @ moved[0] + Z[:, q], *moved)


def _weights(statement: IntervalStatement, d: Floats) -> Floats:
    """(samples, thresholds + 1): the weight of a sample's rows at every threshold, and the sum of d c over its rows."""
    problem, layout = statement.problem, statement.layout
    centre = problem.sign * problem.offset
    weights = np.zeros((layout.n_samples, problem.n_thresholds + 1), order="F")
    for line in layout.table.tolist():
        group, samples = line[GROUP], slice(line[START], line[START] + line[LENGTH])
        here = d[line[ROW] : line[ROW] + line[LENGTH]]
        weights[samples, problem.threshold[group]] += here
        if centre[group]:
            weights[samples, -1] += centre[group] * here
    return weights


def _threshold_minimum(
    problem: IntervalProblem, H: Floats, g: Floats, theta: Floats, t: Floats
) -> tuple[Floats, Floats] | None:
    """The minimum of 1/2 theta'H theta + g'theta under the order constraints, and their multipliers.

    A threshold on which no row weighs stays where it is.
    """
    slope = g + H @ theta
    H.flat[:: len(H) + 1] += 1e-12 * float(H.diagonal().max(initial=0.0))
    G = order_matrix(problem)
    try:
        steps = np.linalg.solve(H, np.column_stack([slope, G.T]))
    except np.linalg.LinAlgError:
        return None
    theta = theta - steps[:, 0]
    gaps = problem.order_gaps(theta) - problem.gap
    if not np.any(gaps < 0):
        return theta, np.zeros(len(gaps))
    found = complementary(G @ steps[:, 1:], gaps, t > 0)
    return None if found is None else (problem.raise_thresholds(theta + steps[:, 1:] @ found), found)


def _solution(statement: IntervalStatement, b: Floats, s: Floats, point: CertifiedPoint, steps: int) -> Solution:
    order = statement.samples.rows
    coef, scores = np.empty(len(order)), np.empty(len(order))
    coef[order], scores[order] = b, s
    evidence = Multipliers(point.multipliers, point.order_multipliers)
    solver = "Newton steps over kernel values"
    return Solution(Point(coef, point.thresholds), evidence, Status.CONVERGED, steps, solver, scores)
