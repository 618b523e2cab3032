"""The objective of a model, recomputed from its statement and its predictions, with nothing of a solver or a grade.

Rows and pairs are gone through as the papers print them: a row misses its threshold by
offset - sign * (s - theta) + rho, a pair its margin by margin - (s_i - s_j), and each pays its charge.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.all_pairs import AllPairs
from hullrank.problem.charges import Charge
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.pair_sets import ListedPairs
from hullrank.problem.pair_statement import PairStatement
from hullrank.problem.statement import Point

Floats = NDArray[np.float64]
_MOST_ROWS = 30_000  # rows up to which pairs are gone through one by one; beyond, they are counted by sorting


@singledispatch
def recomputed_objective(statement: Any, point: Point, predicted: Floats) -> float:
    """Objective of a point, from the scores that its model predicts for the data as given.

    Statements that no function is registered for recompute it themselves.
    """
    value: float = statement.objective(point)
    return value


@recomputed_objective.register
def _(statement: IntervalStatement, point: Point, predicted: Floats) -> float:
    problem, samples, scores = statement.problem, statement.samples, predicted[statement.positions]
    rho = point.thresholds[-1] if problem.has_rho else 0.0
    total, missed = _penalty(statement, point, scores) + float(problem.linear @ point.thresholds), 0.0
    for bundle in problem.bundles:
        own = samples.codes == problem.group_class[bundle[0]]
        misses = [
            problem.offset[g] + rho - problem.sign[g] * (scores[own] - point.thresholds[problem.threshold[g]])
            for g in bundle[bundle >= 0]
        ]
        miss = np.max(misses, axis=0)
        if problem.charge is Charge.HARD:
            missed = max(missed, float(miss.max(initial=0.0)))
        else:
            total += problem.cost * float(samples.weights[own] @ problem.charge.value(miss))
    if missed >= 0.5:
        return float("inf")
    stretch = 1 / (1 - 2 * missed)  # a hard margin that is missed has its price: weights and thresholds that reach it
    return total * (stretch if problem.l1 else stretch**2)


@recomputed_objective.register
def _(statement: PairStatement, point: Point, predicted: Floats) -> float:
    pairs, charge, scores = statement.pairs, statement.charge, predicted[statement.positions]
    penalty = _penalty(statement, point, scores)
    if isinstance(pairs, ListedPairs):
        miss = charge.margin - (scores[pairs.hi] - scores[pairs.lo])
        return penalty + statement.C * float(pairs.weights @ charge.value(miss))
    if not isinstance(pairs, AllPairs) or len(scores) > _MOST_ROWS:
        return statement.objective(point, scores)
    total = 0.0
    for q in np.unique(pairs.query):
        rows = np.flatnonzero(pairs.query == q)
        for part in np.array_split(rows, 1 + len(rows) ** 2 // 4_000_000):
            above, below = np.nonzero(pairs.rank[part][:, None] > pairs.rank[rows])
            hi, lo = part[above], rows[below]
            miss = charge.margin - (scores[hi] - scores[lo])
            total += float((pairs.weights[hi] * pairs.weights[lo]) @ charge.value(miss))
    return penalty + statement.C * total


def _penalty(statement: IntervalStatement | PairStatement, point: Point, scores: Floats) -> float:
    penalty, space = statement.problem.penalty, statement.space
    return penalty.of(point.coef) if space is None else space.penalty(penalty, point.coef, scores)
