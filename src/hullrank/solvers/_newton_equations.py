"""The Newton equations of the interior-point method over rows, for few columns and for many.

``factor`` takes D per sample and per row (see ``_loops``), and ``direction`` solves for a step and follows it to the
rows. Few columns do all of it in two compiled passes, which matters for small data: there, most of the time of a fit
would go into calls of NumPy.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.problem.rows import Rows
from hullrank.solvers._linear_system import DENSE_LIMIT, SingularSystemError, WholeSystem, newton_system

Floats = NDArray[np.float64]
FEW_COLUMNS = 32  # columns and thresholds up to which loops are faster than BLAS


def newton_equations(
    problem: IntervalProblem, rows: Rows, layout: RowLayout, settled: Any
) -> "ManyColumns | FewColumns":
    """The equations in the form that suits the rows."""
    columns = rows.columns
    few = len(problem.linear) + rows.n_features <= FEW_COLUMNS and isinstance(problem.incidence, np.ndarray)
    if few and columns is not None:
        return FewColumns(problem, columns, layout, settled)
    return ManyColumns(problem, rows, layout, settled)


class ManyColumns:
    """The equations in terms of products of the rows."""

    def __init__(self, problem: IntervalProblem, rows: Rows, layout: RowLayout, settled: Any) -> None:
        self.problem, self.rows, self.settled, self.layout = problem, rows, settled, layout
        self.group_sums = rows.group_sums(layout)
        self.system: Any = newton_system(problem, rows.n_features)

    def factor(self, per_sample: Floats, cross: Floats, weight: Floats, pair_weight: Floats, curvature: Floats) -> None:
        """Factor the Newton matrix for weights of the rows, and ``curvature`` of the penalty."""
        rows, settled, n = self.rows, self.settled, self.rows.n_features
        d = per_sample[0, : rows.n_rows]
        group_rows = self.group_sums(cross[: self.layout.n_rows]) + settled.group_rows
        weight[: self.problem.n_groups] += settled.group_weight
        args = (group_rows, weight, pair_weight[: len(self.layout.table)])
        if n <= DENSE_LIMIT:
            H = rows.gram(d) + settled.H
            H.flat[:: n + 1] += curvature
            self.system.factor(H, *args)
            return
        operators = [rows.gram_operator(d)] + ([] if np.isscalar(settled.H) else [settled.H])
        self.system.factor(
            lambda v: sum((op @ v for op in operators), curvature * v),
            *args,
            diagonal=sum((op.diagonal() for op in operators), curvature),
        )

    def residuals(
        self, per_sample: Floats, per_group: Floats, gamma: Floats, w: Floats, theta: Floats, linear_theta: Floats
    ) -> tuple[Floats, Floats, float, float]:
        """What is left of the dual equations of w and of (theta, rho), the linear terms, the sum of all multipliers."""
        linear_w, totals = self.settled.linear_w, per_group[1]
        rw = self.rows.adjoint(per_sample[1, : self.rows.n_rows]) - gamma - linear_w
        rtheta = -(self.problem.incidence.T @ totals) - linear_theta
        return rw, rtheta, float(linear_w @ w + linear_theta @ theta), float(totals[: self.problem.n_groups].sum())

    def solve(self, rw: Floats, rtheta: Floats) -> tuple[Floats, Floats]:
        """The step (dw, (dtheta, drho)) for given right sides."""
        step: tuple[Floats, Floats] = self.system.solve(rw, rtheta)
        return step

    def direction(
        self, rw: Floats, rtheta: Floats, per_sample: Floats, per_group: Floats, ds: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """The step for the right sides rw + X' per_sample[2] and rtheta - N' per_group[2], and N (dtheta, drho).

        The scores of dw are written to the beginning of ``ds``.
        """
        N, m = self.problem.incidence, self.rows.n_rows
        dw, dtheta = self.system.solve(rw + self.rows.adjoint(per_sample[2, :m]), rtheta - N.T @ per_group[2])
        ds[:m] = self.rows.scores(dw)
        return dw, dtheta, N @ dtheta


class FewColumns(WholeSystem):
    """The equations in compiled loops over the columns of X; what rows outside the solve contribute never moves."""

    def __init__(self, problem: IntervalProblem, columns: Floats, layout: RowLayout, settled: Any) -> None:
        from hullrank.solvers import _few_columns_loops

        super().__init__(problem)
        self.loops, self.columns, self.settled = _few_columns_loops, columns, settled
        n, q = len(columns), len(problem.linear)
        sizes = np.diff(layout.group_starts)
        self.slices = np.stack([layout.group_starts[:-1], sizes, layout.group_samples], axis=1)
        self.shared = np.stack([self.paired, *self.pairs], axis=1)
        self.chol, self.scale = np.empty((q + n, q + n)), np.empty(q + n)
        self.weighted, self.shift = np.empty(columns.shape[1]), np.empty(len(self.N))
        self.base = np.zeros((q + n, q + n))
        if not np.isscalar(settled.H):
            E = self.N[: problem.n_groups]
            self.base[:q, :q] = E.T @ (settled.group_weight[:, None] * E)
            self.base[q:, :q] = -(problem.sign[:, None] * settled.group_rows).T @ E
            self.base[q:, q:] = settled.H

    def residuals(
        self, per_sample: Floats, per_group: Floats, gamma: Floats, w: Floats, theta: Floats, linear_theta: Floats
    ) -> tuple[Floats, Floats, float, float]:
        """See `ManyColumns`."""
        rw, rtheta = np.empty(len(w)), np.empty(len(theta))
        linear, sent = self.loops.residuals(
            self.columns, self.N, per_sample, per_group, gamma, w, theta, self.settled.linear_w, linear_theta,
            self.problem.n_groups, rw, rtheta,
        )  # fmt: skip
        return rw, rtheta, linear, sent

    def predict_and_correct(
        self, rw: Floats, rtheta: Floats, ds: Floats, curvature: Floats, rows: Any,
        per_sample: Floats, cross: Floats, per_group: Floats, per_bundle: Floats, complementarity: float, mu: float,
    ) -> tuple[Floats, Floats, float]:  # fmt: skip
        """Factor and solve for the corrected direction in one pass: (dw, (dtheta, drho)) and 1 / (longest step).

        ``rows`` are the arrays of the rows, as ``_loops.row_steps`` takes them.
        """
        x, q = np.empty(len(self.scale)), len(rtheta)
        worst = self.loops.predict_and_correct(
            self.columns, self.slices, self.N, self.problem.sign, self.shared, curvature, self.base, self.weighted,
            self.chol, self.scale, rw, rtheta, x, ds, self.shift, per_sample, cross, per_group, per_bundle,
            complementarity, mu, *rows,
        )  # fmt: skip
        if worst < 0:
            raise SingularSystemError
        return x[q:], x[:q], worst

    def factor(self, per_sample: Floats, cross: Floats, weight: Floats, pair_weight: Floats, curvature: Floats) -> None:  # type: ignore[override]
        """See `ManyColumns`."""
        if not self.loops.factor(
            self.columns, self.slices, per_sample, cross, self.N, self.problem.sign, weight, self.shared, pair_weight,
            curvature, self.base, self.weighted, self.chol, self.scale,
        ):  # fmt: skip
            raise SingularSystemError

    def direction(
        self, rw: Floats, rtheta: Floats, per_sample: Floats, per_group: Floats, ds: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """See `ManyColumns`."""
        x = np.empty(len(self.scale))
        self.loops.direction(
            self.columns, self.chol, self.scale, self.N, rw, rtheta, per_sample, per_group, x, ds, self.shift
        )
        q = len(rtheta)
        return x[q:], x[:q], self.shift
