"""Pair problems with a kernel: the linear problem over the rows of a factor of the kernel matrix."""

import time
from dataclasses import replace

from hullrank.problem.certificate import Status, kernel_remainder
from hullrank.problem.kernel_factor import factor_kernel
from hullrank.problem.kernels import Gram
from hullrank.problem.pair_sets import Pairs
from hullrank.problem.pairs import Loss, PairProblem
from hullrank.solvers.base import Solution
from hullrank.solvers.pairs_newton import solve_pairs


def solve_kernel_pairs(
    gram: Gram,
    pairs: Pairs,
    *,
    C: float,
    loss: Loss,
    rank: int | None = None,
    tol: float = 1e-4,
    max_iter: int = 200,
    verbose: int = 0,
) -> Solution:
    """Minimise 1/2 |f|^2 + C sum omega charge(1 - d) over functions of the kernel's space.

    ``coef`` of the solution holds the coefficients of f = sum_i coef_i k(x_i, .), nonzero at the pivots of the factor.
    Without ``rank`` the certificate is for the kernel itself; with ``rank`` it is for the kernel approximated on so
    many pivots, and its scope gives the lower bound for the kernel itself.
    """
    started = time.perf_counter()
    factor = factor_kernel(gram, rank)
    solution = solve_pairs(PairProblem(factor.L, pairs, C, loss), tol=tol, max_iter=max_iter, verbose=verbose)
    certificate = replace(solution.certificate, seconds=time.perf_counter() - started)
    full = certificate.dual - kernel_remainder(solution.multipliers, factor.residual)
    if rank is not None and rank < len(gram):
        scope = f"the kernel of rank {len(factor.pivots)}; for the kernel itself the lower bound is {full:.6g}"
        certificate = replace(certificate, scope=scope)
    else:
        certificate = replace(certificate, dual=full)
        if certificate.status is Status.CONVERGED and certificate.relative_gap > tol:
            certificate = replace(certificate, status=Status.STALLED)
    return replace(solution, coef=factor.coefficients(solution.coef), certificate=certificate)
