"""An independent statement as a conic program, written straight to Clarabel: ten times faster than through cvxpy.

Variables, one after the other: u (weights), s (scores), theta, xi (slacks), for the L1 penalty t (bounds of |u_j|), for
the logistic charge p and q (two numbers of every row). Constraints are piled up as A x + slack = b, slack in a cone.
"""

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Units:
    """What one unit of the program's numbers stands for.

    ``scores``: of scores and thresholds; ``weights``: of u; ``objective``: of the objective. All near the values at the
    optimum make the program well scaled.
    """

    scores: float
    weights: float
    objective: float


@dataclass(frozen=True)
class Answer:
    """Weights over the given rows, thresholds, multipliers of the rows, the dual objective, and how the solver ended.

    With status DualInfeasible, weights and thresholds are a direction along which the objective falls without end.
    """

    w: np.ndarray
    theta: np.ndarray
    multipliers: np.ndarray
    dual: float
    status: str

    @property
    def is_ray(self):
        return self.status == "DualInfeasible"


class ConicForm:
    """The statement ``st`` over rows F, which take the place of its features."""

    def __init__(self, st, F, units):
        self.st, self.units = st, units
        self.F = F * (units.weights / units.scores)
        self.m, self.r = F.shape
        self.R, self.S, self.q = len(st.sample), len(st.cost), st.n_thresholds
        self.at_s, self.at_t = self.r, self.r + self.m
        self.at_x = self.at_t + self.q
        self.at_e = self.at_x + self.S
        self.at_p = self.at_e + (self.r if st.penalty == "l1" else 0)
        self.n = self.at_p + (2 * self.R if st.charge == "logistic" else 0)
        self.height, self.entries, self.b, self.cones = 0, [], [], []

    def solve(self):
        """Clarabel's answer in the units of the statement."""
        P, cost = self._objective()
        self._scores()
        first = self.height
        self._logistic_rows() if self.st.charge == "logistic" else self._rows()
        self._order()
        self._bounds()
        i, j, values = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        A = sp.csc_matrix((values, (i, j)), (self.height, self.n))
        solver = clarabel.DefaultSolver(
            sp.diags(P, format="csc"), cost, A, np.concatenate(self.b), self.cones, _settings()
        )
        solution = solver.solve()
        x, dual = np.array(solution.x), np.array(solution.z)
        if self.st.charge == "logistic":
            multipliers = -dual[first : first + 6 * self.R].reshape(-1, 6)[:, 3]
        else:
            multipliers = dual[first : first + self.R]
        units = self.units
        return Answer(
            x[: self.r] * units.weights, x[self.at_t : self.at_x] * units.scores,
            multipliers * (units.objective / units.scores), solution.obj_val_dual * units.objective,
            str(solution.status),
        )  # fmt: skip

    def _objective(self):
        """The diagonal of the quadratic term, and the linear term."""
        st, units = self.st, self.units
        P, cost = np.zeros(self.n), np.zeros(self.n)
        if st.penalty == "l2":
            P[: self.r] = units.weights**2
        if st.penalty == "l1":
            cost[self.at_e : self.at_p] = units.weights
        if len(st.linear):
            cost[self.at_t : self.at_x] = st.linear * units.scores
        if st.charge == "squared_hinge":
            P[self.at_x : self.at_e] = 2 * st.cost * (units.scores * self._slack_units()) ** 2
        else:
            cost[self.at_x : self.at_e] = st.cost * units.scores * self._slack_units()
        return P / units.objective, cost / units.objective

    def _slack_units(self):
        """What one unit of each slack stands for (in score units): about what costs as much as the whole objective."""
        st, units = self.st, self.units
        if st.charge == "logistic":
            return np.ones(self.S)
        price = np.asarray(st.cost, float) * units.scores / units.objective
        each = 1 / np.sqrt(2 * price * units.scores) if st.charge == "squared_hinge" else 1 / price
        return np.clip(each, 1e-20, 1e6)

    def _add(self, entries, offset, cone, size=None):
        """Entries (row, column, value) @ x - offset lies in the cone, or in a product of cones of a fixed size."""
        for i, j, values in entries:
            self.entries.append((np.asarray(i) + self.height, np.asarray(j), -np.asarray(values, float)))
        self.b.append(-np.asarray(offset, float))
        self.height += len(offset)
        self.cones += [cone(len(offset))] if size is None else [cone() for _ in range(len(offset) // size)]

    def _scores(self):
        """s = F u."""
        i, j = (part.ravel() for part in np.indices(self.F.shape))
        k = np.arange(self.m)
        entries = [(k, self.at_s + k, -np.ones(self.m)), (i, j, self.F.ravel())]
        self._add(entries, np.zeros(self.m), clarabel.ZeroConeT)

    def _margins(self):
        """sign * (s[sample] - reference) - rho of every row."""
        st, R = self.st, np.arange(self.R)
        threshold = st.reference >= st.m
        entries = [
            (R, self.at_s + st.sample, st.sign),
            (R[~threshold], self.at_s + st.reference[~threshold], -st.sign[~threshold]),
            (R[threshold], self.at_t + st.reference[threshold] - st.m, -st.sign[threshold]),
        ]
        if st.has_rho:
            entries.append((R, np.full(self.R, self.at_x - 1), -np.ones(self.R)))
        return entries

    def _rows(self):
        """margin + xi >= offset and xi >= 0."""
        st, S = self.st, np.arange(self.S)
        soft = np.flatnonzero(st.slack >= 0)
        slack = (soft, self.at_x + st.slack[soft], self._slack_units()[st.slack[soft]])
        self._add([*self._margins(), slack], st.offset / self.units.scores, clarabel.NonnegativeConeT)
        self._add([(S, self.at_x + S, np.ones(self.S))], np.zeros(self.S), clarabel.NonnegativeConeT)

    def _logistic_rows(self):
        """xi >= log(1 + exp(-z)): p + q <= 1, p >= exp(-xi), q >= exp(-z - xi); the cone (x, 1, y) has y >= exp(x)."""
        k, ones = np.arange(self.R), np.ones(self.R)
        p, q = self.at_p + k, self.at_p + self.R + k
        entries = [(6 * k, self.at_x + k, -ones), (6 * k + 2, p, ones)]
        entries += [(6 * i + 3, j, -values) for i, j, values in self._margins()]
        entries += [(6 * k + 3, self.at_x + k, -ones), (6 * k + 5, q, ones)]
        self._add(entries, np.tile([0.0, -1.0, 0.0], 2 * self.R), clarabel.ExponentialConeT, size=3)
        self._add([(k, p, -ones), (k, q, -ones)], -ones, clarabel.NonnegativeConeT)

    def _order(self):
        """theta[up] - theta[low] >= gap, where low may be the number 0."""
        st, e = self.st, np.arange(len(self.st.up))
        if len(e):
            inner = st.low < self.q
            entries = [
                (e, self.at_t + st.up, np.ones(len(e))),
                (e[inner], self.at_t + st.low[inner], -np.ones(inner.sum())),
            ]
            self._add(entries, st.gap / self.units.scores, clarabel.NonnegativeConeT)

    def _bounds(self):
        """|u_j| <= t_j (L1), |w_j| <= bound (box), or |w| <= 1 (ball)."""
        st, j = self.st, np.arange(self.r)
        for side in (1.0, -1.0):
            if st.penalty == "l1":
                entries = [(j, j, np.full(self.r, side)), (j, self.at_e + j, np.ones(self.r))]
                self._add(entries, np.zeros(self.r), clarabel.NonnegativeConeT)
            if st.penalty == "box":
                edge = np.full(self.r, -st.bound / self.units.weights)
                self._add([(j, j, np.full(self.r, side))], edge, clarabel.NonnegativeConeT)
        if st.penalty == "ball":
            edge = np.concatenate([[-1 / self.units.weights], np.zeros(self.r)])
            self._add([(j + 1, j, np.ones(self.r))], edge, clarabel.SecondOrderConeT)


def _settings():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.tol_ktratio = 1e-10
    return settings
