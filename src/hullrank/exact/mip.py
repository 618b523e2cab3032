"""Rank statistics as mixed-integer programs (Bertsimas, Chang and Rudin 2010), for HiGHS and for export.

P_AUC(eps):  max sum_p g_p z_p  with  z_p <= D_p.w + 1 - eps,  |w_j| <= 1,  z binary  (the scores v are substituted).
P_RRF(eps):  z_ik as above for each positive i and each other sample k, t_il binary with weight a_l - a_{l-1} for the
levels l where a rises. Beside the formulation of the paper: z_ii is left out, z_ik + z_ki <= 1, t_il falls with l,
and sum_l (l - l') t_il <= sum_k z_ik over consecutive rising levels l' < l, which implies each row of the paper.

z = 0 still asks for D.w >= eps - 1, so eps is a margin relative to the worst violation; at the tolerance of a solver
the answer may be wrong in any way, and is recounted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hullrank.exact.statement import PairStatement, RankStatement, Statement
from hullrank.solvers.linear_program import LinearProgram, ProgramSolution, solve_mip

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RankProgram:
    """The program (a minimisation of -F + constant), and the way from a direction to a feasible point."""

    program: LinearProgram
    differences: Floats
    weight: Floats
    owner: NDArray[np.intp]
    levels: Floats
    epsilon: float
    constant: float

    def point(self, w: Floats) -> Floats:
        """w scaled into the feasible set, with the z and t that it earns."""
        products = self.differences @ w
        shrink = (1.0 - self.epsilon) * 0.999999 / max(1e-300, -float(products.min()))
        scale = min(1.0 / np.abs(w).max(), shrink)
        won = products * scale >= self.epsilon
        counts = np.bincount(self.owner, self.weight * won)
        reached = (counts[:, None] >= self.levels - 1).astype(np.float64) if len(self.levels) else np.empty(0)
        return np.concatenate([w * scale, won.astype(np.float64), reached.ravel()])

    def solve(self, time_limit: float, start: Floats) -> tuple[Floats, float, float, ProgramSolution]:
        """w, the value and the upper bound that HiGHS claims, and its answer."""
        answer = solve_mip(self.program, time_limit=time_limit, start=self.point(start))
        w = answer.x[: self.differences.shape[1]] if len(answer.x) else start
        return w, self.constant - answer.objective, self.constant - answer.bound, answer


def rank_program(statement: Statement, epsilon: float) -> RankProgram:
    """P_AUC or P_RRF of a statement."""
    D = statement.X[statement.above] - statement.X[statement.below]
    if isinstance(statement, PairStatement):
        return _pair_program(D, statement.pair_weights, epsilon)
    assert isinstance(statement, RankStatement)
    return _functional_program(statement, D, epsilon)


def _pair_program(D: Floats, weight: Floats, epsilon: float) -> RankProgram:
    P, d = D.shape
    rows = sp.hstack([sp.csr_array(-D), sp.eye_array(P)], format="csc")
    program = _program(d, np.concatenate([np.zeros(d), -weight]), rows, np.full(P, 1.0 - epsilon))
    return RankProgram(program, D, weight, np.zeros(P, dtype=np.intp), np.empty(0), epsilon, 0.0)


def _program(d: int, cost: Floats, rows: Any, most: Floats) -> LinearProgram:
    """Minimise over d weights between -1 and 1 and further columns that are 0 or 1, where rows are at most ``most``."""
    binary = np.arange(len(cost)) >= d
    return LinearProgram(
        cost, rows, np.full(len(most), -np.inf), most, np.where(binary, 0.0, -1.0), np.ones(len(cost)), binary
    )


def _functional_program(statement: RankStatement, D: Floats, epsilon: float) -> RankProgram:
    P, d = D.shape
    owners = np.flatnonzero(statement.positive)
    owner = np.searchsorted(owners, statement.above)
    weight = statement.counts[statement.below]
    rises = np.flatnonzero(np.diff(statement.gain) > 0)
    levels = (rises + 2).astype(np.float64)
    multiplicity = statement.positive[owners]
    cost = np.outer(multiplicity, np.diff(statement.gain)[rises]).ravel()
    each = sp.eye_array(len(owners))
    counted = sp.csr_array((weight, (owner, np.arange(P))), shape=(len(owners), P))
    falls = sp.kron(each, np.diff(np.eye(len(levels)), axis=0))  # t_{l+1} - t_l <= 0
    either = _either(statement)
    rows = sp.block_array(
        [
            [sp.csr_array(-D), sp.eye_array(P), None],
            [None, -counted, sp.kron(each, np.diff(levels, prepend=1.0)[None, :])],
            [None, None, falls],
            [None, either, None],
        ],
        format="csc",
    )
    most = (np.full(P, 1.0 - epsilon), np.zeros(len(owners) + falls.shape[0]), np.ones(either.shape[0]))
    program = _program(d, np.concatenate([np.zeros(d + P), -cost]), rows, np.concatenate(most))
    constant = float(statement.gain[0] * multiplicity.sum())
    return RankProgram(program, D, weight, owner, levels, epsilon, constant)


def _either(statement: RankStatement) -> sp.csr_array:
    """Rows z_ik + z_ki <= 1 for two positives i < k, with a column for every pair."""
    above, below = statement.above, statement.below
    n = len(statement.X)
    place = np.full(n * n, -1)
    place[above * n + below] = np.arange(len(above))
    forward = np.flatnonzero((above < below) & (statement.positive[below] > 0))
    backward = place[below[forward] * n + above[forward]]
    row = np.tile(np.arange(len(forward)), 2)
    columns = np.concatenate([forward, backward])
    return sp.csr_array((np.ones(len(row)), (row, columns)), shape=(len(forward), len(above)))
