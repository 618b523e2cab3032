"""What a violated row or pair costs: one record per charge, with all that solvers and the certificate need of it.

A row is violated by v = offset - sign * (s - theta), a pair by v = margin - (s_i - s_j). The charge phi(v) is convex
and non-decreasing. Its conjugate phi*(a) = sup_v (a v - phi(v)) is finite for multipliers a (divided by the cost of the
slack) in [0, largest], and Fenchel's inequality phi(v) + phi*(a) >= a v is an equality at a = phi'(v).

To add a charge, add a record here and name it in the ``charges`` of the solvers that accept it
(`hullrank.solvers.base.Solver`). The certificate of a class-based problem in memory needs nothing but the record. Sums
over pairs and over blocks have a formula for every charge, and refuse those that have none (``require_known``);
compiled loops tell charges apart by ``code``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hullrank.exceptions import HullrankError

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]
_TINY = float(np.finfo(np.float64).tiny)
HINGE, SQUARED_HINGE, HARD, LOGISTIC = range(4)  # codes of the charges: what compiled loops compare with


@dataclass(frozen=True, eq=False)
class Charge:
    """A convex charge phi(v) of the violation v.

    ``margin`` is the distance that a row keeps from its threshold before it pays nothing (0 where the charge never
    vanishes), ``derivative`` and ``curvature`` are phi' and phi'' (from the right, at a kink), ``conjugate`` is phi* on
    its domain [0, ``largest``], ``code`` is the number of the charge in compiled loops, and a ``smooth`` charge has a
    continuous second derivative.
    """

    HINGE: ClassVar["Charge"]
    SQUARED_HINGE: ClassVar["Charge"]
    HARD: ClassVar["Charge"]
    LOGISTIC: ClassVar["Charge"]

    name: str
    code: int
    margin: float
    value: Function
    derivative: Function
    curvature: Function
    conjugate: Function
    largest: float
    smooth: bool = False

    def __repr__(self) -> str:
        return f"Charge({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return charge_named, (self.name,)


def _positive(v: Floats) -> Floats:
    return np.maximum(v, 0.0)


def _step(v: Floats) -> Floats:
    return (v > 0).astype(np.float64)


def _softplus(v: Floats) -> Floats:
    """log(1 + exp(v)) without overflow; half the time of ``np.logaddexp``."""
    return np.log1p(np.exp(-np.abs(v))) + np.maximum(v, 0.0)


def _sigmoid(v: Floats) -> Floats:
    """1 / (1 + exp(-v)); exp(-v) = inf gives 0, as it should. A tenth of the time of SciPy's expit."""
    out = np.negative(v)
    with np.errstate(over="ignore"):
        np.exp(out, out=out)
    out += 1.0
    return np.divide(1.0, out, out=out)


def _negative_entropy(a: Floats) -> Floats:
    """a log a + (1 - a) log(1 - a) for 0 <= a <= 1, with 0 log 0 = 0."""
    rest = 1.0 - a
    return a * np.log(np.maximum(a, _TINY)) + rest * np.log(np.maximum(rest, _TINY))


Charge.HINGE = Charge(
    "hinge", HINGE, 1.0,
    value=_positive, derivative=_step, curvature=np.zeros_like, conjugate=np.zeros_like, largest=1.0,
)  # fmt: skip
Charge.SQUARED_HINGE = Charge(
    "squared_hinge", SQUARED_HINGE, 1.0,
    value=lambda v: _positive(v) ** 2, derivative=lambda v: 2 * _positive(v), curvature=lambda v: 2 * _step(v),
    conjugate=lambda a: a * a / 4, largest=np.inf,
)  # fmt: skip
Charge.HARD = Charge(
    "hard", HARD, 1.0, value=lambda v: np.where(v > 0, np.inf, 0.0), derivative=lambda v: np.where(v > 0, np.inf, 0.0),
    curvature=np.zeros_like, conjugate=np.zeros_like, largest=np.inf,
)  # fmt: skip
Charge.LOGISTIC = Charge(
    "logistic", LOGISTIC, 0.0,
    value=_softplus, derivative=_sigmoid, curvature=lambda v: _sigmoid(v) * _sigmoid(-v),
    conjugate=_negative_entropy, largest=1.0, smooth=True,
)  # fmt: skip

_BY_NAME = {c.name: c for c in (Charge.HINGE, Charge.SQUARED_HINGE, Charge.HARD, Charge.LOGISTIC)}
LOSSES = ("hinge", "squared_hinge", "logistic")  # what estimators take as ``loss``


def charge_named(name: str) -> Charge:
    """The record of that name; an unknown name is an error."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise HullrankError(f"there is no charge {name!r}; choose from {', '.join(LOSSES)}") from None


def require_known(charge: Charge, known: Sequence[Charge], where: str) -> None:
    """Refuse a charge that a formula was not written for; ``where`` names the formula."""
    if charge not in known:
        raise HullrankError(f"{where} know the charges {', '.join(each.name for each in known)}, not {charge.name}")


def priced_charge(loss: str, C: float) -> Charge:
    """The charge of a slack that costs C: ``C=inf`` is the hard margin, which a charge without a margin has not."""
    charge = charge_named(loss)
    if not np.isinf(C):
        return charge
    if charge.margin == 0:
        raise HullrankError(f"C=inf asks for a hard margin, which loss={loss!r} does not have; use a finite C")
    return Charge.HARD
