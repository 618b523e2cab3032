"""Which values the parameters that several estimators share may have."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from hullrank._sklearn import Interval, Options, StrOptions
from hullrank.exceptions import HullrankError
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
KERNEL_CONSTRAINTS: dict[str, list[Any]] = {
    "kernel": [StrOptions(set(KERNELS)), callable],
    "gamma": [StrOptions({"scale", "auto", "ard"}), positive()],
    "degree": [Interval(Integral, 0, None, closed="left")],
    "coef0": [Interval(Real, -LARGEST, LARGEST, closed="both")],
    "cache_size": [positive()],
    "approximation": [StrOptions({"nystroem"}), Interval(Integral, 1, None, closed="left"), None],
}
SIGN_CONSTRAINTS: dict[str, list[Any]] = {"monotonic_cst": ["array-like", dict, None]}
SOLVER_CONSTRAINTS: dict[str, list[Any]] = {
    "tol": [positive()],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "verbose": ["verbose"],
}
CLASS_CONSTRAINTS: dict[str, list[Any]] = {
    "classes": ["array-like", None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "warm_start": ["boolean"],
    **SIGN_CONSTRAINTS,
    **KERNEL_CONSTRAINTS,
    **SOLVER_CONSTRAINTS,
}


def signs_of_features(monotonic_cst: Any, d: int, names: Any = None) -> tuple[int, ...]:
    """Signs of d features as a user gives them: None, one per feature, or by name; empty if none is asked for."""
    if monotonic_cst is None:
        return ()
    if isinstance(monotonic_cst, dict):
        if names is None:
            raise HullrankError("monotonic_cst names features, but X has no column names; pass one sign per feature")
        unknown = [name for name in monotonic_cst if name not in set(names)]
        if unknown:
            raise HullrankError(f"monotonic_cst names {unknown[0]!r}, which is no column of X")
        values = np.array([monotonic_cst.get(name, 0) for name in names])
    else:
        values = np.asarray(monotonic_cst)
    if values.shape != (d,):
        raise HullrankError(f"monotonic_cst has shape {values.shape}, and X has {d} features; pass one sign for each")
    if not np.isin(values, [-1, 0, 1]).all():
        raise HullrankError(f"monotonic_cst holds {values.tolist()}; signs are 1, -1 and 0")
    signs = tuple(int(value) for value in values)
    return signs if any(signs) else ()
