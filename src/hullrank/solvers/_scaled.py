"""Interval problems on scaled rows, samples of them, and the record of the best certified point."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hullrank.data import Samples
from hullrank.problem.certificate import CertifiedPoint, Status, certify_intervals
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.layout import RowLayout, lay_out
from hullrank.solvers._rows import ScaledRows, scaled_rows
from hullrank.solvers.interior_point import Point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScaledProblem:
    """An interval problem on rows scaled to rms|x| = 1, so that tolerances mean the same for all data.

    With rows z = (x - mean) / f: w = w' / f and cost' = f^2 cost (f cost under L1); homogeneous problems keep their
    cost and have w = f w', theta = f^2 theta'. Thresholds absorb the mean. ``starts`` are the classes' first rows, and
    ``prices`` the rows' weights with the factor of the cost.
    """

    problem: IntervalProblem
    rows: ScaledRows
    starts: NDArray[np.integer]
    prices: Floats
    layout: RowLayout
    verbose: int = 0

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.prices)

    def certify(self, point: Point, scores: Floats | None = None) -> CertifiedPoint:
        """Grade a point."""
        return certify_intervals(
            self.problem,
            self.layout,
            self.rows.scores(point.w) if scores is None else scores,
            self.penalty(point.w),
            self._dual_penalty,
            point.theta,
            point.multipliers,
            point.order_multipliers,
        )

    def penalty(self, w: Floats) -> float:
        """1/2 |w|^2, or |w|_1."""
        return float(np.abs(w).sum()) if self.problem.l1 else float(0.5 * w @ w)

    def _dual_penalty(self, coef: Floats) -> float:
        w = self.rows.adjoint(coef)
        return float(np.abs(w).max(initial=0.0)) if self.problem.l1 else float(0.5 * w @ w)

    def copied(self) -> "ScaledProblem":
        """The same on a copy of the rows, in class order."""
        return self if self.rows.pick is None else replace(self, rows=self.rows.take(np.arange(self.n_samples)))

    def sampled(self, size: int, rng: np.random.Generator) -> "ScaledProblem":
        """The same on about ``size`` rows, evenly from every class and at least 20 of each, their prices raised."""
        lengths = np.diff(self.starts)
        counts = np.minimum(lengths, np.maximum(20, -(-lengths * size // self.n_samples)))
        pieces = [
            start + ((np.arange(count) + rng.random(count)) * (length / count)).astype(np.intp)
            for start, length, count in zip(self.starts[:-1], lengths, counts, strict=True)
        ]
        positions = np.concatenate(pieces)
        prices = self.prices[positions] * np.repeat(lengths / counts, counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        layout = lay_out(self.problem, starts, prices)
        return replace(self, rows=self.rows.take(positions), starts=starts, prices=prices, layout=layout)


def scale_problem(problem: IntervalProblem, samples: Samples, verbose: int = 0) -> tuple[ScaledProblem, float]:
    """The scaled problem, and what its objective must be multiplied by to be that of the stated one."""
    weights = samples.weights[samples.rows]
    rows = scaled_rows(samples.X, samples.rows, weights)
    f = rows.scale
    price = 1.0 if problem.homogeneous else (f if problem.l1 else f * f)
    prices = weights * price
    scaled = ScaledProblem(problem, rows, samples.starts, prices, lay_out(problem, samples.starts, prices), verbose)
    return scaled, f * f if problem.homogeneous else 1 / price


class Best:
    """Keeps the best certified point; called with a point it tells whether that one ends the solve."""

    def __init__(self, scaled: ScaledProblem, tol: float) -> None:
        self.scaled, self.tol = scaled, tol
        self.point: Point | None = None
        self.certified: CertifiedPoint | None = None

    def __call__(self, point: Point, scores: Floats | None = None) -> bool:
        certified = self.scaled.certify(point, scores)
        if self.certified is None or certified.relative_gap < self.certified.relative_gap:
            self.point, self.certified = replace(point, w=point.w.copy()), certified
        return certified.relative_gap <= self.tol

    def result(self, last: Point) -> tuple[Point, CertifiedPoint]:
        """The best point, with the ending of the last one."""
        if last.status is not Status.CONVERGED or self.certified is None:
            self(last)
        assert self.point is not None
        assert self.certified is not None
        return replace(self.point, iterations=last.iterations, status=last.status), self.certified
