"""Where the search over blocks begins: the solution of the drawn samples, by samples of growing size."""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hullrank.problem.block_rows import Block, HeldBlocks
from hullrank.problem.block_statement import BlockStatement
from hullrank.problem.charges import Charge
from hullrank.problem.sampling import draw
from hullrank.problem.statement import Size
from hullrank.solvers._scaled import scale_problem
from hullrank.solvers.interior_point import Iterate, interior_point
from hullrank.solvers.newton import newton

Floats = NDArray[np.float64]
SMALLEST_SAMPLE = 2500
ROUGH = 1e-2  # relative gap to which the smallest sample is solved
GROWTH = 8
CAUTION = 1.5  # windows are this many standard errors of the sampled scores wide
HALF = 1.349  # width of the middle half of a normal distribution, in standard deviations
COLLAPSED = 1e-3  # spread of the scores, in units of the margin, below which all rows are near their kink


def sample_sizes(size: Size, n_thresholds: int) -> list[int]:
    """Sizes of the samples to solve first, ascending; none where all rows are few or every row is its own case."""
    m, n_features, n_classes = size
    smallest = max(SMALLEST_SAMPLE, 20 * (n_features + n_thresholds), 20 * n_classes)
    sizes: list[int] = []
    while (step := (sizes[0] if sizes else m) // GROWTH) >= smallest // 2:
        sizes.insert(0, max(step, smallest))
    return sizes


def growing_samples(statement: BlockStatement) -> list[BlockStatement]:
    """The statement on samples of its drawn samples, of growing size; the last has all of them."""
    rng = np.random.default_rng(0)
    drawn = statement.samples
    sizes = sample_sizes(Size(len(drawn.codes), *statement.size[1:]), len(statement.problem.linear))
    parts = [draw(drawn, size, rng) for size in sizes] + [drawn]
    return [
        replace(
            statement, samples=part, rows=HeldBlocks([Block(part.X, part.codes, part.weights)]),
            counts=np.diff(part.starts), room=len(part.codes),
        )
        for part in parts
    ]  # fmt: skip


def solve_directly(sampled: BlockStatement, max_iter: int, verbose: int) -> Iterate:
    """The solution of a small sample, in scaled units; Newton's method takes half the time where it can be used."""
    scaled, problem = scale_problem(sampled, verbose).copied(), sampled.problem
    plain = not (problem.shares_slacks or problem.l1)
    if problem.charge.smooth or (problem.charge is Charge.SQUARED_HINGE and plain):
        return newton(scaled, scaled.origin(), ROUGH, max_iter)
    return scaled.solve_along_direction(
        partial(
            interior_point, scaled.problem, scaled.rows, scaled.layout, tol=ROUGH, max_iter=max_iter, verbose=verbose
        )
    )


def settling_width(sampled: BlockStatement, iterate: Iterate) -> float:
    """How far from its kink a usual row must be to be settled: the error of a sampled solution; infinite at a collapse.

    The error is measured by the spread of the scores or the margin, whichever is larger (in scaled units). The spread
    is that of the middle half of the scores: few far-off ones widen the windows of long rows only (``survey_rows``).
    """
    scores = sampled.view.scores(iterate.w)
    problem, margin, spread = sampled.problem, 1.0, float(np.std(scores))
    if problem.homogeneous:
        margin = abs(float(iterate.theta[-1])) if problem.has_rho else 0.0
    if spread <= COLLAPSED * max(margin, float(np.ptp(iterate.theta)) if problem.homogeneous else 0.0):
        return np.inf
    if not problem.homogeneous:
        quarters = len(scores) // 4, 3 * len(scores) // 4
        low, high = np.partition(scores, quarters)[list(quarters)]
        spread = min(spread, (high - low) / HALF)
    freedom = len(iterate.w) + len(iterate.theta)
    return CAUTION * float(np.sqrt(freedom / len(sampled.samples.codes))) * max(spread, margin)
