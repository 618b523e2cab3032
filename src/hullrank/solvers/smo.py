"""Interval problems with kernels: sequential minimal optimisation and Newton steps, to a certified duality gap.

Sequential minimal optimisation (SMO; Platt 1998, with the choice of pairs of Fan, Chen and Lin 2005 and conjugate
directions as in Torres-Barrán, Alaíz and Dorronsoro 2021) quickly finds the rows that are at a bound at the optimum,
and then crawls along the small eigenvalues of the kernel. Newton steps on the free multipliers, which an active-set
method keeps in their boxes (``_smo_newton``), do not crawl, but cost the cube of their number. So a Newton step is
taken where it is expected to cost less than the sequential steps that it saves. Kernel rows are float32. Scores are
accumulated in float64 and recomputed from float64 kernel values before an answer is accepted, so the certificate does
not depend on float32.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import KernelError
from hullrank.problem.certificate import Status
from hullrank.problem.gram import Gram
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout
from hullrank.solvers._smo_cache import RowCache
from hullrank.solvers._smo_descent import Descent, certify, primal_of
from hullrank.solvers._smo_settings import SmoSettings
from hullrank.solvers._smo_start import Start, feasible_start, put_start
from hullrank.solvers._smo_state import SmoState

Floats = NDArray[np.float64]

MOST_THRESHOLDS = 200
_DEFAULTS = SmoSettings()
_FLOAT32_SAFE = 1e10  # kernel values between its inverse and this one leave room for the float32 numbers of the loop


@dataclass
class SmoResult:
    """Coefficients, float64 scores, thresholds, and how the solve ended.

    ``end`` has the multipliers, from which a next solve may start. ``dual`` is the solver's dual objective, and
    ``floor`` what counts as zero beside it.
    """

    coef: Floats
    scores: Floats
    thresholds: Floats
    end: Start
    status: Status
    rounds: int
    dual: float
    floor: float


def solve_by_smo(
    problem: IntervalProblem,
    layout: RowLayout,
    gram: Gram,
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    start: Start | None = None,
    verbose: int = 0,
    settings: SmoSettings = _DEFAULTS,
) -> SmoResult:
    """Solve over class-sorted samples; ``max_iter`` bounds the rounds, ``cache_size`` (MB) the kernel rows kept."""
    largest = float(gram.diagonal().max(initial=0.0))
    if not np.isfinite(largest):
        raise KernelError(
            "kernel values exceed the range of float64; scale the features, for example by StandardScaler, or choose a "
            "smaller gamma or degree"
        )
    scale = 1.0
    if 0.0 < largest < 1 / _FLOAT32_SAFE or largest > _FLOAT32_SAFE:
        # The score is unchanged if the kernel is divided by a number and all costs are multiplied by it.
        scale = largest
        problem = replace(problem, cost=scale * problem.cost, linear=scale * problem.linear)
        layout, gram = replace(layout, cost=scale * layout.cost), gram.divided(scale)
    state = SmoState(problem, layout, gram.diagonal(), RowCache(gram, cache_size, settings))
    if start is None and problem.homogeneous:
        start = feasible_start(problem, layout)
    state.refresh()
    if start is not None:
        _put_balanced(state, gram, start)
    descent = Descent(state, gram, tol, verbose, settings)
    try:
        status = descent.run(max_iter)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    descent.verify()
    if descent.gap <= tol:
        status = Status.CONVERGED
    stretch = descent.primal.stretch
    return SmoResult(
        coef=stretch * state.beta / scale,
        scores=stretch * state.scores,
        thresholds=descent.primal.thresholds,
        end=Start(state.shares(), state.order_multipliers / problem.cost, state.rho),
        status=status,
        rounds=descent.rounds,
        dual=descent.dual / scale,
        floor=descent.floor / scale,
    )


def _put_balanced(state: SmoState, gram: Gram, start: Start) -> None:
    """Take over a warm start.

    Steps preserve the flow that multipliers send into the thresholds, so a start with a wrong flow is repaired first,
    and dropped if the repair fails.
    """
    put_start(state, start, gram)
    if _is_balanced(state):
        return
    state.measure()
    point = certify(state, primal_of(state))
    put_start(state, Start(point.multipliers, point.order_multipliers / state.problem.cost, state.rho), gram)
    if not _is_balanced(state):
        zero = Start(np.zeros(state.layout.n_rows), np.zeros(len(state.problem.up)), 0.0)
        put_start(state, feasible_start(state.problem, state.layout) if state.problem.homogeneous else zero, gram)


def _is_balanced(state: SmoState) -> bool:
    size = max(float(np.abs(state.v).sum()), float(np.abs(state.problem.linear).max(initial=0.0)))
    return float(np.abs(state.flow_residual()).max(initial=0.0)) <= 1e-9 * size
