"""The rows that pay a squared hinge, and the quadratic model of their charges, at the price 1.

From one price to the next few rows begin or cease to pay, so that the sums of the model are not formed anew: what those
rows add is added, and what they added before is taken away.
"""

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.intervals import IntervalProblem
from hullrank.solvers._scaled import ScaledProblem
from hullrank.solvers.interior_point import Settled

Floats = NDArray[np.float64]
_FEW = 1 / 8  # share of the rows that pay up to which those that changed sides are added and taken away


class PayingRows:
    """Who pays, and the sums over those who do; ``scaled`` has the price 1.

    ``multipliers`` are those of all rows, divided by their cost, where the charge was last asked for.
    """

    def __init__(self, scaled: ScaledProblem) -> None:
        from hullrank.solvers import _newton_loops

        self.pass_over, self.scaled = _newton_loops.changed_rows, scaled
        n_rows, n = scaled.layout.n_rows, scaled.rows.n_features
        self.multipliers, self.pays = np.zeros(n_rows), np.zeros(n_rows, dtype=bool)
        self.changed, self.n_changed = np.empty(n_rows, dtype=np.int64), 0
        self.H, self.group_rows = np.zeros((n, n)), np.zeros((scaled.problem.n_groups, n))
        self.group_weight = np.zeros(scaled.problem.n_groups)

    def charge(self, s: Floats, theta: Floats) -> float:
        """The total charge at scores and thresholds, where ``n_changed`` rows are not on the side of the model."""
        problem, layout = self.scaled.problem, self.scaled.layout
        groups = np.stack([problem.sign, problem.offsets(theta)])
        total, self.n_changed = self.pass_over(
            layout.table, groups, layout.cost, s, self.pays, self.multipliers, self.changed
        )
        return float(total)

    def follow(self) -> None:
        """Make the model that of the rows that pay where the charge was last asked for."""
        rows = self.changed[: self.n_changed]
        self.pays[rows] ^= True
        self.n_changed = 0
        if len(rows) > _FEW * np.count_nonzero(self.pays):
            self._sum()
        elif len(rows):
            self._move(np.sort(rows))

    def _sum(self) -> None:
        """The sums over all rows that pay."""
        scaled, layout = self.scaled, self.scaled.layout
        d = np.where(self.pays, 2 * layout.cost, 0.0)
        self.H = scaled.rows.gram(np.asarray(np.bincount(layout.row_sample, d, layout.n_samples), dtype=np.float64))
        self.group_rows = scaled.group_sums(d)
        self.group_weight = np.add.reduceat(np.append(d, 0.0), layout.group_starts[:-1])
        self.group_weight[layout.group_starts[1:] == layout.group_starts[:-1]] = 0.0

    def _move(self, rows: NDArray[np.int64]) -> None:
        """Add what the given rows pay now, or take away what they paid."""
        layout = self.scaled.layout
        sign, root = np.where(self.pays[rows], 1.0, -1.0), np.sqrt(2 * layout.cost[rows])
        Y = self.scaled.rows.signed(layout.row_sample[rows], root)
        self.H = self.H + Y.T @ (sign[:, None] * Y)
        present, first = np.unique(layout.row_group[rows], return_index=True)
        self.group_rows[present] += np.add.reduceat((sign * root)[:, None] * Y, first, axis=0)
        self.group_weight[present] += np.add.reduceat(sign * root * root, first)

    def terms(self, problem: IntervalProblem) -> Settled:
        """The model at the price of the given problem, as a quadratic in (w, theta)."""
        C = problem.cost
        group_rows, group_weight = C * self.group_rows, C * self.group_weight
        linear_w = -(problem.sign * problem.offset) @ group_rows
        linear_theta = problem.flow(group_weight * problem.offset)
        return Settled(linear_w, linear_theta, C * self.H, group_rows, group_weight)
