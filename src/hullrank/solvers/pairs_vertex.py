"""The last digits of a small hinge problem: pairs at the margin are put there exactly.

Newton's method ends with pairs well within the margin (alpha = C omega), pairs well beyond it (alpha = 0), and a few in
the window between, which at the optimum lie on the margin itself: with D their rows x_i - x_j, and w the sum of
alpha_ij (x_i - x_j) over all pairs, D w = 1. The least change of their multipliers solves D D' change = 1 - D w. Kept
within 0 <= alpha <= C omega the multipliers are feasible whatever they are, so the gap at w is rigorous; it vanishes
when the window holds just the pairs on the margin.
"""

import numpy as np
from scipy.linalg import lstsq

from hullrank.problem.charges import Charge
from hullrank.problem.pair_sets import Floats, ListedPairs
from hullrank.problem.pairs import PairCharge, PairProblem

MOST_PAIRS = 500  # most pairs in the window whose multipliers are solved for one by one


def vertex(problem: PairProblem, scores: Floats, width: float) -> tuple[Floats, PairCharge, Floats] | None:
    """Weights, charge and multipliers from the pairs in the window; None where they are not listed, or too many."""
    pairs, rows = problem.pairs, problem.rows
    if problem.charge is not Charge.HINGE or not isinstance(pairs, ListedPairs):
        return None
    limit = problem.C * pairs.weights
    z = 1 - (scores[pairs.hi] - scores[pairs.lo])
    inside = np.flatnonzero(np.abs(z) < width / 2)
    if not 0 < len(inside) <= MOST_PAIRS:
        return None
    alpha = limit * np.clip(z / width + 0.5, 0.0, 1.0)
    equations = problem.margin_equations(inside, -rows.adjoint(pairs.by_sample(alpha)))
    rounding = len(inside) * np.finfo(np.float64).eps
    alpha[inside] += lstsq(*equations, cond=rounding, lapack_driver="gelsy")[0]  # no iteration that may fail
    alpha = np.clip(alpha, 0.0, limit)
    coef = pairs.by_sample(alpha)
    w = -rows.adjoint(coef)
    scores = rows.scores(w)
    z = 1 - (scores[pairs.hi] - scores[pairs.lo])
    charged = float(limit @ np.maximum(z, 0.0))
    loose = float(np.where(z > 0, limit - alpha, -alpha) @ z)
    return w, PairCharge(charged, coef, loose, 0.0, pairs.at(scores)), alpha
