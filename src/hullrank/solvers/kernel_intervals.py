"""The way from an interval problem, samples and a kernel to a certified solution."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import Certificate, Status
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_factor import factor_kernel
from hullrank.problem.kernels import Gram
from hullrank.problem.layout import lay_out
from hullrank.solvers._smo_start import Start
from hullrank.solvers._smo_state import indefinite
from hullrank.solvers.base import Solution
from hullrank.solvers.intervals import solve_intervals
from hullrank.solvers.smo import smo_refuses, solve_by_smo

Floats = NDArray[np.float64]
_DEFINITE = ("linear", "rbf", "laplacian")
_PROBE = 1500  # samples whose kernel matrix is tested for negative eigenvalues
_LAST_RESORT = 2000  # samples up to which the factored problem is tried where sequential steps end without success
_FLOAT32_LIMIT = 1e-9  # gaps below which choosing rows by float32 residuals is too coarse
_FAIR_CHANCE = 50  # iterations below which the user has asked for an early end


@dataclass(frozen=True)
class KernelSolution(Solution):
    """``coef`` are the kernel coefficients of the samples; ``start`` is where a next solve may begin."""

    start: Start | None = None


def solve_kernel_intervals(
    problem: IntervalProblem,
    samples: Samples,
    gram: Gram,
    *,
    tol: float = 1e-4,
    max_iter: int = 200,
    cache_size: float = 500.0,
    rank: int | None = None,
    start: Start | None = None,
    verbose: int = 0,
) -> KernelSolution:
    """Solve with the kernel ``gram`` between the samples, to a relative duality gap of ``tol``.

    With ``rank`` the kernel is approximated on so many pivots, and the certificate's scope says by how much the gap for
    the kernel itself is open. Problems that sequential steps cannot solve become linear over a factor of the kernel.
    """
    check_definite(gram)
    tight = tol < _FLOAT32_LIMIT and len(gram) <= _LAST_RESORT
    if rank is not None or tight or smo_refuses(problem) is not None:
        return _solve_by_factor(problem, samples, gram, rank, tol, max_iter, verbose)
    solution = _solve_by_smo(problem, samples, gram, tol, max_iter, cache_size, start, verbose)
    hopeless = solution.certificate.status in (Status.STALLED, Status.MAX_ITER)
    if hopeless and len(gram) <= _LAST_RESORT and max_iter >= _FAIR_CHANCE:
        other = _solve_by_factor(problem, samples, gram, None, tol, max_iter, verbose)
        if other.certificate.relative_gap < solution.certificate.relative_gap:
            return other
    return solution


def _solve_by_smo(
    problem: IntervalProblem,
    samples: Samples,
    gram: Gram,
    tol: float,
    max_iter: int,
    cache_size: float,
    start: Start | None,
    verbose: int,
) -> KernelSolution:
    began = perf_counter()
    order = samples.rows
    layout = lay_out(problem, samples.starts, samples.weights[order])
    result = solve_by_smo(
        problem, layout, gram.take(order, compiled=True), tol=tol, max_iter=max_iter, cache_size=cache_size,
        start=start, verbose=verbose,
    )  # fmt: skip
    point = result.point
    coef, scores = np.empty(len(order)), np.empty(len(order))
    coef[order], scores[order] = result.coef, result.scores
    certificate = Certificate(
        primal=point.primal,
        dual=point.dual,
        status=result.status,
        iterations=result.rounds,
        seconds=perf_counter() - began,
        solver="SMO with Newton steps",
        n_order_constraints=samples.n_order_constraints,
        residuals=point.residuals,
        floor=point.floor,
    )
    multipliers = point.multipliers * layout.row_cost
    return KernelSolution(coef, point.thresholds, multipliers, scores, certificate, result.start)


def check_definite(gram: Gram) -> None:
    """Refuse a kernel that has a negative eigenvalue on (up to 1500 of) the samples; a principal part proves it."""
    poly = gram.kernel == "poly" and gram.coef0 >= 0 and gram.degree == int(gram.degree)
    if poly or gram.kernel in _DEFINITE:
        return
    probe = gram.take(np.arange(0, len(gram), -(-len(gram) // _PROBE)))
    K = np.empty((len(probe), len(probe)))
    probe.blocks(np.float64).fill(None, K)
    values = np.linalg.eigvalsh(K)
    if values[0] < -1e-6 * max(values[-1], 0.0):
        raise indefinite()


def _solve_by_factor(
    problem: IntervalProblem, samples: Samples, gram: Gram, rank: int | None, tol: float, max_iter: int, verbose: int
) -> KernelSolution:
    """The linear problem over the rows of L, K = L L'. Its objective is that of the kernel problem for the same
    function; the dual objective of the kernel problem lies lower by 1/2 beta'(K - L L')beta."""
    began = perf_counter()
    factor = factor_kernel(gram, rank)
    linear = Samples(factor.L, samples.codes, samples.weights, samples.n_classes)
    with np.errstate(invalid="ignore"):  # a hard margin that was interrupted early has infinite weights, 0 times inf
        solution = solve_intervals(problem, linear, tol=tol, max_iter=max_iter, verbose=verbose)
    if solution.certificate.status is Status.INTERRUPTED and not np.isfinite(solution.coef).all():
        raise KeyboardInterrupt("interrupted before a point that satisfies the hard margin (C=inf) was found")
    coef = factor.coefficients(solution.coef)
    scores = gram.times(coef)
    theta = solution.thresholds.copy()
    theta[: problem.n_thresholds] += scores[factor.centre] - solution.scores[factor.centre]
    beta = _coefficients(problem, samples, solution.multipliers)
    image = factor.L.T @ beta
    lost = 0.5 * max(0.0, float(beta @ gram.times(beta)) - float(image @ image))
    certificate = replace(solution.certificate, seconds=perf_counter() - began)
    if rank is not None and len(factor.pivots) < len(gram):
        exact = replace(certificate, dual=certificate.dual - lost)
        scope = (
            f"the kernel approximated on {len(factor.pivots)} samples; for the kernel itself the lower bound is "
            f"{exact.dual:.6g}, a relative gap of {exact.relative_gap:.2g}"
        )
        certificate = replace(certificate, scope=scope)
    return KernelSolution(coef, theta, solution.multipliers, scores, certificate)


def _coefficients(problem: IntervalProblem, samples: Samples, multipliers: Floats) -> Floats:
    """The sum of sign * alpha of every sample, in the order of the data."""
    layout = lay_out(problem, samples.starts, samples.weights[samples.rows])
    sign = layout.spread(problem.sign)
    beta = np.empty(len(samples.codes))
    beta[samples.rows] = np.bincount(layout.row_sample, sign * multipliers, len(beta))
    return beta
