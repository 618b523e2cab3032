"""The minimum of a quadratic model of the rows in (w, theta) under the order constraints: one Newton step.

Without the constraints it is one linear system with the matrix M over (theta, w). With them,

    (theta, w) = free minimum + M^-1 G't,    t >= 0,    G theta >= gap,    t'(G theta - gap) = 0,

so that the multipliers t of the few order constraints solve a linear complementarity problem with the matrix
K = G M^-1 G'. The primal-dual active-set method (Hintermüller, Ito and Kunisch 2003) holds some constraints as
equations, then those that are broken, less those whose multiplier is negative, until nothing changes.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.block_statement import no_rows
from hullrank.problem.intervals import IntervalProblem
from hullrank.solvers._linear_system import SingularSystemError, model_system, order_matrix
from hullrank.solvers._merged_thresholds import merged_minimum
from hullrank.solvers.interior_point import Iterate, Settled, interior_point

Floats = NDArray[np.float64]
MOST_TURNS = 20  # changes of the active set after which it is left to the interior-point method
MOST_CONSTRAINTS = 200  # order constraints whose matrix K is formed


def quadratic_minimum(problem: IntervalProblem, terms: Settled, point: Iterate) -> Iterate:
    """The minimum of the penalty and a quadratic in (w, theta) under the order constraints, found from ``point``."""
    found = active_set_minimum(problem, terms, point)
    if found is not None:
        return found
    none = no_rows(problem, len(point.w))
    return interior_point(
        problem, none.rows, none.layout, tol=1e-13, settled=terms, start=point, mu=1e-3, balance=1e-12
    )


def active_set_minimum(problem: IntervalProblem, terms: Settled, point: Iterate) -> Iterate | None:
    """The minimum of 1/2 |w|^2 and ``terms``, found from ``point``; None where it takes another method to find it.

    A linear term drives thresholds that no row weighs on out of sight.
    """
    E = len(problem.up)
    if problem.l1:
        return None
    if problem.homogeneous and not problem.sum_by_threshold(terms.group_weight).all():
        raise SingularSystemError("no row weighs on a threshold")
    # A group without any weight gets a little, so that its threshold stands somewhere.
    weight = terms.group_weight + 1e-10 * np.max(terms.group_weight, initial=0.0)
    weighed = replace(terms, group_weight=weight)
    if E > MOST_CONSTRAINTS:
        return merged_minimum(problem, weighed, point)
    system = model_system(problem, weighed, len(point.w))
    w, theta = point.w, point.theta
    gw, gtheta = terms.curved(problem, w, theta)
    dw, dtheta = system.solve(-(w + gw + terms.linear_w), -(gtheta + problem.linear + terms.linear_theta))
    w, theta = w + dw, theta + dtheta
    gaps = problem.order_gaps(theta) - problem.gap
    if not np.any(gaps < 0):
        return Iterate(w, theta, np.empty(0), np.zeros(E))
    G = order_matrix(problem)
    steps = [system.solve(np.zeros(len(w)), line) for line in G]  # M^-1 of every line of G
    K = G @ np.array([dtheta for _, dtheta in steps]).T
    t = complementary(K, gaps, point.order_multipliers > 0)
    if t is None:
        return None
    held = np.flatnonzero(t)
    w = w + sum((t[e] * steps[e][0] for e in held), np.zeros(len(w)))
    theta = theta + sum((t[e] * steps[e][1] for e in held), np.zeros(len(theta)))
    return Iterate(w, problem.raise_thresholds(theta), np.empty(0), t)


def complementary(K: Floats, gaps: Floats, held: NDArray[np.bool_]) -> Floats | None:
    """t >= 0 with gaps + K t >= 0 and one of the two 0 everywhere; None where the active set does not settle."""
    digits = 1e-12 * float(np.abs(gaps).max(initial=0.0))
    ridge = 1e-13 * float(K.diagonal().max(initial=0.0)) * np.eye(len(K))  # for constraints that follow from others
    for _ in range(MOST_TURNS):
        t = np.zeros(len(gaps))
        some = np.flatnonzero(held)
        try:
            t[some] = np.linalg.solve((K + ridge)[np.ix_(some, some)], -gaps[some])
        except np.linalg.LinAlgError:  # thresholds that no row weighs on
            return None
        now = np.where(held, t > 0, gaps + K @ t < -digits)
        if np.array_equal(now, held):
            return t
        held = now
    return None
