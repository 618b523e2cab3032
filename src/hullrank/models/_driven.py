"""What nu margin and sum of margins share: the range in which a linear term gives a ranking, and a place in it.

The linear term's size, the drive, is nu times the weight of all rows, or 1 / C. Up to a smallest drive w = 0 is
optimal, beyond a largest one the problem is unbounded (see `hullrank.solvers.parameter_range`).
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hullrank._sklearn import Interval
from hullrank.data import Samples
from hullrank.exceptions import HullrankError
from hullrank.models.margins import MarginClassifier
from hullrank.order import OrderGraph
from hullrank.problem.column_moments import mean_square
from hullrank.problem.grouped_classes import GroupedClasses
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.intervals import IntervalProblem
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.statement import Solution
from hullrank.solvers.parameter_range import Collapse, collapse_drive, unbounded_drive

Floats = NDArray[np.float64]
Direction = tuple[Floats, Floats] | None  # weights and thresholds
FRACTION: list[Any] = [Interval(Real, 0, 1, closed="both"), None]
_LINEAR, _CURVED = 0.1, 0.7  # ``fraction`` where none is given: linear, and with a kernel (docs/defaults.md)
_ROUGH = 0.02  # share of the workable range by which its lower end may be set too high
_NEARBY = 0.15  # share of the workable range up to which the optimum is near the direction where a ranking begins
_ENDS = 0.01  # share of the workable range that is kept off its ends, which have no ranking or no unique one


class DrivenMarginClassifier(MarginClassifier):
    """A classifier whose parameter may be given as a fraction of the range in which it works.

    Subclasses say which problem (``_unit_problem``: drive 1, price of slack 1), and which drive and price it has
    (``_driven``). With groups it has a chain of thresholds for every group, and one drive for all.
    """

    fraction: float | None
    class_weight: Any

    def _unit_problem(self, sizes: Sequence[int]) -> IntervalProblem:
        """Chains of so many classes side by side."""
        raise NotImplementedError

    def _driven(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> IntervalProblem:
        raise NotImplementedError

    def _problem_among(
        self, order: OrderGraph, samples: Samples, space: KernelSpace | None, grouped: GroupedClasses | None
    ) -> IntervalProblem:
        return self._driven(self._unit(samples, grouped), samples, space)

    def _unit(self, samples: Samples, grouped: GroupedClasses | None) -> IntervalProblem:
        return self._unit_problem([samples.n_classes] if grouped is None else grouped.sizes)

    def _check_fraction(self, name: str) -> None:
        if self.fraction is not None and getattr(self, name) != "auto":
            raise HullrankError(
                f"{name}={getattr(self, name):g} and fraction={self.fraction:g} both choose {name}; leave one out"
            )

    def _drive(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> tuple[float, Direction]:
        """The drive at ``fraction`` of the workable range; where that is empty, one at which w = 0 is optimal.

        And the direction in which a ranking begins, where that is known and the optimum lies near it.
        """
        (low, direction), high = self._ends(unit, samples, space, _ROUGH)
        if not is_workable(low, high):
            return high / 2, None
        usual = _LINEAR if space is None else _CURVED
        part = usual if self.fraction is None else float(self.fraction)
        drive = low + (_ENDS + (1 - 2 * _ENDS) * part) * (high - low)
        near = part <= _NEARBY and space is None and self.monotonic_cst is None
        return drive, (direction.coef, direction.thresholds) if near and direction is not None else None

    def _range(self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None) -> tuple[float, float]:
        """Where the ranking begins, and the largest feasible drive."""
        collapse, high = self._ends(unit, samples, space, 0.0)
        return min(collapse.drive, high), high

    def _ends(
        self, unit: IntervalProblem, samples: Samples, space: KernelSpace | None, rough: float
    ) -> tuple[Collapse, float]:
        features, high = self._few_coordinates(samples, space), unbounded_drive(unit, samples)
        if features is None:
            return Collapse(0.0, None), high
        return collapse_drive(unit, features, self._signs(samples.X.shape[1]), high=high, rough=rough), high

    def _cure(self, span: str, name: str, samples: Samples, *, workable: bool) -> str:
        """What to do instead: the range that works, or something else where there is none."""
        if workable:
            return f"use {span}, or {name}='auto' with a fraction"
        return f"no other value gives a ranking of them either; {self._way_out(samples)}"

    def _way_out(self, samples: Samples) -> str:
        if self.kernel != "precomputed" and mean_square(samples.X, samples.weights) == 0:
            return "all samples have the same features"
        weights = "class_weight='balanced', " if self.class_weight is None else ""
        kernel = "a kernel" if self.kernel == "linear" else "another kernel"
        return f"use {weights}{kernel}, or FixedMarginClassifier"

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        """As all do; where every score is the same, thresholds move by a digit, so that the median is predicted."""
        super()._store(statement, solution)
        scores = statement.scores(solution.point) if solution.scores is None else solution.scores
        if np.ptp(scores) > 0:
            return
        _predict_median(self.thresholds_, scores[0], statement.class_samples.class_weight)
        if statement.grouped is not None:
            weights = statement.grouped.per_group(statement.samples.class_weight, len(self.classes_))
            for cuts, own in zip(self.group_thresholds_, weights, strict=True):
                _predict_median(cuts, scores[0], np.nan_to_num(own))


def _predict_median(cuts: Floats, score: float, weights: Floats) -> None:
    """Move cuts that all are this score so that it lies in the class of the median sample."""
    known = np.isfinite(cuts)
    if np.any(cuts[known] != score):
        return
    share = np.cumsum(weights)
    lower = known & (np.arange(len(cuts)) < np.searchsorted(share, share[-1] / 2))
    cuts[lower] = np.nextafter(score, -np.inf)


def is_workable(low: float, high: float) -> bool:
    """Whether there is room between the ends of a range, beyond the digits of a linear program."""
    return low < high * (1 - 1e-6)


def row_weight(unit: IntervalProblem, samples: Samples) -> float:
    """N of the nu margin: the weight of all rows, one for each side on which a class has a neighbour."""
    return float(samples.class_weight[unit.group_class].sum())
