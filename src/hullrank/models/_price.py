"""The price of slack, C, in units that do not depend on the scale of the data.

Where X is multiplied by a, the same ranking has w / a, so that 1/2 |w|^2 is divided by a^2, and |w|_1 by |a|; a price
that is divided likewise states the same problem. C="scale" is therefore a number that belongs to the estimator and its
loss (docs/defaults.md shows how it was settled on data), divided by a mean squared distance of the samples.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from hullrank.data import Samples
from hullrank.problem.charges import Charge
from hullrank.problem.column_moments import mean_square
from hullrank.problem.interval_statement import IntervalStatement
from hullrank.problem.kernel_space import KernelSpace
from hullrank.problem.statement import Solution

_SMALL = 1e-3  # share of C="scale" below which a price may be blamed for a collapse
_LIMITS = 1e-100, 1e100  # least and largest price, so that its products with weights and squares of entries stay finite


class PriceMixin:
    """An estimator with a parameter ``C`` that may be "scale"; once fitted, its number is ``C_``."""

    C: Any
    C_: float
    loss: str
    kernel: Any
    _scaled_price: ClassVar[dict[str, float]]  # by loss: C="scale" times the mean squared distance

    def _price(self, mean_square: Callable[[], float]) -> float:
        """C as a number; a fitted model keeps the one that it chose."""
        if not isinstance(self.C, str):
            return float(self.C)
        if hasattr(self, "C_"):
            return self.C_
        square = mean_square()
        unit = square if np.isfinite(square) and square > 0 else 1.0
        return float(np.clip(self._scaled_price[self.loss] / unit, *_LIMITS))

    def _stated_price(self, X: Any, y: Any, **given: Any) -> float:
        """The price with which a fit to these data would begin."""
        statement: Any = self.state(X, y, **given)  # type: ignore[attr-defined]
        return float(statement.C if hasattr(statement, "C") else statement.problem.cost)


class SlackPriceMixin(PriceMixin):
    """A price of slack that is summed over samples, in units of 1 / their mean squared distance from their mean."""

    _scaled_price: ClassVar[dict[str, float]] = {"squared_hinge": 1.0, "hinge": 3.0, "logistic": 10.0}

    def _slack_price(self, samples: Samples, space: KernelSpace | None) -> float:
        return self._price(lambda: self._mean_square(samples, space))

    def _mean_square(self, samples: Samples, space: KernelSpace | None) -> float:
        if space is not None:
            return space.mean_square(samples.weights)
        square = mean_square(samples.X, samples.weights) if samples.mean_square is None else samples.mean_square
        l1 = getattr(self, "penalty", "l2") == "l1"
        return (square / samples.X.shape[1]) ** 0.5 if l1 else square

    def _collapse_cure(self, statement: IntervalStatement) -> str:
        """A larger price if this one is small in units of the data; otherwise no price will help."""
        square = self._mean_square(statement.samples, statement.space)
        if square == 0:
            return "all samples have the same features"
        if self.C_ * square < _SMALL * self._scaled_price[self.loss]:
            return "use a larger C, or C='scale'"
        other = "loss='squared_hinge', " if self.loss == "hinge" else ""
        kernel = "a kernel" if self.kernel == "linear" else "another kernel"
        return f"a larger C will hardly help: use {other}{kernel}, or features that say something about y"

    def _store(self, statement: IntervalStatement, solution: Solution) -> None:
        super()._store(statement, solution)  # type: ignore[misc]
        problem = statement.problem
        self.C_ = float("inf") if problem.charge is Charge.HARD else problem.cost
