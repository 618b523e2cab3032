"""Which values the parameters that several estimators share may have."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from hullrank._sklearn import Interval, Options, StrOptions
from hullrank.problem.kernels import KERNELS

LARGEST = 1e100  # of any real parameter, so that products with weights and squares of entries stay finite


def positive() -> Interval:
    """A positive real number with which float64 can calculate."""
    return Interval(Real, 0, LARGEST, closed="right")


class HardMargin(Options):
    """The price of slack that allows none."""

    def __init__(self) -> None:
        super().__init__(Real, {np.inf})

    def __str__(self) -> str:
        return "inf for the hard margin"


PRICE: list[Any] = [positive(), StrOptions({"scale"})]
CLASS_WEIGHT: list[Any] = [dict, StrOptions({"balanced"}), None]
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNELS)), callable],
    "gamma": [StrOptions({"scale", "auto"}), positive()],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "coef0": [Interval(Real, -LARGEST, LARGEST, closed="both")],
    "cache_size": [positive()],
    "approximation": [StrOptions({"nystroem"}), Interval(Integral, 1, None, closed="left"), None],
}
SOLVER_CONSTRAINTS: dict[str, list[Any]] = {
    "tol": [positive()],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "verbose": ["verbose"],
}
CLASS_CONSTRAINTS: dict[str, list[Any]] = {
    "classes": ["array-like", None],
    **KERNEL_CONSTRAINTS,
    **SOLVER_CONSTRAINTS,
}
